"""Spaces and configurations survive the way to another process and back."""

import json
import sys
from typing import Any

import ConfigSpace as CS
import numpy as np
import pytest
from scipy import stats

from comitia import Space, get_space
from comitia.bench.peers.registry import SCRIPTS
from comitia.bench.peers.wire import describe, from_wire, to_wire
from comitia.errors import SpaceError, UnknownName


def relations() -> Space:
    definition = CS.ConfigurationSpace()
    a, b = CS.UniformIntegerHyperparameter("a", 1, 64, log=True), CS.UniformIntegerHyperparameter("b", 1, 64)
    kind = CS.OrdinalHyperparameter("kind", ["low", "middle", "high"])
    c = CS.UniformFloatHyperparameter("c", 1e-4, 1e4, log=True)
    d = CS.UniformFloatHyperparameter("d", -1.0, 1.0)
    definition.add(a, b, kind, c, d)
    definition.add(CS.OrConjunction(CS.GreaterThanCondition(c, a, 8), CS.InCondition(c, kind, ["low", "high"])))
    definition.add(CS.AndConjunction(CS.NotEqualsCondition(d, kind, "low"), CS.LessThanCondition(d, b, 32)))
    definition.add(CS.ForbiddenGreaterThanRelation(a, b))
    return Space(definition)


SPACES = {
    "relations": relations,
    "dict": lambda: Space({"x": stats.norm(0, 1), "y": [None, True, 1, "a"], "z": [min, max]}),
    "svm-kernels": lambda: get_space("svm-kernels").space,
    "sklearn-cash": lambda: get_space("sklearn-cash").space,
}


@pytest.fixture(params=sorted(SPACES))
def space(request: pytest.FixtureRequest) -> Space:
    return SPACES[request.param]()


@pytest.fixture
def protocol(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    import protocol  # type: ignore[import-not-found]

    yield protocol
    sys.modules.pop("protocol")


def test_a_configuration_survives_the_way_there_and_back(space: Space) -> None:
    X = space.sample(50, np.random.default_rng(0))
    wire = json.loads(json.dumps(to_wire(space, X)))
    assert space.decode(from_wire(space, wire)) == space.decode(X)


def test_a_flat_one_keeps_inactive_coordinates(space: Space) -> None:
    X = space.sample(50, np.random.default_rng(0))
    wire = json.loads(json.dumps(to_wire(space, X, flat=True)))
    assert all(len(config) == len(space) for config in wire)
    assert np.allclose(from_wire(space, wire, flat=True), X, atol=1e-8)


def test_a_script_finds_the_same_hyperparameters_active_and_the_same_points_forbidden(
    space: Space, protocol: Any
) -> None:
    X = space.from_uniform(np.random.default_rng(0).random((200, len(space))))
    there = protocol.Space(json.loads(json.dumps(describe(space))))
    flat = to_wire(space, X, flat=True)
    found = [there.configure(lambda h, values=values: values[h["name"]]) for values in flat]
    assert found == to_wire(space, X)
    assert [not there.is_forbidden(config) for config in found] == space.is_allowed(X).tolist()


def test_what_is_not_of_the_space_is_refused() -> None:
    space = get_space("svm-rbf").space
    with pytest.raises(SpaceError, match="number in"):
        from_wire(space, [{"C": 1e9, "gamma": 1.0}])
    with pytest.raises(SpaceError, match="without gamma"):
        from_wire(space, [{"C": 1.0}])
    with pytest.raises(SpaceError, match="flat"):
        from_wire(space, [{"C": 1.0}], flat=True)
    with pytest.raises(UnknownName):
        from_wire(space, [{"C": 1.0, "gama": 1.0}])
    with pytest.raises(SpaceError):
        from_wire(get_space("sklearn-cash").space, [{"learner": 17}])


def test_a_hair_outside_is_inside() -> None:
    space = get_space("svm-rbf").space
    [row] = from_wire(space, [{"C": 1e5 * (1 + 1e-12), "gamma": 1.0}])
    assert row[0] == 1.0
