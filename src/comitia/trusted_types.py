"""The types that a model file may hold: exact names, in one place.

skops refuses everything that is neither one of its own trusted types nor listed here. `tests/test_models.py` fits every
learner of the default space and fails if one needs a type that is missing, or one listed here is needed by none.
"""

TRUSTED: tuple[str, ...] = (
    "collections.OrderedDict",
    "comitia.ensembles.predictor.Ensemble",
    "comitia.tables.ColumnKind",
    "comitia.tables.TableCleaner",
    "lightgbm.basic.Booster",
    "lightgbm.sklearn.LGBMClassifier",
    "lightgbm.sklearn.LGBMRegressor",
    "numpy.dtype",
    "sklearn.metrics._dist_metrics.EuclideanDistance64",
    "sklearn.neighbors._kd_tree.KDTree",  # row numbers inside are checked by models.py
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.tree._tree.Tree",  # node numbers inside are checked by models.py
)

ENSEMBLES: tuple[str, ...] = (
    "comitia.spaces.weka.cells.BayesNet",
    "comitia.spaces.weka.cells.DecisionTable",
    "comitia.spaces.weka.cells.KernelBayes",
    "comitia.spaces.weka.committees.Boosted",
    "comitia.spaces.weka.committees.Vote",
    "comitia.spaces.weka.instances.KStar",
    "comitia.spaces.weka.instances.Neighbours",
    "comitia.spaces.weka.kernels.NormalisedPolynomial",
    "comitia.spaces.weka.kernels.PearsonVII",
    "comitia.spaces.weka.kernels.Polynomial",
    "comitia.spaces.weka.machines.Perceptron",
    "comitia.spaces.weka.machines.SupportVectors",
    "comitia.spaces.weka.machines.Tree",
    "sklearn.utils._bunch.Bunch",
)
"""What models of the space `ensembles` hold beside `TRUSTED`: `skops.io.load(file, trusted=[*TRUSTED, *ENSEMBLES])`."""
