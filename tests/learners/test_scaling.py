"""Columns of numbers: outliers do not set the scale, constants and ties are no obstacle."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from comitia.arrays import AnyArray
from comitia.learners.scaling import FARTHEST, MOST_FACTORS, Hinges, Products, RobustScale


def test_an_outlier_moves_nothing_and_ends_at_the_border() -> None:
    x = np.random.default_rng(0).normal(size=(200, 1))
    far = np.vstack([x, [[1e9]]])
    told = RobustScale().fit(far).transform(far)
    assert np.abs(told).max() <= FARTHEST
    np.testing.assert_allclose(told[:-1], RobustScale().fit(x).transform(x), atol=0.05)
    assert (np.diff(told[:-1, 0][np.argsort(x[:, 0])]) > 0).all()


@pytest.mark.parametrize(
    "column", [np.full(20, 7.0), np.zeros(20), np.r_[np.zeros(15), np.arange(5)], np.r_[np.zeros(19), 1e300]]
)
def test_columns_with_many_equal_values(column: AnyArray) -> None:
    X = column[:, None]
    assert np.isfinite(RobustScale().fit(X).transform(X)).all()
    assert np.isfinite(Hinges().fit(X).transform(X)).all()


def test_a_line_with_hinges_bends() -> None:
    X = np.random.default_rng(0).uniform(-2, 2, size=(300, 2))
    y = np.abs(X[:, 0])
    hinges = Hinges().fit(X)
    assert LinearRegression().fit(X, y).score(X, y) < 0.2
    assert LinearRegression().fit(hinges.transform(X), y).score(hinges.transform(X), y) > 0.95
    assert hinges.transform(X).shape == (300, 2 + 2 * 5)


def test_equal_quantiles_are_one_knot() -> None:
    X = (np.arange(100) % 2).astype(float)[:, None]
    assert Hinges(9).fit(X).transform(X).shape[1] <= 1 + 3


def test_a_line_with_products_knows_what_two_columns_do_together() -> None:
    X = np.random.default_rng(0).normal(size=(300, 3))
    y = X[:, 0] * X[:, 1] + X[:, 2] ** 2
    products = Products(is_classes=False).fit(X, y)
    assert LinearRegression().fit(X, y).score(X, y) < 0.2
    assert LinearRegression().fit(products.transform(X), y).score(products.transform(X), y) > 0.999
    assert products.transform(X).shape == (300, 3 + 6)


@pytest.mark.parametrize("is_classes", [True, False])
def test_of_many_columns_those_that_go_with_the_target_are_multiplied(is_classes: bool) -> None:
    X = np.random.default_rng(0).normal(size=(200, MOST_FACTORS + 20))
    y = X[:, -1] - X[:, 5]
    products = Products(is_classes).fit(X, (y > 0).astype(int) if is_classes else y)
    assert len(products.factors_) == MOST_FACTORS
    assert {5, X.shape[1] - 1} <= set(products.factors_.tolist())
