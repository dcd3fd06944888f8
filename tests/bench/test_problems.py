"""Problems are found, cleaned without looking at the target, and split alike for every method."""

from pathlib import Path

import numpy as np
import pytest

from comitia.bench.plan.plan import HoldOutTest
from comitia.bench.plan.splits import Capped, capped_rows, make_validation
from comitia.bench.problems.black_boxes import conditional, make_black_box
from comitia.bench.problems.finding import check_problem, find_problem, task_of_problem
from comitia.bench.problems.problems import FixedTable, FunctionProblem
from comitia.bench.problems.synthetic import chess, sparse
from comitia.errors import ComitiaError, ExperimentError, UnknownName
from comitia.evaluation.resampling import make_resampling
from comitia.seeds import Seeds
from comitia.space import Config
from tests.bench.tables_folder import make_folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_folder(tmp_path_factory.mktemp("tables"))


def test_a_messy_table_becomes_numbers_with_indicators(folder: Path) -> None:
    problem = find_problem("messy", folder)
    assert isinstance(problem, FixedTable)
    # four numbers, three indicators of town, one of side; the constant column is gone
    assert problem.X.shape == (120, 8)
    assert np.isnan(problem.X[:6, 0]).all()
    assert (problem.X[3:10, 4:7].sum(axis=1) == 0).all()
    assert set(np.unique(problem.y)) == {0, 1, 2}


def test_kinds_of_problems_are_found(folder: Path) -> None:
    assert task_of_problem("numbers", folder) == "regression"
    assert task_of_problem("plain", folder) == "classification"
    assert task_of_problem("sklearn:diabetes", None) == "regression"
    assert task_of_problem("synthetic:chess", None) == "classification"
    assert check_problem("plain", folder) == 120
    assert check_problem("sklearn:iris", None) is None


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("plian", "plain"),
        ("sklearn:irsi", "iris"),
        ("skelarn:iris", "sklearn"),
        ("openml:iris", "number"),
        ("synthetic:ches", "chess"),
        ("synthetic:chess:1", "ROWS"),
        ("function:conditonal", "conditional"),
        ("pool:nowhere.parquet", "no 'nowhere.parquet'"),
    ],
)
def test_an_unknown_problem_is_an_error_with_the_near_match(folder: Path, reference: str, message: str) -> None:
    with pytest.raises(ComitiaError, match=message):
        check_problem(reference, folder)


