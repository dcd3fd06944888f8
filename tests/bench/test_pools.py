"""Pools: any method runs on tabulated configurations without training."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from comitia.bench.cells.arenas import make_arena
from comitia.bench.cells.run import Job, run_cell
from comitia.bench.plan.plan import Cell, make_experiment
from comitia.bench.problems.problems import find_problem
from comitia.bench.problems.tabulated import Pool, distances_to, make_pool, read_pool
from comitia.errors import ExperimentError
from comitia.goals import MeanLoss
from comitia.methods import Method, get_method
from comitia.optimizers import RandomSearch
from comitia.seams import Member
from comitia.seeds import Seeds
from comitia.study.study import Study

N = 25


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("pools") / "wine.parquet"
    make_pool("sklearn:wine", "sklearn-cash", output, n_trials=N, cv=3)
    return output


@pytest.fixture(scope="module")
def pool(path: Path) -> Pool:
    return read_pool(path)


def job(path: Path, method: str = "rs", n_trials: int = N, repetition: int = 0) -> Job:
    content: dict[str, Any] = {
        "problems": [f"pool:{path}"],
        "methods": [method],
        "repetitions": repetition + 1,
        "budget": {"n_trials": n_trials},
    }
    experiment = make_experiment(content, "e")
    return Job(experiment, experiment.cells()[-1], None)


def test_a_pool_is_saved_and_read_again(pool: Pool, path: Path) -> None:
    assert N - 5 < len(pool) <= N  # without those that were drawn twice
    assert len(set(pool.space.decode(pool.X))) == len(pool)
    assert set(pool.statuses) <= {"ok", "failed"}
    assert len(pool.y_train) + len(pool.y_test) == 178
    assert not list(path.parent.glob("*.db*"))
    for status, losses, predictions, answers in zip(
        pool.statuses, pool.losses, pool.predictions, pool.test_answers, strict=True
    ):
        if status != "ok":
            assert predictions is None
            continue
        assert predictions is not None
        assert answers is not None
        assert len(losses) == 3
        # the kept answers are those that the losses were computed from
        errors = predictions.values != pool.y_train[predictions.rows]
        by_fold = [errors[predictions.folds == fold].mean() for fold in range(3)]
        assert by_fold == pytest.approx(losses)
    assert "config" in pq.read_schema(path).names


@pytest.mark.parametrize("method", ["rs", "sobol"])
def test_a_method_tries_every_tabulated_configuration_once_and_then_stops(path: Path, pool: Pool, method: str) -> None:
    rows = run_cell(job(path, method, n_trials=10 * N))
    assert [row["iteration"] for row in rows] == list(range(1, len(pool) + 1))
    ok = [np.mean(losses) for losses, status in zip(pool.losses, pool.statuses, strict=True) if status == "ok"]
    assert rows[-1]["validation_loss"] == pytest.approx(min(ok))
    assert sum(row["status"] == "failed" for row in rows) == pool.statuses.count("failed")


def test_repetitions_differ_and_the_test_is_that_of_the_tabulated_model(path: Path, pool: Pool) -> None:
    first, second = run_cell(job(path)), run_cell(job(path, repetition=1))
    assert [row["trial_loss"] for row in first] != [row["trial_loss"] for row in second]
    means = [float(np.mean(x)) if s == "ok" else 9.0 for x, s in zip(pool.losses, pool.statuses, strict=True)]
    answers = pool.test_answers[int(np.argmin(means))]
    assert first[-1]["test_loss"] == pytest.approx(np.mean(answers != pool.y_test))


def test_a_committee_votes_with_tabulated_answers(path: Path, pool: Pool) -> None:
    experiment = job(path).experiment
    problem = find_problem(f"pool:{path}")
    arena = make_arena(experiment, Cell(f"pool:{path}", "own", "5-fold", "rs", 0), problem, get_method("rs"))
    configs = pool.space.decode(pool.X)
    ok = [i for i, status in enumerate(pool.statuses) if status == "ok"][:3]
    score = arena.test([Member(configs[i], 1 / 3, None) for i in ok], Seeds(0))
    votes = np.stack([pool.test_answers[i] for i in ok])  # type: ignore[misc]
    winners = [np.bincount(column, minlength=3).argmax() for column in votes.T]
    assert score.loss == pytest.approx(np.mean(np.array(winners) != pool.y_test))


def test_what_is_proposed_moves_to_the_nearest_of_its_branch(pool: Pool) -> None:
    x = pool.X[7].copy()
    assert distances_to(pool, x).argmin() == 7
    labels = pool.space.branches(pool.X)
    distances = distances_to(pool, x)
    inside, outside = distances[labels == labels[7]], distances[labels != labels[7]]
    assert inside.max() < outside.min()


def test_methods_that_draw_their_own_splits_are_refused(pool: Pool) -> None:
    from comitia.bench.problems.tabulated import PoolArena

    reshuffled = Method("own-r", RandomSearch, "x", goal=MeanLoss(), is_reshuffled=True)
    with pytest.raises(ExperimentError, match="splits of its own"):
        PoolArena(pool, reshuffled)
    with pytest.raises(ExperimentError, match="rs or sobol"):
        PoolArena(pool, get_method("grid"))


def test_a_pool_that_was_interrupted_goes_on(tmp_path: Path) -> None:
    output = tmp_path / "iris.parquet"
    n_seen = []

    def stop(n: int) -> None:
        n_seen.append(n)
        if n == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_pool("sklearn:iris", "svm-rbf", output, n_trials=6, cv=3, on_trial=stop)
    assert not output.exists()
    with Study.open(output.with_name("iris.parquet.db")) as study:
        assert study.history.n_finished >= 3
    n_seen.clear()
    assert len(make_pool("sklearn:iris", "svm-rbf", output, n_trials=6, cv=3, on_trial=n_seen.append)) == 6
    assert min(n_seen) > 3


def test_a_file_that_is_no_pool_is_a_clear_error(tmp_path: Path, path: Path) -> None:
    with pytest.raises(ExperimentError, match="no "):
        read_pool(tmp_path / "none.parquet")
    (tmp_path / "bad.parquet").write_text("x")
    with pytest.raises(ExperimentError, match="Parquet"):
        read_pool(tmp_path / "bad.parquet")
    table = pq.read_table(path)
    pq.write_table(table.replace_schema_metadata({"comitia.pool": "99"}), tmp_path / "newer.parquet")
    with pytest.raises(ExperimentError, match="version 1"):
        read_pool(tmp_path / "newer.parquet")
    with pytest.raises(ExperimentError, match="table"):
        make_pool("function:conditional", "svm-rbf", tmp_path / "x.parquet", n_trials=2)
