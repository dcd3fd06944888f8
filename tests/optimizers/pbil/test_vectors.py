"""Which probability vectors a space has, and what each chooses from."""

from typing import Any

import ConfigSpace as CS
import numpy as np
import pytest
from scipy.stats import randint, uniform

from comitia import METHODS, Space, get_space
from comitia.errors import ChoiceError
from comitia.optimizers import PBIL
from comitia.optimizers.pbil.vectors import values_that_only_open_a_choice


def test_numbers_are_cut_into_cells_that_stand_for_their_centres() -> None:
    space = Space({"x": uniform(0, 10), "n": randint(0, 100)})
    vectors = {vector.name: vector for vector in PBIL(space, bins=5).vectors}
    assert [float(label) for label in vectors["x"].labels] == pytest.approx([1, 3, 5, 7, 9])
    definition = CS.ConfigurationSpace({"k": (1, 100), "few": (1, 3)})
    vectors = {vector.name: vector for vector in PBIL(Space(definition), bins=5).vectors}
    assert vectors["k"].labels == ("11", "31", "51", "71", "91")
    assert vectors["few"].labels == ("1", "2", "3")


def test_a_number_may_say_how_many_values_it_has() -> None:
    """From one end to the other at equal distances on its scale; where that is too many, cells."""
    definition = CS.ConfigurationSpace()
    definition.add(
        CS.UniformFloatHyperparameter("x", 0.1, 1.0, meta={"components": 10}),
        CS.UniformFloatHyperparameter("log", 1e-3, 10.0, log=True, meta={"components": 5}),
        CS.UniformIntegerHyperparameter("n", 1, 9, meta={"components": 3}),
        CS.UniformIntegerHyperparameter("few", 1, 2, meta={"components": 3}),
        CS.UniformFloatHyperparameter("other", 0.0, 1.0),
    )
    space = Space(definition)
    labels = {v.name: [float(label) for label in v.labels] for v in PBIL(space, bins=2).vectors}
    assert labels["x"] == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert labels["log"] == [0.001, 0.01, 0.1, 1, 10]
    assert labels["n"] == [1, 5, 9]
    assert labels["few"] == [1, 2]
    assert labels["other"] == [0.25, 0.75]
    labels = {v.name: [float(label) for label in v.labels] for v in PBIL(space, most=3).vectors}
    assert labels["x"] == pytest.approx([0.25, 0.55, 0.85])
    assert labels["n"] == [1, 5, 9]
    assert {name: len(values) for name, values in labels.items()} == {"x": 3, "log": 3, "n": 3, "few": 2, "other": 3}


@pytest.mark.parametrize("components", [0, 2.5, "many"])
def test_a_bad_number_of_components_is_refused(components: Any) -> None:
    definition = CS.ConfigurationSpace()
    definition.add(CS.UniformFloatHyperparameter("x", 0, 1, meta={"components": components}))
    with pytest.raises(ChoiceError, match="'components' parameter of the meta of 'x' must be an int >= 1"):
        PBIL(Space(definition))


PRINTED = {
    "ensemble": 7,
    # Table 1
    "rc:iterations": 63,
    "ad:resample": 2,
    "ad:percent": 51,
    "ad:iterations": 127,
    "ba:percent": 91,
    "ba:iterations": 127,
    "rf:iterations": 255,
    "rf:features": 32,
    "rf:depth": 20,
    "st:members": 10,
    "vt:rule": 6,
    "vt:members": 10,
    # Table 2
    "rc:base": 9,
    "ad:base": 9,
    "ba:base": 9,
    "st:base": 9,
    "vt:base": 9,
    "ne:base": 9,
    # Table 3
    "dt:measure": 4,
    "dt:nearest": 2,
    "dt:search": 2,
    "ibk:k": 64,
    "ibk:validated": 2,
    "ibk:similarity": 2,
    "ibk:inverse": 2,
    "j48:unpruned": 2,
    "j48:laplace": 2,
    "j48:min_leaf": 64,
    "j48:pruning": 95,
    "kst:blend": 100,
    "kst:automatic": 2,
    "mlp:rate": 10,
    "mlp:momentum": 10,
    "mlp:hidden": 4,
    "mlp:decay": 2,
    "rt:min_leaf": 64,
    "rt:features": 33,
    "rt:depth": 21,
    # Table 4
    **{f"{kernel}:C": 11 for kernel in ("default", "npoly", "poly", "puk", "rbf")},
    **{f"{kernel}:scaling": 3 for kernel in ("default", "npoly", "poly", "puk", "rbf")},
    **{f"{kernel}:logistic": 2 for kernel in ("default", "npoly", "poly", "puk", "rbf")},
    "npoly:exponent": 49,
    "npoly:lower_order": 2,
    "poly:exponent": 49,
    "poly:lower_order": 2,
    "puk:sigma": 100,
    "puk:omega": 10,
    "rbf:gamma": 1000,
}
"""Components of the vectors of Xavier-Júnior et al. 2020 (Tables 1 to 4, "# Comp. in PV")."""
CHANGED = {"st:folds": 9, "dt:folds": 4, "smo:kernel": 5, "net:structure": 2, "nb:density": 3}
"""docs/methods/pbil.md says why: 1 fold is no validation, slips of the print, other structures and densities."""


def test_components_are_those_of_tables_1_to_4() -> None:
    space = get_space("ensembles").space
    vectors = {vector.name: vector for vector in METHODS["pbil-v2"].make_optimizer(space).vectors}  # type: ignore[attr-defined]
    assert {name: len(vector.labels) for name, vector in vectors.items()} == PRINTED | CHANGED
    exponents = [float(label) for label in vectors["poly:exponent"].labels]
    assert exponents == pytest.approx(np.arange(2, 51) / 10)  # 1, 2, 3, ... are among them
    assert [float(label) for label in vectors["poly:C"].labels] == pytest.approx(np.arange(5, 16) / 10)
    assert [float(label) for label in vectors["rbf:gamma"].labels] == pytest.approx(np.arange(1, 1001) / 1000)
    floor = {v.name: len(v.labels) for v in METHODS["pbil-floor"].make_optimizer(space).vectors}  # type: ignore[attr-defined]
    assert floor == {name: min(n, 16) for name, n in (PRINTED | CHANGED).items()}


def test_weights_of_a_choice_are_where_it_starts() -> None:
    definition = CS.ConfigurationSpace()
    definition.add(CS.CategoricalHyperparameter("a", ["x", "y"], weights=[1, 3]))
    [vector] = PBIL(Space(definition)).vectors
    assert vector.start.tolist() == [0.25, 0.75]


def test_the_first_version_has_one_first_level() -> None:
    """Ensembles and single classifiers compete directly (Xavier-Júnior et al. 2020, §4.4): six and nine of them."""
    space = get_space("ensembles").space
    flat = {vector.name: vector for vector in PBIL(space, flat=True).vectors}
    assert flat["ensemble"].labels == (
        *("random-committee", "adaboost", "bagging", "random-forest", "stacking", "voting"),
        *("net", "nb", "mlp", "smo", "ibk", "kst", "j48", "dt", "rt"),
    )
    assert flat["ensemble"].start == pytest.approx(np.full(15, 1 / 15))
    assert "ne:base" not in flat
    deep = {vector.name: vector for vector in PBIL(space).vectors}
    assert len(deep["ensemble"].labels) == 7
    assert len(deep["ne:base"].labels) == 9
    assert set(deep) - set(flat) == {"ne:base"}
    assert values_that_only_open_a_choice(get_space("sklearn-cash").space) == {}
