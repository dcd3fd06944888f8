"""Known configurations come first, then another optimizer."""

from collections.abc import Mapping, Sequence
from functools import partial

from scipy import stats

from comitia import FunctionEvaluator, Method, Space, Study
from comitia.optimizers import CMAES, RandomSearch
from comitia.optimizers.known_first import KnownFirst

SPACE = Space({"x": stats.uniform(0, 1), "kind": ["a", "b"]})
KNOWN: tuple[dict[str, object], ...] = ({"x": 0.25, "kind": "a"}, {"x": 0.75, "kind": "b"}, {"x": 0.5, "kind": "a"})
METHOD = Method("known", partial(KnownFirst, known=lambda space: KNOWN, then=RandomSearch), "Three known ones first.")


def configs_of(study: Study) -> Sequence[Mapping[str, object]]:
    return [study.history.trial(number).config for number in range(len(study.history))]


def test_known_configurations_come_first_and_in_their_order() -> None:
    study = Study(SPACE, METHOD, seed=0).run(FunctionEvaluator(lambda c: c["x"]), n_trials=6)
    assert configs_of(study)[:3] == list(KNOWN)


def test_the_rest_is_what_the_other_optimizer_suggests_after_the_same_trials() -> None:
    study = Study(SPACE, METHOD, seed=0).run(FunctionEvaluator(lambda c: c["x"]), n_trials=6)
    other = Study(SPACE, "rs", seed=0)
    for config in KNOWN:
        other.enqueue(config)
    other.run(FunctionEvaluator(lambda c: c["x"]), n_trials=6)
    assert configs_of(study) == configs_of(other)


def test_what_was_enqueued_by_hand_is_not_asked_again() -> None:
    study = Study(SPACE, METHOD, seed=0)
    study.enqueue(KNOWN[1])
    assert [trial.config for trial in study.ask(5)] == [KNOWN[1], KNOWN[0], KNOWN[2]]
    assert study.ask()[0].config not in KNOWN


def test_a_space_of_which_nothing_is_known_is_left_to_the_other_optimizer() -> None:
    optimizer = KnownFirst(SPACE, known=lambda space: (), then=CMAES)
    assert optimizer.needs == CMAES(SPACE).needs
    method = Method("unknown", partial(KnownFirst, known=lambda space: (), then=RandomSearch), "Nothing known.")
    assert Study(SPACE, method, seed=0).ask()[0].config == Study(SPACE, "rs", seed=0).ask()[0].config
