"""Properties of spaces. ConfigSpace itself, which works one configuration at a time, is the reference."""

import json
import math
from collections import Counter
from typing import Any

import ConfigSpace as CS
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from comitia import Config, Space
from comitia.errors import SpaceError, UnknownName
from tests.space.strategies import FEW, configspaces

seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def sampled(space: Space, rng: np.random.Generator, n: int = 20) -> np.ndarray[Any, Any]:
    try:
        return space.sample(n, rng)
    except SpaceError:
        assume(False)
        raise


def is_valid(definition: CS.ConfigurationSpace, config: Config) -> bool:
    """Ask ConfigSpace: values legal, exactly the active hyperparameters present, nothing forbidden."""
    try:
        CS.Configuration(definition, values=dict(config)).check_valid_configuration()
    except ValueError:
        return False
    return True


@given(configspaces(), seeds)
def test_sampled_configurations_are_valid_to_configspace(definition: CS.ConfigurationSpace, rng: Any) -> None:
    space = Space(definition)
    for config in space.decode(sampled(space, rng)):
        assert is_valid(definition, config), config


def test_and_and_or_of_the_same_parents_are_told_apart() -> None:
    """ConfigSpace 1.2 takes one for the other when it samples, and in its check."""
    definition = CS.ConfigurationSpace()
    a, b, either, both = (CS.UniformFloatHyperparameter(name, 0.0, 1.0) for name in ("a", "b", "either", "both"))
    pairs = [[CS.LessThanCondition(child, parent, 0.5) for parent in (a, b)] for child in (either, both)]
    definition.add(a, b, either, both, CS.OrConjunction(*pairs[0]), CS.AndConjunction(*pairs[1]))
    space = Space(definition)
    for config in space.decode(space.sample(50, np.random.default_rng(0))):
        small = [config["a"] < 0.5, config["b"] < 0.5]
        assert ("either" in config, "both" in config) == (any(small), all(small))


@given(configspaces(), seeds)
def test_configspaces_own_samples_are_accepted(definition: CS.ConfigurationSpace, rng: Any) -> None:
    space = Space(definition)
    definition.seed(int(rng.integers(2**31)))
    try:
        theirs = [dict(c) for c in definition.sample_configuration(5)]
    except Exception:  # ConfigSpace gives up on spaces that forbid too much
        assume(False)
    # its sampler forgets, in a chain of conditions with "and", that a parent is inactive; its check does not
    theirs = [config for config in theirs if is_valid(definition, Config(config))]
    decoded = space.decode(space.encode(theirs))
    for one, other in zip(decoded, theirs, strict=True):
        assert set(one) == set(other)
        for name, value in other.items():
            assert one[name] == value or math.isclose(one[name], value, rel_tol=1e-8, abs_tol=1e-8)


@given(configspaces(), seeds)
def test_decode_of_encode_is_the_configuration(definition: CS.ConfigurationSpace, rng: Any) -> None:
    space = Space(definition)
    configs = space.decode(sampled(space, rng))
    assert space.decode(space.encode(configs)) == configs


@given(configspaces(), seeds)
def test_encode_of_decode_is_the_row_where_it_is_active(definition: CS.ConfigurationSpace, rng: Any) -> None:
    space = Space(definition)
    X = sampled(space, rng)
    active = space.active(X)
    assert np.allclose(space.encode(space.decode(X))[active], X[active], atol=1e-8)
    assert np.allclose(space.snap(X), X, atol=1e-12)


@given(configspaces(), seeds)
def test_json_gives_the_same_space_back(definition: CS.ConfigurationSpace, rng: Any) -> None:
    space = Space(definition)
    again = Space.from_json(space.to_json())
    assert again == space
    X = sampled(space, rng)
    assert again.names == space.names  # a recorded study keeps coordinates by column
    assert again.decode(X) == space.decode(X)


@given(configspaces(), seeds)
def test_imputation_touches_inactive_hyperparameters_alone(definition: CS.ConfigurationSpace, rng: Any) -> None:
    space = Space(definition)
    X = sampled(space, rng)
    active = space.active(X)
    middle, default = space.impute(X), space.impute(X, to="default")
    assert (middle[active] == X[active]).all()
    assert (middle[~active] == 0.5).all()
    assert space.decode(middle) == space.decode(X) == space.decode(default)


@given(configspaces(), seeds)
def test_neighbours_are_valid_and_differ_in_one_active_hyperparameter(definition: Any, rng: Any) -> None:
    space = Space(definition)
    X = sampled(space, rng, 5)
    found, origin = space.neighbours(X)
    active = space.active(X)
    for x, y, on in zip(X[origin], found, active[origin], strict=True):
        [column] = np.flatnonzero(x != y)
        assert on[column]
        before, after = space.decode(np.array([x, y]))
        assert is_valid(definition, after)
        assert before[space.names[column]] != after[space.names[column]]


