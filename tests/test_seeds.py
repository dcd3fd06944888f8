"""Named random streams."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from comitia import Seeds
from comitia.errors import ChoiceError


def test_a_stream_is_the_same_on_every_machine() -> None:
    """Literals written once: a change of them is a change of every recorded study."""
    assert Seeds(0)("splits", 3).integers(1000, size=4).tolist() == [520, 953, 505, 483]
    assert Seeds(0).integer("learner", 1, 2) == 865999054


@given(st.integers(0, 2**63), st.text(), st.lists(st.integers(0, 2**31), max_size=3))
def test_a_stream_starts_again_each_time(seed: int, name: str, keys: list[int]) -> None:
    seeds = Seeds(seed)
    assert seeds(name, *keys).random() == pickle.loads(pickle.dumps(seeds))(name, *keys).random()


def test_names_keys_and_seeds_all_make_a_difference() -> None:
    draws = [
        Seeds(0)("a").random(),
        Seeds(0)("b").random(),
        Seeds(0)("a", 0).random(),
        Seeds(0)("a", 1).random(),
        Seeds(0)("a", 1, 0).random(),
        Seeds(1)("a").random(),
    ]
    assert len(set(draws)) == len(draws)


@pytest.mark.parametrize("seed", [-1, 1.5, "0", None, True])
def test_a_seed_is_a_non_negative_integer(seed: object) -> None:
    with pytest.raises(ChoiceError, match="seed"):
        Seeds(seed)  # type: ignore[arg-type]


def test_numpy_integers_are_seeds() -> None:
    assert Seeds(np.int64(3)) == Seeds(3)  # type: ignore[arg-type]
