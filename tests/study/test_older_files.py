"""Study files that comitia wrote before its modules moved into rooms: they open with all their trials and resume.

`expected.json` holds what that version found when it resumed copies of the same files itself. Reals are compared to
six digits, because another machine's linear algebra differs in the last ones.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from sklearn.datasets import load_iris

from comitia import FunctionEvaluator, Study, TableEvaluator, get_space

DATA = Path(__file__).parents[1] / "data" / "before"
EXPECTED: dict[str, Any] = json.loads((DATA / "expected.json").read_text())


def objective(config: Any) -> float:
    if config["k"] == "c" and config["x"] > 0.8:
        raise ValueError("a part of the space that fails")
    return float((config["x"] - 0.3) ** 2 + len(config["k"]))


def copied(name: str, folder: Path) -> Path:
    """Return a copy: opening a study brings its file up to date."""
    return Path(shutil.copy(DATA / f"{name}.db", folder))


def assert_as_expected(study: Study, name: str) -> None:
    observations = study.history.observations()
    assert len(observations) == len(EXPECTED[name])
    for observation, (config, status, loss) in zip(observations, EXPECTED[name], strict=True):
        assert observation.config.keys() == config.keys()
        for key, value in observation.config.items():
            assert value == (config[key] if isinstance(value, str) else pytest.approx(config[key], rel=1e-6))
        assert observation.status == status
        assert observation.loss == pytest.approx(loss, rel=1e-6) if status == "ok" else loss is None


@pytest.mark.parametrize("name", ["rs", "cma-r", "pbil-floor", "bayes"])
def test_a_study_opens_with_all_its_trials_and_resumes_as_it_would_have(name: str, tmp_path: Path) -> None:
    with Study.open(copied(name, tmp_path)) as study:
        assert study.method.name == name
        assert study.history.n_finished == 11
        assert study.history.n_pending >= 2
        study.run(FunctionEvaluator(objective), n_trials=18)
        assert_as_expected(study, name)


def test_a_committee_finds_its_predictions_and_resumes_as_it_would_have(tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    evaluator = TableEvaluator(get_space("svm-rbf").build, X[::3], y[::3], cv=3, keep="probabilities")
    with Study.open(copied("committee", tmp_path)) as study:
        assert study.history.n_finished == 9
        study.run(evaluator, n_trials=13)
        assert_as_expected(study, "committee")
        members = [[member.trial, member.weight] for member in study.members()]
    assert members == [pytest.approx(member, rel=1e-6) for member in EXPECTED["committee-members"]]