def test_a_folder_that_is_none_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match="COMITIA_DATA"):
        check_problem("plain", None)
    with pytest.raises(ExperimentError, match=r"index\.csv"):
        check_problem("plain", tmp_path)
    (tmp_path / "index.csv").write_text("name,task\ngone,binary\n")
    with pytest.raises(ExperimentError, match=r"gone\.parquet"):
        check_problem("gone", tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    (other / "index.csv").write_text("name,task\ngone,bianry\n")
    with pytest.raises(UnknownName, match="binary"):
        check_problem("gone", other)


def test_the_test_rows_depend_on_problem_and_repetition_alone(folder: Path) -> None:
    problem = find_problem("plain", folder)
    assert isinstance(problem, FixedTable)
    first, again, other = (problem.draw(HoldOutTest(test=1 / 3), r) for r in (0, 0, 1))
    assert len(first.y_test) == 40
    np.testing.assert_array_equal(first.X_test, again.X_test)
    assert not np.array_equal(first.X_test, other.X_test)
    assert len(np.unique(np.vstack([first.X_train, first.X_test]), axis=0)) == 120
    assert abs(first.y_test.mean() - problem.y.mean()) < 0.02  # stratified
    np.testing.assert_array_equal(first.raw_train["a"].to_numpy(), first.X_train[:, 0])


def test_outer_folds_cover_every_row_once(folder: Path) -> None:
    problem = find_problem("plain", folder)
    assert isinstance(problem, FixedTable)
    tests = [problem.draw(HoldOutTest(folds=5), repetition).X_test for repetition in range(10)]
    for shuffle in (tests[:5], tests[5:]):
        assert len(np.unique(np.vstack(shuffle), axis=0)) == 120
    assert not np.array_equal(tests[0], tests[5])


def test_own_test_rows_are_the_last_ones_in_every_repetition(folder: Path) -> None:
    problem, other = find_problem("plain", folder), find_problem("numbers", folder)
    assert isinstance(problem, FixedTable)
    assert isinstance(other, FixedTable)
    split = HoldOutTest(test=1 / 3, own={"plain": 100})
    for repetition in range(2):
        draw = problem.draw(split, repetition)
        np.testing.assert_array_equal(draw.X_train, problem.X[:100])
        np.testing.assert_array_equal(draw.y_test, problem.y[100:])
        assert len(other.draw(split, repetition).y_test) == 40  # drawn
    with pytest.raises(ExperimentError, match="after its first 120"):
        problem.draw(HoldOutTest(test=1 / 3, own={"plain": 120}), 0)


def test_a_table_too_small_for_its_splits_is_a_clear_error(folder: Path) -> None:
    problem = find_problem("tiny", folder)
    assert isinstance(problem, FixedTable)
    with pytest.raises(ExperimentError, match="'tiny' must have enough rows"):
        problem.draw(HoldOutTest(folds=5), 0)


def test_a_limit_moves_rows_to_the_validation_of_a_hold_out_and_keeps_folds_a_partition() -> None:
    y = np.arange(100) % 2
    held = Capped(make_resampling(0.2, stratify=True), 30)
    [(train, test)] = held.splits(y, None, 0, 0, Seeds(0))
    assert len(train) == 30
    assert sorted([*train, *test]) == list(range(100))
    folds = Capped(make_resampling(5, stratify=True), 30).splits(y, None, 0, 0, Seeds(0))
    assert [len(train) for train, _ in folds] == [30] * 5
    assert sorted(row for _, test in folds for row in test) == list(range(100))
    assert not any(set(train) & set(test) for train, test in folds)
    assert len(capped_rows(100, 30, Seeds(0))) == 30
    assert len(capped_rows(20, 30, Seeds(0))) == 20


def test_classes_with_one_row_do_not_stop_a_hold_out() -> None:
    y = np.array([0] * 30 + [1] * 30 + [2])
    validation = make_validation(0.3, y, is_classes=True, reshuffled=False, most=None)
    assert len(validation.splits(y, None, 0, 0, Seeds(0))) == 1


def test_chess_is_a_board_and_sparse_has_five_ones() -> None:
    X, y = chess(1000, np.random.default_rng(0))
    assert ((X >= 0) & (X < 4)).all()
    assert y[(X < 1).all(axis=1)].max() == 0  # the first field and its colour
    assert 0.4 < y.mean() < 0.6
    X, y = sparse(1000, np.random.default_rng(0))
    assert (X.sum(axis=1) == 5).all()
    only_positive = X[:, :3].any(axis=1) & ~X[:, 3:6].any(axis=1)
    assert y[only_positive].all()


def test_the_conditional_function_has_its_minimum_where_it_says() -> None:
    best = Config({"branch": "b4", "b4:x0": 0.2 + 0.6 * 3 / 4, "b4:x1": 0.2 + 0.6 * 1 / 4, "b4:n": 11})
    assert conditional(best) == pytest.approx(0.0, abs=1e-12)
    problem = find_problem("function:conditional")
    assert isinstance(problem, FunctionProblem)
    values = [problem.function(c) for c in problem.space.decode(problem.space.sample(2000, np.random.default_rng(0)))]
    assert min(values) > 0


def test_coco_problems_are_reals_and_integers() -> None:
    problem = make_black_box("coco:bbob/f1/d2/i1")
    [config] = problem.space.decode(np.array([[0.5, 0.5]]))
    assert dict(config) == {"x0": 0.0, "x1": 0.0}
    assert problem.function(config) == pytest.approx(80.88209408)  # cocoex itself
    mixed = make_black_box("coco:bbob-mixint/f1/d5/i1")
    [config] = mixed.space.decode(mixed.space.sample(1, np.random.default_rng(0)))
    assert [type(value) for value in config.values()] == [int, int, int, int, float]
    with pytest.raises(ExperimentError, match="coco:SUITE"):
        make_black_box("coco:bbob/1")
    for wrong in ("coco:bbob/f99/d2/i1", "coco:bbob/f1/d7/i1", "coco:bbob/f1/d2/i99"):
        with pytest.raises(ExperimentError, match="problem of the suite"):
            make_black_box(wrong)


def test_tuning_tables_are_noisy_functions_with_a_mean() -> None:
    problem = make_black_box("hpo:hpobench/car")
    [config] = problem.space.decode(problem.space.sample(1, np.random.default_rng(3)))
    drawn = [problem.function(config) for _ in range(400)]
    assert len(set(drawn)) > 1
    assert problem.truth(config) == problem.truth(config)
    assert abs(problem.truth(config) - np.mean(drawn)) < 4 * np.std(drawn) / np.sqrt(200)
    with pytest.raises(UnknownName, match="car"):
        make_black_box("hpo:hpobench/cra")
