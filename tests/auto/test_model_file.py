"""Model files: what is written comes back bit for bit, and nothing that is not trusted is built."""

import json
import zipfile
from collections import OrderedDict, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.linear_model import SGDClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC

from comitia.auto.model_file import OBJECTS, read_model, untrusted_names, write_model
from comitia.errors import ModelError
from tests.ids import stable

X, Y = load_iris(return_X_y=True)


def again(value: Any, folder: Path, trusted: Any = ()) -> Any:
    write_model(folder / "file", value)
    return read_model(folder / "file", trusted)


PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
ARRAYS = st.sampled_from(["i8", "f8", "u1", "f4", "bool", "U3", ">i4", "M8[s]", "c16"]).flatmap(
    lambda dtype: arrays.arrays(dtype, arrays.array_shapes(min_dims=0, min_side=0), elements=None)
)
VALUES = st.recursive(
    PLAIN | ARRAYS,
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=15,
)


def assert_same(one: Any, two: Any) -> None:
    assert type(one) is type(two)
    if isinstance(one, np.ndarray) and one.dtype.kind == "O":
        assert_same(one.tolist(), two.tolist())
    elif isinstance(one, np.ndarray):
        assert (one.dtype, one.shape, one.tobytes()) == (two.dtype, two.shape, two.tobytes())
    elif isinstance(one, dict):
        assert list(one) == list(two)
        assert_same(list(one.values()), list(two.values()))
    elif isinstance(one, list | tuple):
        assert len(one) == len(two)
        for left, right in zip(one, two, strict=True):
            assert_same(left, right)
    else:
        assert repr(one) == repr(two)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=VALUES)
def test_whatever_is_written_comes_back(value: Any, tmp_path: Path) -> None:
    assert_same(again(value, tmp_path), value)


@pytest.mark.parametrize(
    "value",
    [
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.array([0.0, -0.0, np.nan, np.inf]),
        np.array([1, None, "text", (2, 3)], dtype=object),
        np.array([(1, 2.5), (300, -0.0)], dtype=np.dtype([("a", "i8"), ("b", "f8")], align=True)),
        np.float32(1.5),
        np.dtype("f4"),
        np.float64,
        np.log1p,
        slice(1, None, 2),
        {1, 2},
        frozenset({"a"}),
        OrderedDict(b=1, a=2),
        1e300,
        10**30,
    ],
    ids=stable,
)
def test_other_values_come_back(value: Any, tmp_path: Path) -> None:
    found = again(value, tmp_path, ["collections.OrderedDict"])
    assert_same(found, value)
    if isinstance(value, np.ndarray):
        assert found.flags.f_contiguous == value.flags.f_contiguous
        assert found.flags.writeable


def test_what_is_shared_is_shared_again(tmp_path: Path) -> None:
    array = np.arange(3)
    one, two = again([array, array], tmp_path)
    assert one is two


def test_a_default_factory_comes_back(tmp_path: Path) -> None:
    value: Any = defaultdict(OrderedDict, a=1)
    found = again(value, tmp_path, ["collections.OrderedDict", "collections.defaultdict"])
    assert found == value
    assert found.default_factory is OrderedDict


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingClassifier(n_estimators=3),
        GradientBoostingRegressor(n_estimators=3),
        LinearDiscriminantAnalysis(),
        SGDClassifier(random_state=0),
        MLPClassifier((3,), max_iter=2),
        make_pipeline(FunctionTransformer(np.log1p), SVC()),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_other_learners_of_scikit_learn_need_no_trust(model: Any, tmp_path: Path) -> None:
    model.fit(X, Y)
    assert (again(model, tmp_path).predict(X) == model.predict(X)).all()


def test_a_sparse_matrix_comes_back_and_its_numbers_are_checked(tmp_path: Path) -> None:
    matrix = sparse.csr_matrix(np.eye(3))
    assert (again(matrix, tmp_path).toarray() == np.eye(3)).all()
    matrix.indices[0] = 1000
    write_model(tmp_path / "file", matrix)
    with pytest.raises(ModelError, match="tampered"):
        read_model(tmp_path / "file")


class Slotted:
    __slots__ = ("slot",)
    slot: int


class Own(Slotted):
    """A type of the user's with a slot and an attribute."""

    attribute: int


def test_a_type_of_ones_own_is_built_only_if_it_is_named(tmp_path: Path) -> None:
    own = Own()
    own.slot, own.attribute = 1, 2
    write_model(tmp_path / "file", own)
    assert untrusted_names(tmp_path / "file") == {f"{__name__}.Own"}
    with pytest.raises(ModelError, match=rf"{__name__}\.Own.*trusted="):
        read_model(tmp_path / "file")
    found = read_model(tmp_path / "file", [f"{__name__}.Own"])
    assert (found.slot, found.attribute) == (1, 2)
    slotted = Slotted()
    slotted.slot = 3
    assert again(slotted, tmp_path, [f"{__name__}.Slotted"]).slot == 3


def test_what_cannot_be_found_again_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="<lambda>"):
        write_model(tmp_path / "file", lambda: 0)
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(ModelError, match="must not hold itself"):
        write_model(tmp_path / "file", circle)
    with (tmp_path / "open").open("w") as file, pytest.raises(ModelError, match="can be pickled"):
        write_model(tmp_path / "file", file)


@pytest.mark.parametrize(
    "entries",
    [
        [["tuple", ["boom"]], ["call", "os.mkdir", ["boom"], None, None, None]],
        [["new", "subprocess.Popen", ["mkdir boom"], None, None, None]],
        [["name", "os.system"]],
        [["call", "sklearn.utils.fixes.os.mkdir", ["boom"], None, None, None]],
        [["call", "numpy.f2py.__main__.main", [], None, None, None]],
        [["call", ["os.mkdir"], ["boom"], None, None, None]],
        [["call", "numpy.load", ["boom"], None, None, None]],
        [["call", "sklearn.datasets.load_files", ["boom"], None, None, None]],
        [["call", "numpy.add", [1, 2], None, None, None]],  # harmless to hold, not to call: it may write to an array
        [["call", "sklearn.svm._classes.SVC", [], None, None, None]],
    ],
    ids=stable,
)
def test_foreign_functions_do_not_run(
    entries: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    monkeypatch.chdir(tmp_path)
    write_file(Path("file"), entries)
    with pytest.raises(ModelError, match="known types alone"):
        read_model(Path("file"))
    assert not Path("boom").exists()


@pytest.mark.parametrize(
    "entries",
    [
        [],
        [["list", [[0]]]],  # itself
        [["list", [[-1]]]],
        [["list", [[5]]]],
        ["text"],
        [3],
        [["no such kind", 1]],
        [["array", "<f8", [1000], "C", 0, ["<f8"]]],
        [["array", "<f8", [-1], "C", 0, ["<f8"]]],
        [["array", "O", [1], "C", 0, ["|O"]]],
        [["new", "sklearn.tree._tree.Tree", [], None, None, None]],
        [["dict", ["a"]]],
    ],
    ids=stable,
)
def test_a_damaged_file_is_refused(entries: Any, tmp_path: Path) -> None:
    write_file(tmp_path / "file", entries)
    with pytest.raises(ModelError):
        read_model(tmp_path / "file")


def write_file(file: Path, entries: Any) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(OBJECTS, json.dumps(entries))
        archive.writestr("arrays", b"")
