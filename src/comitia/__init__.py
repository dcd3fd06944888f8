"""comitia finds the model, or the small committee of models, that generalises best inside a budget.

Start with `Study` and `minimize`; `comitia.seams` shows how everything fits together on one page.
"""

from comitia import plots as plots  # a module, so not in `__all__`
from comitia.auto.after_fit import Results as _Results
from comitia.auto.estimators import AutoClassifier, AutoRegressor
from comitia.auto.folder import load
from comitia.auto.search_cv import SearchCV
from comitia.committees.greedy import Greedy
from comitia.errors import ComitiaError, ComitiaWarning
from comitia.evaluation.function import FunctionEvaluator
from comitia.evaluation.images import ImageEvaluator
from comitia.evaluation.resampling import Fixed, Reshuffled
from comitia.evaluation.table import TableEvaluator
from comitia.execution import DaskWorkers, Serial, Workers
from comitia.history import History, Observation, Predictions, Trial, Truth
from comitia.learners import get_space
from comitia.learners.cnn import Networks
from comitia.methods import METHODS, Method, get_method, kept_by
from comitia.minimize import minimize
from comitia.report import write_report as _write_report
from comitia.seeds import Seeds
from comitia.selections.committees import GreedyCommittee
from comitia.space import Config, Space
from comitia.study.noise_floor import NoiseFloor
from comitia.study.patience import Patience
from comitia.study.store import MemoryStore, SqliteStore
from comitia.study.study import Study
from comitia.study.trial_stack import TrialStack, lockstep

__version__ = "0.1.0.dev0"

_Results.reporter = _write_report  # `clf.report` is a method of a room that the report itself imports

__all__ = [
    "METHODS",
    "AutoClassifier",
    "AutoRegressor",
    "ComitiaError",
    "ComitiaWarning",
    "Config",
    "DaskWorkers",
    "Fixed",
    "FunctionEvaluator",
    "Greedy",
    "GreedyCommittee",
    "History",
    "ImageEvaluator",
    "MemoryStore",
    "Method",
    "Networks",
    "NoiseFloor",
    "Observation",
    "Patience",
    "Predictions",
    "Reshuffled",
    "SearchCV",
    "Seeds",
    "Serial",
    "Space",
    "SqliteStore",
    "Study",
    "TableEvaluator",
    "Trial",
    "TrialStack",
    "Truth",
    "Workers",
    "get_method",
    "get_space",
    "kept_by",
    "load",
    "lockstep",
    "minimize",
]