def expected_neighbours(hyperparameter: Any, value: Any) -> int | None:
    """Count by the text of Lévesque 2018, §5.3.2; None for a real, whose steps may end at a bound."""
    match hyperparameter:
        case CS.CategoricalHyperparameter():
            return len(hyperparameter.choices) - 1
        case CS.OrdinalHyperparameter():
            ends = (hyperparameter.sequence[0], hyperparameter.sequence[-1])
            return 2 - sum(value == end for end in ends)
        case CS.Constant():
            return 0
    if isinstance(value, int):
        return 2 - (value == hyperparameter.lower) - (value == hyperparameter.upper)
    return None


@given(configspaces(forbidden=False), seeds)
def test_every_active_hyperparameter_has_the_neighbours_of_its_kind(definition: Any, rng: Any) -> None:
    space = Space(definition)
    X = sampled(space, rng, 3)
    found, origin = space.neighbours(X)
    for row, config in enumerate(space.decode(X)):
        changed = Counter(space.names[int(np.flatnonzero(X[row] != y)[0])] for y in found[origin == row])
        for name, value in config.items():
            n = expected_neighbours(definition[name], value)
            assert changed[name] == n if n is not None else changed[name] in (1, 2)


def slow_branch(definition: CS.ConfigurationSpace, config: Config) -> tuple[Any, ...]:
    """A branch by its words: values of active categorical parents, children activated by a range."""
    leaves: list[Any] = [
        leaf
        for condition in definition.conditions
        for leaf in (condition.components if hasattr(condition, "components") else [condition])
    ]
    kinds = (CS.CategoricalHyperparameter, CS.Constant)
    parents = {leaf.parent.name for leaf in leaves if isinstance(leaf.parent, kinds)}
    ranged = {leaf.child.name for leaf in leaves if not isinstance(leaf.parent, kinds)}
    return (
        tuple((name, config[name]) for name in sorted(parents) if name in config),
        tuple(sorted(name for name in ranged if name in config)),
    )


@given(configspaces(), seeds)
def test_rows_are_imputed_and_labelled_at_once_as_one_after_the_other(
    definition: CS.ConfigurationSpace, rng: Any
) -> None:
    space = Space(definition)
    X = sampled(space, rng)
    for to in ("middle", "default"):
        rows, labels = space.imputed_branches(X, to=to)
        np.testing.assert_array_equal(rows, space.impute(X, to=to))
        np.testing.assert_array_equal(labels, space.branches(X))


@given(configspaces(), seeds)
def test_branches_are_a_partition_by_comparability(definition: CS.ConfigurationSpace, rng: Any) -> None:
    space = Space(definition)
    X = sampled(space, rng, 30)
    labels = space.branches(X)
    keys = [slow_branch(definition, config) for config in space.decode(X)]
    for i in range(len(X)):
        for j in range(i):
            assert (labels[i] == labels[j]) == (keys[i] == keys[j])
    one_by_one = np.concatenate([space.branches(x[None]) for x in X])
    assert (one_by_one == labels).all()  # a label does not depend on the other rows


@given(configspaces(kinds=FEW, most=4), seeds)
def test_the_grid_of_a_finite_space_lists_each_configuration_once(definition: Any, rng: Any) -> None:
    space = Space(definition)
    everything = space.all
    assert everything is not None
    configs = space.decode(everything)
    assert len(set(configs)) == len(configs)
    assert set(space.decode(sampled(space, rng))) <= set(configs)


def figure_1() -> CS.ConfigurationSpace:
    """Lévesque et al. 2017, Fig. 1: each level is active for one value of the level before."""
    space = CS.ConfigurationSpace()
    first = CS.CategoricalHyperparameter("g1", ["a", "b"])
    second = CS.CategoricalHyperparameter("g2", ["c", "d"])
    leaves = [CS.UniformFloatHyperparameter(f"g{i}", 0.0, 1.0) for i in (3, 4, 5, 6)]
    space.add(first, second, *leaves)
    space.add(CS.EqualsCondition(second, first, "a"))
    space.add(CS.EqualsCondition(leaves[0], first, "b"), CS.EqualsCondition(leaves[1], first, "b"))
    space.add(CS.EqualsCondition(leaves[2], second, "c"), CS.EqualsCondition(leaves[3], second, "d"))
    return space


def test_nested_conditions_of_the_papers_figure() -> None:
    space = Space(figure_1())
    configs = space.decode(space.sample(300, np.random.default_rng(0)))
    shapes = {tuple(sorted(config)) for config in configs}
    assert shapes == {("g1", "g2", "g5"), ("g1", "g2", "g6"), ("g1", "g3", "g4")}
    assert len(np.unique(space.branches(space.encode(configs)))) == 3


