"""The ready-made spaces: the papers' ranges. What every space must do is in tests/contracts/test_learners.py."""

from typing import Any

import numpy as np
import pytest
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.metrics.pairwise import rbf_kernel

from comitia import Space, get_space
from comitia.errors import ChoiceError, UnknownName
from comitia.learners.svm import ColumnWidths
from comitia.space import Config


def ends(space: Space, name: str) -> tuple[Any, Any]:
    column = space.columns[space.names.index(name)]
    low, high = column.values(np.array([0.0, 1.0]))
    return low, high


def is_log(space: Space, name: str) -> bool:
    return bool(getattr(space.columns[space.names.index(name)], "log", False))


# (space, hyperparameter, low, high, log): literals from the papers' tables
RANGES = [
    ("svm-rbf", "C", 1e-5, 1e5, True),
    ("svm-rbf", "gamma", 1e-5, 1e5, True),
    ("svm-kernels", "C", 1e-5, 1e5, True),
    ("svm-kernels", "gamma", 1e-5, 1e5, True),
    ("svm-kernels", "degree", 1, 10, False),
    ("svm-kernels", "coef0", 1e-2, 1e2, True),
    ("sklearn-cash", "knn:n_neighbors", 1, 30, False),
    ("sklearn-cash", "svm:C", 1e-5, 1e5, True),
    ("sklearn-cash", "svm:gamma", 1e-5, 1e5, True),
    ("sklearn-cash", "linsvm:C", 1e-5, 1e5, True),
    ("sklearn-cash", "dt:max_depth", 1, 10, False),
    ("sklearn-cash", "dt:min_samples_split", 2, 100, False),
    ("sklearn-cash", "dt:min_samples_leaf", 2, 100, False),
    ("sklearn-cash", "rf:n_estimators", 1, 30, False),
    ("sklearn-cash", "rf:max_depth", 1, 10, False),
    ("sklearn-cash", "rf:min_samples_split", 2, 100, False),
    ("sklearn-cash", "rf:min_samples_leaf", 2, 100, False),
    ("sklearn-cash", "adab:n_estimators", 1, 30, False),
    ("sklearn-cash", "qda:c", 1e-3, 1e3, True),
    ("random-forest", "n_estimators", 2, 50, False),
    ("random-forest", "max_depth", 2, 150, False),
    ("random-forest", "min_samples_split", 2, 30, False),
    ("random-forest", "min_samples_leaf", 1, 30, False),
    ("svm", "C", 1e-2, 1e3, True),
    ("svm", "gamma", 1e-5, 1e3, True),
    ("svr", "epsilon", 1e-2, 1.0, True),
    ("forest", "max_features", 1e-4, 1.0, False),
    ("boosting", "max_depth", 1, 15, False),
    ("boosting", "learning_rate", 1e-2, 1.0, True),
    ("boosting", "max_features", 1e-3, 1.0, False),
    ("mlp", "neurons_1", 1, 100, False),
    ("mlp", "alpha", 1e-5, 1.0, True),
]


@pytest.mark.parametrize(("name", "hyperparameter", "low", "high", "log"), RANGES)
def test_ranges_are_the_papers(name: str, hyperparameter: str, low: float, high: float, log: bool) -> None:
    space = get_space(name).space
    assert ends(space, hyperparameter) == pytest.approx((low, high))
    assert is_log(space, hyperparameter) == log


def test_cash_has_nine_learners_and_thirteen_hyperparameters() -> None:
    """Lévesque 2018, Table 5.1; Lévesque et al. 2017, §V: 14 in all, one level of conditions."""
    space = get_space("sklearn-cash").space
    assert len(space) == 14
    X = space.sample(500, np.random.default_rng(0))
    assert len(np.unique(space.branches(X))) == 9
    n_active = {c["learner"]: len(c) - 1 for c in space.decode(X)}
    expected = {"knn": 1, "svm": 2, "linsvm": 1, "dt": 3, "rf": 4, "adab": 1, "gnb": 0, "lda": 0, "qda": 1}
    assert n_active == expected


