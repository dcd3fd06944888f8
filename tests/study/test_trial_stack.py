"""An executor that gathers trials: of one study, or of several in lockstep."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from comitia import FunctionEvaluator, Study, TrialStack, lockstep
from comitia.errors import ChoiceError
from tests.image_toys import NearestMean, evaluator
from tests.study.examples import SPACE, history_of, square

PATIENT = 60.0
"""Seconds: a test that waited so long would be noticed."""


def test_one_study_has_as_many_trials_under_way_as_fit() -> None:
    learner = NearestMean()
    with TrialStack(4) as stack:
        study = Study("cnn", "rs", seed=0).run(evaluator(learner), n_trials=8, executor=stack)
    assert study.history.n_finished == 8
    assert learner.sizes == [4, 4]


def test_a_study_on_a_stack_is_the_study_without_it() -> None:
    with TrialStack(1) as stack:
        on_stack = Study("cnn", "eo-sqm", seed=2).run(evaluator(), n_trials=6, executor=stack)
    alone = Study("cnn", "eo-sqm", seed=2).run(evaluator(), n_trials=6)
    assert history_of(on_stack) == history_of(alone)


def test_trials_that_are_too_few_are_evaluated_after_a_while() -> None:
    with TrialStack(4, patience=0.01) as stack:
        study = Study("cnn", "rs", seed=0).run(evaluator(), n_trials=3, executor=stack, n_jobs=1)
    assert study.history.n_finished == 3
    assert stack.sizes == [1, 1, 1]


def runs(stack: TrialStack, shared: Any, n_trials: list[int], found: dict[int, Study]) -> list[Callable[[], object]]:
    def run(seed: int) -> None:
        study = Study("cnn", "rs", seed=seed)
        found[seed] = study.run(shared, n_trials=n_trials[seed], executor=stack, n_jobs=1)

    return [lambda seed=seed: run(seed) for seed in range(len(n_trials))]  # type: ignore[misc]


def test_studies_in_lockstep_are_evaluated_together_and_are_what_they_are_alone() -> None:
    found: dict[int, Study] = {}
    shared = evaluator()
    with TrialStack(3, patience=PATIENT) as stack:
        lockstep(stack, runs(stack, shared, [4, 4, 4], found))
    assert stack.sizes == [3, 3, 3, 3]
    for seed, study in found.items():
        assert history_of(study) == history_of(Study("cnn", "rs", seed=seed).run(shared, n_trials=4))


def test_a_study_that_has_ended_is_not_waited_for() -> None:
    found: dict[int, Study] = {}
    with TrialStack(2, patience=PATIENT) as stack:
        lockstep(stack, runs(stack, evaluator(), [2, 5], found))
    assert sorted(stack.sizes) == [1, 1, 1, 2, 2]


def test_an_error_of_one_run_is_raised_when_the_others_have_ended() -> None:
    found: dict[int, Study] = {}

    def wrong() -> None:
        raise LookupError("of one run")

    with TrialStack(2, patience=PATIENT) as stack, pytest.raises(LookupError, match="of one run"):
        lockstep(stack, [wrong, *runs(stack, evaluator(), [3], found)])
    assert found[0].history.n_finished == 3


def test_a_study_in_a_thread_resumes_from_its_file(tmp_path: Path) -> None:
    def run(n_trials: int) -> list[Any]:
        with (
            TrialStack(1) as stack,
            Study("cnn", "bo-post[steps=9]", seed=5, storage=tmp_path / "study.db") as study,
        ):
            study.run(evaluator(), n_trials=n_trials, executor=stack, n_jobs=1)
            return history_of(study)

    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(run(4)))
    thread.start()
    thread.join()
    assert run(7)[:4] == results[0]
    assert len(run(7)) == 7


def test_a_mistake_of_the_evaluator_is_a_failed_trial() -> None:
    class Wrong(NearestMean):
        def __call__(self, *arguments: Any) -> Any:
            return []

    with TrialStack(2) as stack:
        study = Study("cnn", "rs", seed=0).run(evaluator(Wrong()), n_trials=2, executor=stack)
    assert [observation.status for observation in study.history.observations()] == ["failed", "failed"]


def test_an_evaluator_that_works_one_by_one_is_refused() -> None:
    with TrialStack(2) as stack, pytest.raises(ChoiceError, match="together"):
        Study(SPACE, "rs").run(FunctionEvaluator(square), n_trials=2, executor=stack)


@pytest.mark.parametrize(("options", "message"), [({"size": 0}, "size"), ({"size": 1, "patience": -1}, "patience")])
def test_numbers_that_make_no_sense_are_refused(options: Any, message: str) -> None:
    with pytest.raises(ChoiceError, match=message):
        TrialStack(**options)
