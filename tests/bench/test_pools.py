"""Pools: methods run on tabulated configurations without training."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from comitia.bench.cells.make_pool import PoolPlan, Tabulator, make_pool
from comitia.bench.cells.pool_cells import PoolArena
from comitia.bench.cells.run import run_cell
from comitia.bench.peers.registry import PEERS
from comitia.bench.peers.sampler import method_of
from comitia.bench.plan.experiment_file import make_experiment
from comitia.bench.plan.plan import Job
from comitia.bench.problems.tabulated import Tabulated, read_pool
from comitia.errors import ChoiceError, ExperimentError
from comitia.goals import MeanLoss
from comitia.history import Trial
from comitia.methods import Method, get_method, kept_by
from comitia.optimizers import RandomSearch
from comitia.seams import Member
from comitia.seeds import Seeds
from comitia.study.study import Study

N = 25
WINE = PoolPlan("sklearn:wine", "sklearn-cash", N, cv=3)
IRIS = PoolPlan("sklearn:iris", "svm-rbf", 6, cv=3)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("pools") / "wine.parquet"
    make_pool(WINE, output)
    return output


@pytest.fixture(scope="module")
def pool(path: Path) -> Tabulated:
    return read_pool(path)


def job(path: Path, method: str = "rs", n_trials: int = N, repetition: int = 0, **more: Any) -> Job:
    content: dict[str, Any] = {
        "problems": [f"pool:{path}"],
        "methods": [method],
        "repetitions": repetition + 1,
        "budget": {"n_trials": n_trials},
    }
    experiment = make_experiment({**content, **more}, "e")
    return Job(experiment, experiment.cells()[-1], None)


def test_a_pool_is_saved_and_read_again(pool: Tabulated, path: Path) -> None:
    assert N - 5 < len(pool) <= N  # without those that were drawn twice
    assert len(set(pool.space.decode(pool.X))) == len(pool)
    assert (pool.dataset, pool.task, pool.loss) == ("sklearn:wine", "classification", "zero-one")
    assert not list(path.parent.glob("*.parts"))
    [partition] = pool.partitions
    assert len(partition.y_train) + len(partition.y_test) == 178
    assert {entry.status for entry in partition.entries} <= {"ok", "failed"}
    for entry in partition.entries:
        if entry.status != "ok":
            assert entry.predictions is None
            continue
        assert entry.predictions is not None
        assert entry.test is not None
        assert len(entry.losses) == 3
        # the kept answers are those that the losses were computed from
        errors = entry.predictions.values != partition.y_train[entry.predictions.rows]
        by_fold = [errors[entry.predictions.folds == fold].mean() for fold in range(3)]
        assert by_fold == pytest.approx(entry.losses)
    assert "config" in pq.read_schema(path).names


def test_without_pyarrow_no_pool_is_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ExperimentError, match=r"pip install 'comitia\[bench\]'"):
        make_pool(WINE, tmp_path / "wine.parquet")
    assert not list(tmp_path.iterdir())


def test_every_learner_has_classes_of_its_own_and_probabilities_beside_them(pool: Tabulated) -> None:
    """Also those without `predict_proba`, such as linear support vector machines: margins stand in."""
    [partition] = pool.partitions
    ok = {
        config["learner"]: entry
        for config, entry in zip(pool.space.decode(pool.X), partition.entries, strict=True)
        if entry.status == "ok"
    }
    assert {"svm", "linsvm"} & set(ok)
    for entry in ok.values():
        assert entry.predictions is not None
        assert entry.probabilities is not None
        assert entry.test is not None
        assert entry.test.probabilities is not None
        assert entry.predictions.values.ndim == 1
        assert entry.probabilities.shape == (len(partition.y_train), 3)
        np.testing.assert_allclose(entry.probabilities.sum(axis=1), 1, atol=1e-5)
        assert entry.test.values.shape == partition.y_test.shape
        assert entry.test.probabilities.shape == (len(partition.y_test), 3)


@pytest.mark.parametrize("method", ["rs", "sobol"])
def test_a_method_tries_every_tabulated_configuration_once_and_then_stops(
    path: Path, pool: Tabulated, method: str
) -> None:
    rows = run_cell(job(path, method, n_trials=10 * N))
    entries = pool.partitions[0].entries
    assert [row.iteration for row in rows] == list(range(1, len(pool) + 1))
    ok = [np.mean(entry.losses) for entry in entries if entry.status == "ok"]
    assert rows[-1].validation_loss == pytest.approx(min(ok))
    assert sum(row.status == "failed" for row in rows) == sum(entry.status == "failed" for entry in entries)
    assert {row.dataset for row in rows} == {"sklearn:wine"}


def test_repetitions_differ_and_the_test_is_that_of_the_tabulated_model(path: Path, pool: Tabulated) -> None:
    first, second = run_cell(job(path)), run_cell(job(path, repetition=1))
    assert [row.trial_loss for row in first] != [row.trial_loss for row in second]
    [partition] = pool.partitions
    means = [float(np.mean(entry.losses)) if entry.status == "ok" else 9.0 for entry in partition.entries]
    answers = partition.entries[int(np.argmin(means))].test
    assert answers is not None
    assert first[-1].test_loss == pytest.approx(np.mean(answers.values != partition.y_test))
    assert 0 < first[-1].test_log_loss < 40


def test_a_pool_gives_what_the_table_gives(path: Path) -> None:
    """A configuration of the pool has the losses and the test error that a cell on the table would have."""
    rows = run_cell(job(path, n_trials=10 * N))
    table = {"problems": ["sklearn:wine"], "methods": ["rs"], "spaces": ["sklearn-cash"], "repetitions": 1}
    made = {**table, "budget": {"n_trials": N}, "validation": [{"name": "validation", "cv": 3}]}
    experiment = make_experiment({**made, "split": {"test": 1 / 3}}, "e")
    cell = replace(experiment.cells()[0], repetition=0)
    with pytest.MonkeyPatch.context() as patch:  # a pool's study is seeded by its own seed
        patch.setattr(type(cell), "seed", property(lambda self: 0))
        trained = run_cell(Job(experiment, cell, None))
    assert trained[-1].validation_loss == pytest.approx(rows[-1].validation_loss)
    assert trained[-1].test_loss == pytest.approx(rows[-1].test_loss)
    assert trained[-1].test_log_loss == pytest.approx(rows[-1].test_log_loss, abs=1e-6)


def test_a_committee_votes_with_tabulated_answers(pool: Tabulated) -> None:
    [partition] = pool.partitions
    arena = PoolArena(pool, get_method("rs"))
    configs = pool.space.decode(pool.X)
    ok = [i for i, entry in enumerate(partition.entries) if entry.status == "ok"][:3]
    score = arena.test([Member(configs[i], 1 / 3, None) for i in ok], Seeds(0))
    votes = np.stack([partition.entries[i].test.values for i in ok])  # type: ignore[union-attr]
    winners = [np.bincount(column, minlength=3).argmax() for column in votes.T]
    assert score.loss == pytest.approx(np.mean(np.array(winners) != partition.y_test))


def test_a_committee_of_probabilities_gets_probabilities_and_their_temperatures(pool: Tabulated) -> None:
    """A pool that was made for the error rate kept classes alone: each probability was 0 or 1, each temperature 1."""
    method = get_method("committee")
    assert kept_by(method, pool.loss) == "probabilities"
    arena = PoolArena(pool, method)
    study = Study(arena.space, arena.adapted(method), seed=0).run(arena.evaluator, n_trials=15)
    members = study.members()
    assert any(member.temperature != 1.0 for member in members)
    score = arena.test(members, study.seeds)
    assert 0 <= score.loss < 0.5
    assert 0 < score.log_loss < 5


def test_what_is_proposed_moves_to_the_nearest_of_its_branch(pool: Tabulated) -> None:
    x = pool.X[7].copy()
    assert pool.distances_to(x).argmin() == 7
    labels = pool.space.branches(pool.X)
    distances = pool.distances_to(x)
    inside, outside = distances[labels == labels[7]], distances[labels != labels[7]]
    assert inside.max() < outside.min()


def test_methods_that_draw_their_own_splits_are_refused(pool: Tabulated) -> None:
    reshuffled = Method("own-r", RandomSearch, "x", goal=MeanLoss(), is_reshuffled=True)
    with pytest.raises(ExperimentError, match="splits of its own"):
        PoolArena(pool, reshuffled)
    with pytest.raises(ExperimentError, match="splits of its own"):
        PoolPlan("sklearn:wine", "sklearn-cash", N, methods=("rs", "gp-sel"))


def test_methods_that_wait_for_their_own_points_are_refused_whatever_they_are_called(pool: Tabulated) -> None:
    grid = get_method("grid")
    for method in (grid, replace(grid, name="mesh")):
        with pytest.raises(ExperimentError, match=f"'{method.name}' waits for the very points"):
            PoolArena(pool, method)
    patient = method_of(replace(PEERS["random-peer"], waits_for_own_points=True))
    with pytest.raises(ExperimentError, match="waits for the very points"):
        PoolArena(pool, patient)
    assert {peer.name for peer in PEERS.values() if peer.waits_for_own_points} == {"smac", "smac-gp"}
    PoolArena(pool, method_of("random-peer"))


def test_another_loss_than_the_pools_is_refused(path: Path) -> None:
    [row] = run_cell(job(path, loss="squared-error"))
    assert row.error is not None
    assert "--loss squared-error" in row.error


def test_a_pool_may_have_several_partitions_and_repetitions_take_turns(tmp_path: Path) -> None:
    pool = make_pool(replace(IRIS, n_partitions=3), tmp_path / "iris.parquet")
    again = read_pool(tmp_path / "iris.parquet")
    assert len(again.partitions) == 3
    assert len({p.y_train.tobytes() for p in again.partitions}) == 3
    for one, other in zip(pool.partitions, again.partitions, strict=True):
        assert [entry.losses for entry in one.entries] == [entry.losses for entry in other.entries]
    assert [pool.partition_of(r) is pool.partitions[r % 3] for r in range(5)] == [True] * 5
    found = {
        repetition: sorted(
            row.trial_loss for row in run_cell(job(tmp_path / "iris.parquet", repetition=repetition, n_trials=6))
        )
        for repetition in range(4)
    }
    assert found[0] == found[3] == pytest.approx(sorted(np.mean(e.losses) for e in pool.partitions[0].entries))
    assert found[0] != found[1] != found[2]
    # the first partition is the same with others beside it
    alone = make_pool(IRIS, tmp_path / "alone.parquet")
    assert [e.losses for e in alone.partitions[0].entries] == [e.losses for e in pool.partitions[0].entries]


@pytest.fixture(scope="module")
def shuffled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("pools") / "iris.parquet"
    make_pool(replace(IRIS, n_trials=12, n_shuffles=3), output)
    return output


def test_a_pool_may_have_several_divisions_into_folds(shuffled: Path, tmp_path: Path) -> None:
    [partition] = read_pool(shuffled).partitions
    assert [len(division) for division in partition.divisions] == [12] * 3
    first, *others = partition.divisions
    assert all(entry.test is not None for entry in first)
    for division in others:
        for one, other in zip(first, division, strict=True):
            assert one.predictions is not None
            assert other.predictions is not None
            assert other.test is None
            assert np.sort(other.predictions.rows).tolist() == np.sort(one.predictions.rows).tolist()
            assert other.predictions.rows.tolist() != one.predictions.rows.tolist()
    # the first one is as without the others
    alone = make_pool(replace(IRIS, n_trials=12), tmp_path / "alone.parquet")
    assert [e.losses for e in alone.partitions[0].entries] == [e.losses for e in first]


def test_a_pool_with_divisions_serves_methods_that_reshuffle(shuffled: Path) -> None:
    pool = read_pool(shuffled)
    found = {}
    for name in ("bayes", "bayes-r", "bayes-rc"):
        for holds_out in (False, True):
            method = get_method(name)
            arena = PoolArena(pool, method, holds_out=holds_out)
            study = Study(arena.space, arena.adapted(method), seed=0).run(arena.evaluator, n_trials=12)
            assert {len(o.losses) for o in study.history.observations()} == {1 if holds_out else 3}
            assert study.history.n_evaluations == (12 if holds_out else 36)
            assert study.members()
            kept = [arena.evaluator._looked_up(o.trial, study.seeds) for o in study.history.observations()]
            divisions = pool.partitions[0].divisions
            used = {
                (next(k for k, division in enumerate(divisions) if entry in division), tuple(folds))
                for entry, folds in kept
            }
            found[name, holds_out] = len(used)
    assert found["bayes", False] == found["bayes", True] == 1
    assert found["bayes-r", False] == found["bayes-rc", False] == 3
    assert found["bayes-r", True] > 3


def test_a_pool_serves_lazy_folds_and_other_losses_of_classes(shuffled: Path) -> None:
    pool = read_pool(shuffled)
    for name in ("bayes-lazy", "committee-lazy"):
        method = get_method(name)
        arena = PoolArena(pool, method, loss="log-loss")
        study = Study(arena.space, arena.adapted(method), seed=0).run(arena.evaluator, n_trials=12)
        rejected = [o for o in study.history.observations() if o.status == "rejected"]
        assert study.history.n_evaluations == sum(len(o.losses) for o in study.history.observations())
        assert {len(o.losses) for o in rejected} <= {1, 2}
        if name == "bayes-lazy":
            assert rejected
    [partition] = pool.partitions
    entry = arena.partition.entries[0]
    assert entry.predictions is not None
    assert entry.probabilities is not None
    codes = np.searchsorted(np.unique(partition.y_train), partition.y_train)
    p = entry.probabilities[np.arange(len(codes)), codes[entry.predictions.rows]]
    assert float(np.mean(entry.losses)) == pytest.approx(float(-np.log(np.clip(p, 1e-15, 1)).mean()), rel=0.05)


def test_a_pool_may_be_the_union_of_several_searches(tmp_path: Path) -> None:
    alone = make_pool(replace(IRIS, methods=("rs",)), tmp_path / "rs.parquet")
    both = make_pool(replace(IRIS, methods=("rs", "bo-best")), tmp_path / "both.parquet")
    assert len(alone) == 6
    assert len(both) == 12
    assert both.X[:6].tolist() == alone.X.tolist()


def test_models_of_the_training_part_can_be_tested(tmp_path: Path) -> None:
    """The protocol of Lacoste et al. 2014: 40 % for training, 30 % for validation, 30 % for the test, no refit."""
    plan = PoolPlan("sklearn:diabetes", "forest-regression", 3, cv=0.4286, test=0.3, refit=False)
    kept = make_pool(plan, tmp_path / "kept.parquet")
    refitted = make_pool(replace(plan, refit=True), tmp_path / "refitted.parquet")
    [one], [other] = kept.partitions, refitted.partitions
    assert len(one.y_test) == pytest.approx(0.3 * 442, abs=1)
    assert one.entries[0].predictions is not None
    assert len(one.entries[0].predictions.rows) == pytest.approx(0.3 * 442, abs=2)
    assert [e.losses for e in one.entries] == [e.losses for e in other.entries]
    for a, b in zip(one.entries, other.entries, strict=True):
        assert a.test is not None
        assert b.test is not None
        assert a.test.values.tolist() != b.test.values.tolist()
        assert np.mean((a.test.values - one.y_test) ** 2) < 2 * np.var(one.y_test)
    with pytest.raises(ExperimentError, match="'cv' must be a fraction"):
        replace(plan, cv=5)
    with pytest.raises(ChoiceError, match="n_partitions"):
        replace(plan, n_partitions=0)


def test_a_pool_that_was_interrupted_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = tmp_path / "iris.parquet"
    whole = make_pool(replace(IRIS, n_partitions=2), tmp_path / "whole.parquet")

    def stop(n: int) -> None:
        if n == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_pool(replace(IRIS, n_partitions=2), output, on_trial=stop)
    assert not output.exists()
    n_there = len(list((tmp_path / "iris.parquet.parts").rglob("*.npz")))
    assert n_there >= 3
    with pytest.raises(ExperimentError, match="continued with the same table"):
        make_pool(replace(IRIS, n_partitions=2, seed=1), output)
    fitted: list[Trial] = []
    evaluate = Tabulator.evaluate

    def counted(self: Tabulator, trial: Trial) -> None:
        fitted.append(trial)
        evaluate(self, trial)

    monkeypatch.setattr(Tabulator, "evaluate", counted)
    pool = make_pool(replace(IRIS, n_partitions=2), output)
    assert len(fitted) == 12 - n_there
    for one, other in zip(pool.partitions, whole.partitions, strict=True):
        assert [entry.losses for entry in one.entries] == [entry.losses for entry in other.entries]


def test_a_file_that_is_no_pool_is_a_clear_error(tmp_path: Path, path: Path) -> None:
    with pytest.raises(ExperimentError, match="no "):
        read_pool(tmp_path / "none.parquet")
    (tmp_path / "bad.parquet").write_text("x")
    with pytest.raises(ExperimentError, match="Parquet"):
        read_pool(tmp_path / "bad.parquet")
    table = pq.read_table(path)
    pq.write_table(table.replace_schema_metadata({"comitia.pool": "1"}), tmp_path / "older.parquet")
    with pytest.raises(ExperimentError, match=r"has version 1\. Make it again"):
        read_pool(tmp_path / "older.parquet")
    with pytest.raises(ExperimentError, match="table"):
        make_pool(PoolPlan("function:conditional", "svm-rbf", 2), tmp_path / "x.parquet")
    with pytest.raises(ExperimentError, match="loss on rows"):
        make_pool(replace(IRIS, loss="roc_auc_ovr"), tmp_path / "x.parquet")
    with pytest.raises(ExperimentError, match="new file"):
        make_pool(WINE, path)
