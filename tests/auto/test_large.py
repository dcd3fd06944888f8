"""On how many rows learners are looked at, and fitted again."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from comitia import AutoClassifier, Config, History, Observation, Serial, Study, TableEvaluator, Trial
from comitia.auto import large
from comitia.auto.large import RowsByLearner, growth, recorded_rows, rows_by_learner, whole_seconds
from comitia.auto.refit import Refits
from comitia.learners.default import default_space
from comitia.learners.default.costs import power_of_rows
from comitia.seams import Member
from comitia.tables.cleaner import Columns


class Remembering(DecisionTreeClassifier):  # type: ignore[misc]
    """Knows on how many rows it was fitted."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "Remembering":
        self.n_rows_ = len(y)
        super().fit(X, y, sample_weight)
        return self


def rows(n_rows: int, n_columns: int, time_limit: float | None, n_folds: int = 1, n_classes: int = 2) -> Any:
    default = default_space(Columns(n_columns), "classification", n_rows)
    return rows_by_learner(default, (n_rows, n_columns), n_classes, time_limit, n_folds)


def test_all_rows_count_in_small_tables_and_without_a_time_limit() -> None:
    assert rows(large.LARGE_FROM - 1, 500, 1.0) is None
    assert rows(200_000, 500, None) is None
    assert rows(200_000, 50, 1e6) is None


def test_costly_learners_have_fewer_rows_and_longer_limits_more() -> None:
    short, longer = rows(100_000, 50, 5.0).most, rows(100_000, 50, 100.0).most
    assert short["extra-trees"] == large.FEWEST_ROWS
    assert short["extra-trees"] < short["lightgbm"] < short["linear"]
    assert "linear" not in longer
    assert all(longer[name] >= short[name] for name in longer)
    assert rows(100_000, 50, 10.0, n_folds=50).most["lightgbm"] < short["lightgbm"]
    assert rows(100_000, 50, 5.0, n_classes=4).most["lightgbm"] < short["lightgbm"]


def test_a_study_keeps_the_rows_that_it_was_begun_with(tmp_path: Path) -> None:
    path, space = tmp_path / "study.db", default_space(Columns(3), "classification", 100).space
    with Study(space, seed=0, storage=path) as study:
        assert recorded_rows(study, RowsByLearner({"linear": 7})) == RowsByLearner({"linear": 7})
    with Study(space, storage=path) as study:
        for wanted in (RowsByLearner({"linear": 9}), None):
            assert recorded_rows(study, wanted) == RowsByLearner({"linear": 7})


def test_a_study_that_was_begun_with_all_rows_keeps_them() -> None:
    study = Study(default_space(Columns(3), "classification", 100).space, seed=0)
    [trial] = study.ask()
    study.tell(trial, 0.5)
    assert recorded_rows(study, RowsByLearner({"linear": 7})) is None


def evaluator(most: dict[str, int] | None) -> TableEvaluator:
    X, y = np.arange(100.0)[:, None], np.arange(100) % 2
    found = TableEvaluator(lambda config, random_state: Remembering(), X, y, cv=2)
    found.most_rows = None if most is None else RowsByLearner(most)
    return found


def history(*seconds: float) -> History:
    known = History(1)
    for number, one in enumerate(seconds):
        known.append(Trial(number, number, (0.5,), Config({"learner": f"l{number}"})))
        known.finish(Observation(known.trial(number), "ok", (0.1,), seconds=one))
    return known


def test_rows_grow_as_far_as_a_part_of_the_time_allows() -> None:
    known = history(1.0, 2.0, 5.0)
    members = [Member(known.trial(number).config, 1 / 3, number) for number in range(3)]
    judge = evaluator({"l0": 10, "l1": 10})
    assert growth(members, known, evaluator(None), 100.0, 2) == 1.0
    assert growth(members, known, judge, 0.0, 2) == 1.0
    # two workers: (2 * 10 - 5) / (1 + 2) for all together, 10 / 2 for the longest by itself
    assert growth(members, known, judge, 10 / large.SAFE, 2) == pytest.approx(5.0)
    assert growth(members, known, judge, 10 / large.SAFE, 1) == pytest.approx((10 - 5) / 3)
    assert growth(members[2:], known, judge, 10 / large.SAFE, 2) == 1.0


def test_what_members_need_on_all_rows_is_kept() -> None:
    known = history(1.0, 2.0, 5.0)
    members = [Member(known.trial(number).config, 1 / 3, number) for number in range(3)]
    judge = evaluator({"l0": 10, "l1": 10})  # of 100 rows
    power = power_of_rows("l0")
    fits = [1.0 * 10**power, 2.0 * 10**power, 5.0]
    assert whole_seconds(members, known, judge, 1) == pytest.approx(sum(fits) / large.SAFE)
    assert whole_seconds(members, known, judge, 3) == pytest.approx(max(fits) / large.SAFE)
    assert whole_seconds([], known, judge, 1) == 0.0


def test_a_member_that_was_fitted_in_case_is_fitted_again_on_more_rows() -> None:
    """The cheapest trial is fitted first, on as few rows as its trial had; as a member it gets more of them."""
    space = default_space(Columns(1), "classification", 100).space
    refits = Refits(Study(space, seed=0), evaluator({"few": 50}), "full", Serial())
    few, whole = Member(Config({"learner": "few"}), 1.0, None), Member(Config({"learner": "all"}), 1.0, None)
    assert [len(job.rows) for job in refits.begin(few)] == [50]
    assert [len(job.rows) for job in refits.begin(few, 1.6)] == [80]
    assert refits.begin(whole, 3.0) is refits.begin(whole)  # one that has all rows is fitted once


@pytest.mark.parametrize("refit", ["full", "folds", False])
def test_a_fit_looks_at_few_rows_and_fits_again_on_all_that_time_allows(
    monkeypatch: pytest.MonkeyPatch, refit: Any
) -> None:
    monkeypatch.setattr(large, "LARGE_FROM", 100)
    monkeypatch.setattr(large, "FEWEST_ROWS", 60)
    monkeypatch.setattr(large, "FIT_SHARE", 1e-12)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] > 0).astype(int)
    clf = AutoClassifier(
        n_trials=2,
        time_limit=1e6,
        cv=3,
        include=[(Remembering(), {"max_depth": [1, 2, 3, 4]})],
        refit=refit,
        executor=Serial(),
        random_state=0,
    ).fit(X, y)
    for member in clf.members_:
        assert isinstance(member.pipeline, Remembering)
        assert member.pipeline.n_rows_ in ({300} if refit == "full" else {59, 60})  # each class is rounded down
    assert clf.validation_predictions_ is not None
    assert len(clf.validation_predictions_.rows) == 300
