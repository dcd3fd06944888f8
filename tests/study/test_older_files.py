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


def assert_as_expected(study: Study, name: str, n: int | None = None) -> None:
    observations = study.history.observations()
    assert len(observations) == len(EXPECTED[name])
    for observation, (config, status, loss) in zip(observations[:n], EXPECTED[name][:n], strict=True):
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


def test_a_committee_finds_its_predictions_and_resumes(tmp_path: Path) -> None:
    """Temperatures have had a prior since, so that what it tries next is not what that version tried."""
    X, y = load_iris(return_X_y=True)
    evaluator = TableEvaluator(get_space("svm-rbf").build, X[::3], y[::3], cv=3, keep="probabilities")
    with Study.open(copied("committee", tmp_path)) as study:
        assert study.history.n_finished == 9
        assert all(study.history.predictions(number) is not None for number in range(9))
        study.run(evaluator, n_trials=13)
        assert_as_expected(study, "committee", n=9)
        assert sum(member.weight for member in study.members()) == pytest.approx(1.0)
        resumed = [observation.config for observation in study.history.observations()]
    fresh = Study(get_space("svm-rbf").space, "committee", seed=study.seeds.seed)
    for observation in study.history.observations()[:9]:
        fresh.enqueue(observation.config)
    fresh.run(evaluator, n_trials=13)
    found = [observation.config for observation in fresh.history.observations()]
    assert [list(config.values()) for config in found] == [
        pytest.approx(list(config.values()), rel=1e-6) for config in resumed
    ]
