"""Shares of the variance: of functions whose shares are known, and beside those of another tool."""

import numpy as np
import pytest

from comitia import Seeds, Space
from comitia.arrays import Array
from comitia.report.fanova import FEWEST_TRIALS, Effect, effects, evenly_drawn, importance

OPTUNA = {"a": 0.5748, "k": 0.2978, "b": 0.0676, "i": 0.0007}
"""Means over seeds 0, 1 and 2 of `optuna.importance.get_param_importances(study, evaluator=FanovaImportanceEvaluator(
seed=seed), normalize=False)`, Optuna 5.0.0, for the trials that `table` makes: `FloatDistribution(0, 1)`,
`FloatDistribution(0, 3)`, `CategoricalDistribution(["u", "v", "w"])`, `IntDistribution(1, 8)`."""


def drawn(space: Space, n: int = 4096) -> Array:
    return evenly_drawn(space, np.random.default_rng(0), n)


def shares(found: list[Effect] | None) -> dict[str, float]:
    assert found is not None
    return {effect.name: effect.share for effect in found}


def table() -> tuple[Space, Array, Array]:
    rng = np.random.default_rng(0)
    n = 300
    a, b, k, i = rng.random(n), rng.uniform(0, 3, n), rng.integers(0, 3, n), rng.integers(1, 9, n)
    y = 4 * (a - 0.3) ** 2 + 0.25 * (b - 2) ** 2 + np.array([0.0, 0.2, 0.6])[k] + 0.02 * i + a * (k == 2)
    space = Space({"a": (0.0, 1.0), "b": (0.0, 3.0), "k": ["u", "v", "w"], "i": list(range(1, 9))})
    rows = zip(a.tolist(), b.tolist(), k.tolist(), i.tolist(), strict=True)
    return space, space.encode([{"a": p, "b": q, "k": "uvw"[r], "i": s} for p, q, r, s in rows]), y


def test_shares_of_the_ishigami_function_are_those_of_its_formula() -> None:
    """Ishigami and Homma (1990), with 7 and 0.1: 0.314, 0.442 and 0, the rest together."""
    space = Space({"a": (0.0, 1.0), "b": (0.0, 1.0), "c": (0.0, 1.0)})

    def ishigami(X: Array) -> Array:
        x = np.pi * (2 * X - 1)
        return np.asarray(np.sin(x[:, 0]) + 7 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * np.sin(x[:, 0]))

    found = shares(effects(ishigami, space, drawn(space)))
    assert found["a"] == pytest.approx(0.3139, abs=0.01)
    assert found["b"] == pytest.approx(0.4424, abs=0.01)
    assert found["c"] == pytest.approx(0.0, abs=0.002)


def test_a_sum_has_no_interactions_and_categories_count_alike() -> None:
    space = Space({"x": (0.0, 1.0), "k": ["a", "b", "c"]})
    worth = np.array([0.0, 0.5, 1.0])
    x, k = space.names.index("x"), space.names.index("k")

    def total(X: Array) -> Array:
        return np.asarray(X[:, x] + worth[np.minimum(3 * X[:, k], 2).astype(int)])

    found = shares(effects(total, space, drawn(space)))
    var_x, var_k = 1 / 12, float(worth.var())
    assert found["x"] == pytest.approx(var_x / (var_x + var_k), abs=0.01)
    assert sum(found.values()) == pytest.approx(1.0, abs=0.01)


def conditional() -> Space:
    return Space([{"kind": ["line"], "slope": (0.0, 1.0)}, {"kind": ["curve"], "bend": (0.0, 1.0)}])


def of_branches(space: Space, X: Array) -> Array:
    """Lines are worth their slope, curves 2 and a little of their bend."""
    kind, slope, bend = (space.names.index(name) for name in ("kind", "slope", "bend"))
    is_line = X[:, kind] < 0.5
    return np.asarray(np.where(is_line, X[:, slope], 2.0 + 0.1 * X[:, bend]))


def test_an_inactive_hyperparameter_explains_only_what_it_changes_where_it_is_active() -> None:
    space = conditional()
    found = shares(effects(lambda X: of_branches(space, X), space, drawn(space)))
    between = (2.05 - 0.5) ** 2 / 4  # two branches, as probable
    total = between + (1 / 12 + 0.01 / 12) / 2
    assert found["kind"] == pytest.approx(between / total, abs=0.01)
    # alone: E[f | slope] is slope / 2 and a constant
    assert found["slope"] == pytest.approx(1 / 48 / total, abs=0.005)
    assert found["bend"] < 0.001


def test_within_a_branch_only_its_own_hyperparameters_count() -> None:
    space = conditional()
    X = space.sample(200, np.random.default_rng(1))
    losses = of_branches(space, X)
    kind = space.names.index("kind")
    inside = shares(importance(space, X, losses, Seeds(0), only=("kind", float(X[:, kind].min()))))
    assert list(inside) == ["slope"]
    assert inside["slope"] > 0.95
    whole = shares(importance(space, X, losses, Seeds(0)))
    assert max(whole, key=lambda name: whole[name]) == "kind"


def test_shares_are_close_to_those_of_optuna() -> None:
    found = shares(importance(*table(), Seeds(0)))
    assert list(found) == sorted(OPTUNA, key=lambda name: -OPTUNA[name])
    for name, share in OPTUNA.items():
        assert found[name] == pytest.approx(share, abs=0.04)


def test_few_trials_and_equal_losses_say_nothing() -> None:
    space, X, y = table()
    few = slice(0, FEWEST_TRIALS - 1)
    assert importance(space, X[few], y[few], Seeds(0)) is None
    assert importance(space, X, np.ones(len(y)), Seeds(0)) is None
