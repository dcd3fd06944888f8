"""Experiments are read strictly, list their cells, and shrink together."""

from pathlib import Path
from typing import Any

import pytest

from comitia.bench.cells.run import missing_of
from comitia.bench.peers.registry import get_peer, is_peer, is_system
from comitia.bench.plan.experiment_file import make_experiment, read_experiment
from comitia.bench.plan.plan import OWN_SPACE
from comitia.errors import ChoiceError, ComitiaError, ExperimentError, UnknownName

FOLDER = Path(__file__).parents[2] / "experiments"
EXPERIMENTS = sorted(path for path in FOLDER.glob("*.toml") if path.stem not in ("findings", "papers"))
GOOD: dict[str, Any] = {
    "problems": ["a", "b", "c", "d"],
    "spaces": ["svm-rbf"],
    "methods": ["rs", "grid"],
    "repetitions": 10,
    "budget": {"n_trials": 100},
}


def test_cells_are_all_combinations_repetition_by_repetition() -> None:
    experiment = make_experiment({**GOOD, "repetitions": 2}, "e")
    cells = experiment.cells()
    assert len(cells) == len(set(cells)) == 4 * 2 * 2
    assert [cell.repetition for cell in cells] == [0] * 8 + [1] * 8
    assert {cell.method for cell in experiment.cells(["grid"])} == {"rs"}


def test_scale_shrinks_problems_repetitions_and_budget_together() -> None:
    scaled = make_experiment(GOOD, "e").scaled(0.25, {"a": 400, "b": 300, "c": 200, "d": 100})
    assert (scaled.problems, scaled.repetitions, scaled.budget.n_trials) == (("d",), 3, 25)
    assert make_experiment(GOOD, "e").scaled(0.01).budget.n_trials == 10
    assert make_experiment(GOOD, "e").scaled(1.0).scale == 1.0
    assert make_experiment({**GOOD, "average_last": 15}, "e").scaled(0.1).average_last == 2
    with pytest.raises(ExperimentError, match=r"\(0, 1\]"):
        make_experiment(GOOD, "e").scaled(1.5)


def test_adding_methods_problems_or_repetitions_keeps_the_protocol() -> None:
    more = {**GOOD, "methods": ["rs", "grid", "sobol"], "problems": ["a"], "repetitions": 3}
    assert make_experiment(GOOD, "e").protocol() == make_experiment(more, "e").protocol()
    other = {**GOOD, "budget": {"n_trials": 50}}
    assert make_experiment(GOOD, "e").protocol() != make_experiment(other, "e").protocol()


def test_a_validation_may_be_for_some_methods_alone() -> None:
    validations = [{"cv": 0.3}, {"cv": 5, "methods": ["rs"]}]
    cells = make_experiment({**GOOD, "methods": ["rs", "grid"], "validation": validations}, "e").cells()
    assert {(cell.validation, cell.method) for cell in cells} == {
        ("hold-out", "rs"),
        ("hold-out", "grid"),
        ("5-fold", "rs"),
    }


