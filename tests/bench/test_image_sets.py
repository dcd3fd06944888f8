"""Sets of images are found in the data folder, cut and shrunk as their name says."""

from pathlib import Path

import numpy as np
import pytest

from comitia.bench.cells.run import run_cell
from comitia.bench.plan.experiment_file import make_experiment
from comitia.bench.plan.plan import Experiment, Job
from comitia.bench.problems.finding import check_problem, find_problem, find_table
from comitia.bench.problems.image_sets import ImageProblem, shrunk
from comitia.errors import ComitiaError, ExperimentError
from tests.image_toys import TEST, TRAINING


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("images")
    arrays = {"x_train": TRAINING[0], "y_train": TRAINING[1], "x_test": TEST[0], "y_test": TEST[1]}
    np.savez(folder / "toys.npz", **arrays)  # type: ignore[arg-type]
    np.savez(folder / "wrong.npz", x_train=TRAINING[0])
    return folder


def experiment(**more: object) -> Experiment:
    content = {
        "problems": ["images:toys"],
        "spaces": ["cnn"],
        "methods": ["bo-post[steps=5]", "eo-post[slots=2,steps=5]"],
        "repetitions": 2,
        "budget": {"n_trials": 4},
        "networks": {"epochs": 2, "batch": 16, "filters": [4, 4, 8]},
        "validation": [{"name": "hold-out", "cv": 0.25}],
        "tables": ["errors-sd"],
    }
    return make_experiment({**content, **more}, "toys")


def test_a_set_may_be_cut_and_shrunk(folder: Path) -> None:
    whole, part = find_problem("images:toys", folder), find_problem("images:toys:40:4", folder)
    assert isinstance(whole, ImageProblem)
    assert isinstance(part, ImageProblem)
    assert (whole.X.shape, part.X.shape, part.X_test.shape) == ((60, 8, 8, 3), (40, 4, 4, 3), (24, 4, 4, 3))
    assert part.y.tolist() == TRAINING[1][:40].tolist()
    assert part.X.dtype == np.uint8


def test_a_shrunk_pixel_is_the_mean_of_a_square() -> None:
    X = np.arange(16, dtype=np.uint8).reshape(1, 4, 4, 1)
    assert shrunk(X, 2)[0, :, :, 0].tolist() == [[2, 4], [10, 12]]  # 2.5 is rounded to the even number
    with pytest.raises(ExperimentError, match="3 pixels"):
        shrunk(X, 3)


@pytest.mark.parametrize(
    ("name", "message"), [("images:none", "none.npz"), ("images:wrong", "y_train"), ("images:toys:x", "named as")]
)
def test_what_cannot_be_read_is_a_clear_error(folder: Path, name: str, message: str) -> None:
    with pytest.raises(ExperimentError, match=message):
        find_problem(name, folder)


def test_images_need_a_folder_and_are_no_table(folder: Path) -> None:
    with pytest.raises(ExperimentError, match="--data"):
        check_problem("images:toys", None)
    assert check_problem("images:toys", folder) is None
    with pytest.raises(ExperimentError, match="set of images"):
        find_table("images:toys", folder, "A pool")


def test_an_experiment_on_images_has_networks_and_nothing_else() -> None:
    recipe = experiment().networks
    assert recipe is not None
    assert (recipe.epochs, recipe.filters) == (2, (4, 4, 8))
    assert experiment().protocol()["networks"] == {"epochs": 2, "batch": 16, "filters": (4, 4, 8)}
    for wrong in (
        {"problems": ["images:toys", "sklearn:iris"]},
        {"problems": ["sklearn:iris"]},
        {"networks": {"epochs": 0}},
        {"networks": {"filters": [4, 4]}},
        {"networks": {"epoch": 3}},
    ):
        with pytest.raises(ComitiaError):
            experiment(**wrong)


def test_images_are_not_run_one_cell_at_a_time_and_tables_not_by_networks(folder: Path) -> None:
    images = experiment()
    [row] = run_cell(Job(images, images.cells()[0], folder))
    assert "lockstep" in (row.error or "")
    content = {"problems": ["sklearn:iris"], "spaces": ["cnn"], "methods": ["rs"], "repetitions": 1}
    tables = make_experiment({**content, "budget": {"n_trials": 1}}, "tables")
    [row] = run_cell(Job(tables, tables.cells()[0], None))
    assert "for images" in (row.error or "")