def test_learners_without_hyperparameters_are_different_branches() -> None:
    definition = CS.ConfigurationSpace()
    learner = CS.CategoricalHyperparameter("learner", ["gnb", "lda", "svm"])
    c = CS.UniformFloatHyperparameter("C", 0.1, 1.0)
    definition.add(learner, c, CS.EqualsCondition(c, learner, "svm"))
    space = Space(definition)
    X = space.encode([{"learner": "gnb"}, {"learner": "lda"}, {"learner": "svm", "C": 0.5}])
    assert len(set(space.branches(X))) == 3


def test_sampling_is_uniform_in_values_and_logarithms() -> None:
    definition = CS.ConfigurationSpace()
    definition.add(
        CS.UniformIntegerHyperparameter("n", 1, 4),
        CS.UniformFloatHyperparameter("c", 1e-5, 1e5, log=True),
        CS.CategoricalHyperparameter("k", ["a", "b", "c"], weights=[0.6, 0.3, 0.1]),
        CS.NormalFloatHyperparameter("z", 1.0, 2.0, lower=-4.0, upper=9.0),
    )
    space = Space(definition)
    configs = space.decode(space.sample(4000, np.random.default_rng(1)))
    counts = Counter(config["n"] for config in configs)
    assert stats.chisquare([counts[i] for i in (1, 2, 3, 4)]).pvalue > 1e-3
    logs = np.log10([config["c"] for config in configs])
    assert stats.kstest(logs, stats.uniform(-5, 10).cdf).pvalue > 1e-3
    letters = Counter(config["k"] for config in configs)
    assert stats.chisquare([letters[k] for k in "abc"], [2400, 1200, 400]).pvalue > 1e-3
    normal = stats.truncnorm((-4 - 1) / 2, (9 - 1) / 2, loc=1, scale=2)
    assert stats.kstest([config["z"] for config in configs], normal.cdf).pvalue > 1e-3


def test_log_integers_round_to_the_nearest() -> None:
    definition = CS.ConfigurationSpace()
    definition.add(CS.UniformIntegerHyperparameter("n", 1, 1000, log=True))
    space = Space(definition)
    U = np.linspace(0, 1, 2001)[:, None]
    low, high = math.log(0.5), math.log(1000.5)
    expected = [min(max(round(math.exp(low + u * (high - low))), 1), 1000) for u in U[:, 0]]
    assert [config["n"] for config in space.decode(U)] == expected


def test_categories_have_equal_shares_of_the_relaxed_axis() -> None:
    space = Space({"k": ["a", "b", "c"]})
    assert [c["k"] for c in space.decode([[0.0], [0.33], [0.34], [0.66], [0.67], [1.0]])] == list("aabbcc")


def test_forbidden_clauses_and_relations_are_respected() -> None:
    definition = CS.ConfigurationSpace()
    a, b = CS.UniformIntegerHyperparameter("a", 1, 9, default_value=1), CS.UniformIntegerHyperparameter("b", 1, 9)
    k = CS.CategoricalHyperparameter("k", ["x", "y"])
    definition.add(a, b, k)
    definition.add(
        CS.ForbiddenGreaterThanRelation(a, b),
        CS.ForbiddenAndConjunction(CS.ForbiddenEqualsClause(k, "y"), CS.ForbiddenInClause(a, [2, 3])),
    )
    space = Space(definition)
    configs = space.decode(space.sample(500, np.random.default_rng(0)))
    assert all(c["a"] <= c["b"] and not (c["k"] == "y" and c["a"] in (2, 3)) for c in configs)
    assert len(space.all if space.all is not None else []) == 45 + 45 - 8 - 7
    with pytest.raises(SpaceError, match="forbidden"):
        space.encode([{"a": 9, "b": 1, "k": "x"}])


def test_a_relation_between_choices_compares_values() -> None:
    definition = CS.ConfigurationSpace()
    a = CS.CategoricalHyperparameter("a", ["x", "y", "z"])
    b = CS.CategoricalHyperparameter("b", ["z", "x", "w"])
    definition.add(a, b, CS.ForbiddenEqualsRelation(a, b))
    configs = Space(definition).decode(Space(definition).sample(200, np.random.default_rng(0)))
    assert all(c["a"] != c["b"] for c in configs)


def test_a_space_that_forbids_everything_says_so() -> None:
    definition = CS.ConfigurationSpace()
    a = CS.UniformIntegerHyperparameter("a", 0, 10**6, default_value=7)
    definition.add(a, CS.ForbiddenGreaterThanClause(a, 7), CS.ForbiddenLessThanClause(a, 7))
    with pytest.raises(SpaceError, match="Loosen them"):
        Space(definition).sample(1, np.random.default_rng(0))