def test_own_test_rows_are_part_of_the_protocol_only_where_there_are_any() -> None:
    """So that rows from before there was such a key can be resumed."""
    drawn, own = (make_experiment({**GOOD, "split": split}, "e") for split in ({}, {"own": {"a": 30}}))
    assert "own" not in drawn.protocol()["split"]
    assert own.protocol()["split"]["own"] == {"a": 30}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metods": []}, "methods"),
        ({"test_every": 5, "rows_every": 7}, "multiple of"),
        ({"validation": [{"cv": 5, "methods": ["rss"]}]}, r"method in \[\[validation\]\].*'rs'"),
        ({"budget": {"trials": 3}}, "n_trials"),
        ({"tables": ["sumary"]}, "summary"),
        ({"repetitions": 0}, "repetitions"),
        ({"problems": []}, "problems"),
        ({"problems": ["a", "a"]}, "only once"),
        ({"split": {"test": 0.3, "folds": 5}}, "either"),
        ({"split": {"test": 3}}, "fraction"),
        ({"split": {"folds": 1}}, "folds"),
        ({"split": {"own": {"a": 0}}}, "a"),
        ({"split": {"own": 3}}, "own"),
        ({"split": {"own": {"abc": 30}}}, "problem in 'own'"),
        ({"validation": [{"cv": 1}]}, "cv"),
        ({"validation": []}, "validation"),
        ({"method_cv": {"rs": 1.5}}, "cv"),
        ({"budget": 3}, "section"),
        ({"validation": [1, 2]}, "section"),
        ({"method_cv": 3}, "section"),
        ({"refit": False}, "refit"),
        ({"budget": {"n_trials": -1}}, "n_trials"),
        ({"budget": {}}, "budget"),
        ({"refit": "false"}, "true or false"),
        ({"loss": "zero_one"}, "zero-one"),
        ({"loss": 3}, "loss"),
        ({"title": 3}, "title"),
        ({"selection_split": 7}, "selection_split"),
        ({"selection_split": 7.0}, "selection_split"),
        ({"method_cv": {"rss": 3}}, "rs"),
        ({"validation": [{"name": "a", "cv": 3}, {"name": "a", "cv": 5}]}, "different names"),
        ({"refit": False, "validation": [{"cv": 0.3}], "method_cv": {"rs": 3}}, "refit"),
        ({"average_last": 101}, "average_last"),
    ],
)
def test_a_wrong_file_is_a_clear_error(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ComitiaError, match=message):
        make_experiment({**GOOD, **change}, "e")


@pytest.mark.parametrize("left_out", ["problems", "methods", "repetitions", "spaces"])
def test_what_must_be_there_is_asked_for(left_out: str) -> None:
    with pytest.raises(ExperimentError, match=left_out):
        make_experiment({key: value for key, value in GOOD.items() if key != left_out}, "e")


def test_whole_systems_need_no_space_and_may_have_seconds_of_their_own() -> None:
    made = {**GOOD, "methods": ["comitia", "flaml[seconds=10]"], "budget": {"time_limit": 60}}
    experiment = make_experiment({key: value for key, value in made.items() if key != "spaces"}, "e")
    assert {cell.space for cell in experiment.cells()} == {OWN_SPACE}
    peer = get_peer("flaml[seconds=10]")
    assert (peer.name, peer.seconds, peer.environment) == ("flaml[seconds=10]", 10.0, "flaml")
    assert get_peer("flaml").seconds is None
    assert is_system("default-lightgbm")
    assert not is_system("rs")
    assert not is_system("optuna-tpe")


def test_seconds_are_only_for_systems_that_search() -> None:
    for name in ("default-catboost[seconds=10]", "optuna-tpe[seconds=10]", "flaml[seconds=soon]", "flaml[seconds=0]"):
        with pytest.raises(ChoiceError, match="seconds"):
            get_peer(name)
    with pytest.raises(UnknownName, match="seconds"):
        get_peer("flaml[second=10]")
    with pytest.raises(UnknownName, match="flaml"):
        get_peer("flalm[seconds=10]")


def test_a_file_that_is_not_there_or_not_toml_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match="no "):
        read_experiment(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("problems = [")
    with pytest.raises(ExperimentError, match="TOML"):
        read_experiment(tmp_path / "bad.toml")


@pytest.mark.parametrize("path", EXPERIMENTS, ids=[path.stem for path in EXPERIMENTS])
def test_every_experiment_of_the_repository_is_read_and_knows_its_methods(path: Path) -> None:
    experiment = read_experiment(path)
    missing = missing_of(experiment.methods, experiment.spaces)
    assert all(is_peer(name) for name in missing)
    assert experiment.cells()


def test_every_table_of_the_papers_has_an_experiment() -> None:
    stems = " ".join(path.stem for path in EXPERIMENTS)
    for table in ["3.1", "3.2", "3.3", "3.4", "3.5", "4.3", "4.4", "4.5", "4.6"]:
        assert table in stems
    for name in ["c-table-1-2", "l-table-2", "l-table-3", "u-table-1-chess", "u-table-1-sparse", "p-table-7-8-9-10"]:
        assert name in stems


def test_an_unknown_name_is_an_error_with_the_near_match() -> None:
    with pytest.raises(UnknownName, match="gp-cond-ls"):
        missing_of(["gp-cond-sl"], [])
    with pytest.raises(UnknownName, match="svm-rbf"):
        missing_of([], ["svm-rfb"])
    assert missing_of(["rs", "committee"], []) == []