def test_kernels_have_their_own_hyperparameters() -> None:
    """Lévesque 2018, §4.4.1."""
    space = get_space("svm-kernels").space
    found = {c["kernel"]: set(c) - {"kernel", "C"} for c in space.decode(space.sample(200, np.random.default_rng(0)))}
    assert found == {
        "linear": set(),
        "rbf": {"gamma"},
        "poly": {"degree", "coef0"},
        "sigmoid": {"gamma", "coef0"},
    }


def test_qda_takes_a_class_of_one_row() -> None:
    ready = get_space("sklearn-cash")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)), np.repeat([0, 1, 2], [30, 29, 1])
    X[-1] = 10.0
    for c in (1e-3, 1.0, 1e3):
        model = ready.build(Config({"learner": "qda", "qda:c": c}), 0).fit(X, y)
        assert model.predict(X[-1:]) == [2]
        assert model[-1].priors_ == pytest.approx([30 / 60, 29 / 60, 1 / 60])


def test_qda_regularisation_is_the_papers_up_to_a_factor() -> None:
    """`(1 - r) S + r I` with r = c / (1 + c) is proportional to `S + c I`; also with fewer rows than columns."""
    ready = get_space("sklearn-cash")
    [config] = ready.space.decode(ready.space.encode([{"learner": "qda", "qda:c": 3.0}]))
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)), rng.integers(0, 2, 60)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    model = ready.build(config, 0).fit(X, y)
    plain = QuadraticDiscriminantAnalysis(reg_param=0.75).fit(scaled, y)
    assert model.predict_proba(X) == pytest.approx(plain.predict_proba(scaled), abs=1e-8)
    wide = rng.normal(size=(40, 60))
    assert ready.build(config, 0).fit(wide, y[:40]).predict(wide).shape == (40,)


def test_the_ard_kernel_is_the_papers_formula() -> None:
    """Glasmachers and Igel 2008, §3: exp(-sum_i gamma_i (x_i - x'_i)^2)."""
    rng = np.random.default_rng(0)
    X, gammas = rng.normal(size=(5, 3)), (0.1, 2.0, 30.0)
    scaled = ColumnWidths(gammas).fit(X).transform(X)
    slow = [[np.exp(-sum(g * (a - b) ** 2 for g, a, b in zip(gammas, x, z, strict=True))) for z in X] for x in X]
    assert np.allclose(rbf_kernel(scaled, gamma=1.0), slow)


def test_the_ard_space_needs_to_know_the_columns() -> None:
    with pytest.raises(ChoiceError, match="n_features"):
        get_space("svm-ard")
    with pytest.raises(ChoiceError, match="n_features=4"):
        ColumnWidths((1.0, 2.0)).fit(np.zeros((3, 4)))
    assert len(get_space("svm-ard", n_features=20).space) == 21


def test_boosting_regression_is_between_absolute_and_squared() -> None:
    build: Any = get_space("boosting-regression").build
    space = get_space("boosting-regression").space
    losses = []
    for share in (0.0, 0.5, 1.0):
        config = space.decode(space.encode([{"max_depth": 2, "learning_rate": 0.1, "squared_share": share}]))[0]
        losses.append(build(config, 0).loss)
    assert losses == ["absolute_error", "huber", "squared_error"]


@pytest.mark.parametrize(("name", "near"), [("svmrbf", "'svm-rbf'"), ("sklearn_cash", "'sklearn-cash'"), (17, "Known")])
def test_an_unknown_space_has_near_matches(name: Any, near: str) -> None:
    with pytest.raises(UnknownName, match=near):
        get_space(name)


def test_names_have_no_case() -> None:
    assert get_space("SVM-RBF").name == "svm-rbf"