def test_a_million_branches_still_get_labels() -> None:
    definition = CS.ConfigurationSpace()
    for i in range(70):
        parent = CS.CategoricalHyperparameter(f"p{i}", ["a", "b", "c"])
        child = CS.UniformFloatHyperparameter(f"c{i}", 0, 1)
        definition.add(parent, child, CS.EqualsCondition(child, parent, "a"))
    space = Space(definition)
    X = space.sample(200, np.random.default_rng(0))
    assert len(np.unique(space.branches(X))) == 200
    assert (space.branches(X) == space.branches(X.copy())).all()


class TestBadInput:
    def test_no_hyperparameters(self) -> None:
        with pytest.raises(SpaceError, match="at least one"):
            Space({})

    def test_a_hyperparameter_without_values(self) -> None:
        with pytest.raises(SpaceError, match="at least one value"):
            Space({"a": []})

    def test_one_value_is_a_space(self) -> None:
        space = Space({"a": [3]})
        assert space.decode(space.sample(2, np.random.default_rng(0))) == [{"a": 3}, {"a": 3}]
        assert len(space.neighbours([[0.5]])[0]) == 0

    def test_a_cycle(self) -> None:
        definition = CS.ConfigurationSpace()
        definition.add(CS.CategoricalHyperparameter("a", ["x", "y"]), CS.CategoricalHyperparameter("b", ["x", "y"]))
        definition.add(CS.EqualsCondition(definition["b"], definition["a"], "x"))
        text = json.loads(Space(definition).to_json())
        text["conditions"].append({"type": "EQ", "child": "a", "parent": "b", "value": "x"})
        with pytest.raises(SpaceError, match="Cycl"):
            Space.from_json(json.dumps(text))

    def test_an_unknown_hyperparameter_has_near_matches(self) -> None:
        with pytest.raises(UnknownName, match="Did you mean 'gamma'"):
            Space({"gamma": [1], "C": [1]}).encode([{"gama": 1, "C": 1}])

    @pytest.mark.parametrize("value", ["x", 0, 11, 2.5, None, math.nan, math.inf])
    def test_a_value_outside(self, value: object) -> None:
        with pytest.raises(SpaceError, match="must be an int in"):
            Space({"n": stats.randint(1, 11)}).encode([{"n": value}])

    def test_a_missing_and_an_inactive_hyperparameter(self) -> None:
        space = Space(figure_1())
        with pytest.raises(SpaceError, match="without g5"):
            space.encode([{"g1": "a", "g2": "c"}])
        with pytest.raises(SpaceError, match="g3 cannot be active"):
            space.encode([{"g1": "a", "g2": "c", "g5": 0.1, "g3": 0.1}])

    @pytest.mark.parametrize("X", [[[0.1, math.nan]], [[0.1]], [0.1, 0.2]])
    def test_coordinates_of_the_wrong_kind(self, X: Any) -> None:
        with pytest.raises(SpaceError, match="Coordinates"):
            Space({"a": [1, 2], "b": [1, 2]}).decode(X)

    @pytest.mark.parametrize("thing", [3, "nonsense", None, [1]])
    def test_not_a_space(self, thing: Any) -> None:
        with pytest.raises(SpaceError, match="A space must be"):
            Space(thing)

    def test_unreadable_json(self) -> None:
        with pytest.raises(SpaceError, match="cannot be read"):
            Space.from_json("{}")

    def test_a_grid_too_large(self) -> None:
        with pytest.raises(SpaceError, match="fewer levels"):
            Space({f"x{i}": stats.uniform(0, 1) for i in range(8)}).grid(10)


def test_a_config_cannot_be_changed_and_is_a_key() -> None:
    config = Config({"a": 1, "b": [1, 2]})
    with pytest.raises(AttributeError):
        config.a = 2
    with pytest.raises(TypeError):
        config["a"] = 2  # type: ignore[index]
    assert {config: 1}[Config({"b": [1, 2], "a": 1})] == 1


@given(definition=configspaces(kinds=["real", "log", "normal", "choice"]), rng=seeds)
def test_reals_together_decode_as_each_by_itself(definition: CS.ConfigurationSpace, rng: Any) -> None:
    reals = [
        h for h in definition.values() if isinstance(h, CS.UniformFloatHyperparameter | CS.NormalFloatHyperparameter)
    ]
    assume(reals)
    alone = CS.ConfigurationSpace()
    alone.add(*reals)
    space = Space(alone)
    X = np.vstack([np.zeros(len(space)), np.ones(len(space)), rng.random((20, len(space)))])
    expected = zip(*(column.values(X[:, j]) for j, column in enumerate(space.columns)), strict=True)
    assert [tuple(config.values()) for config in space.decode(X)] == list(expected)
    assert space.decode(X[3:4]) == space.decode(X)[3:4]
