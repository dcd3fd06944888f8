"""Convolutional networks: what is said without PyTorch, and, with it, that a stack is as good as its networks alone."""

import pickle
import re
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from comitia import ImageEvaluator, Networks, Seeds, Study, TrialStack, Workers, get_space
from comitia.arrays import AnyArray
from comitia.errors import ChoiceError, TrialTimeout
from tests.image_toys import TEST, TRAINING, VALIDATION, trial

ROOT = Path(__file__).parents[2]
SPACE = get_space("cnn")
X, CODES = TRAINING[0], np.unique(TRAINING[1], return_inverse=True)[1]
SIZES = [3, 1, 7, 3, 4, 2]


def tiny(**options: Any) -> Networks:
    return Networks(**{"epochs": 4, "batch": 16, "filters": (4, 4, 8), "device": "cpu", "at_a_time": 99, **options})


def configs(sizes: list[int]) -> list[Any]:
    default = dict(SPACE.space.default)
    rates = np.geomspace(1e-3, 5e-2, len(sizes))
    return [
        {
            **default,
            "norm_size": size,
            "conv_rate": rate,
            "softmax_rate": rate,
            "norm_scale": 0.5,
            "softmax_decay": 0.01,
        }
        for size, rate in zip(sizes, rates.tolist(), strict=True)
    ]


def answers(networks: Networks, some: list[Any], seeds: list[int]) -> AnyArray:
    return np.array([found[0] for found in networks(some, seeds, X, CODES, 3, [VALIDATION[0]])])


def test_the_space_has_the_seven_hyperparameters_of_both_papers() -> None:
    assert SPACE.learns_from == "images"
    assert set(SPACE.space.names) == {
        *("conv_rate", "softmax_rate", "conv_decay", "softmax_decay"),
        *("norm_size", "norm_power", "norm_scale"),
    }


@pytest.mark.skipif(find_spec("torch") is not None, reason="PyTorch is installed")
def test_without_pytorch_networks_say_what_to_install() -> None:
    with pytest.raises(ChoiceError, match=r"comitia\[images\]"):
        Networks()


def counted(monkeypatch: pytest.MonkeyPatch, most: int = 99) -> list[int]:
    """Return a list that will have the sizes of stacks; larger ones than `most` find no memory."""
    from comitia.learners.cnn import stacked

    train, sizes = stacked.train, []

    def limited(recipe: Any, some: Any, *rest: Any) -> Any:
        sizes.append(len(some))
        if len(some) > most:
            raise MemoryError
        return train(recipe, some, *rest)

    monkeypatch.setattr(stacked, "train", limited)
    return sizes


@pytest.mark.images
class TestNetworks:
    def test_networks_in_a_stack_are_the_same_as_alone_within_float_arithmetic(self) -> None:
        some, seeds = configs(SIZES), list(range(len(SIZES)))
        together = answers(tiny(), some, seeds)
        for i, config in enumerate(some):
            alone = answers(tiny(), [config], [seeds[i]])[0]
            np.testing.assert_allclose(together[i], alone, atol=1e-4)
            np.testing.assert_array_equal(together[i].argmax(axis=1), alone.argmax(axis=1))

    def test_a_processor_trains_one_at_a_time_unless_told_otherwise(self, monkeypatch: pytest.MonkeyPatch) -> None:
        sizes = counted(monkeypatch)
        for at_a_time in (None, 2, 99):
            answers(tiny(epochs=1, at_a_time=at_a_time), configs([3, 1, 2]), [0, 1, 2])
        assert sizes == [1, 1, 1, 2, 1, 3]

    def test_the_normalisation_is_that_of_cuda_convnet(self) -> None:
        """Against a slow and plain version: windows of even size begin half a size before."""
        import torch

        from comitia.learners.cnn.stacked import _norms

        u = np.random.default_rng(0).normal(size=(2, 4, 5, 5)).astype(np.float32)
        some = [
            {"norm_size": 2, "norm_scale": 0.7, "norm_power": 0.75},
            {"norm_size": 3, "norm_scale": 2, "norm_power": 1.5},
        ]
        expected = np.empty_like(u)
        for channel in range(4):
            size, scale, power = some[channel // 2].values()
            for i in range(5):
                for j in range(5):
                    rows, columns = (slice(max(0, k - size // 2), k - size // 2 + size) for k in (i, j))
                    mean = (u[:, channel, rows, columns] ** 2).sum(axis=(1, 2)) / size**2
                    expected[:, channel, i, j] = u[:, channel, i, j] / (1 + scale * mean) ** power
        np.testing.assert_allclose(_norms(some)(torch.from_numpy(u)).numpy(), expected, rtol=1e-5)  # type: ignore[arg-type]

    def test_a_network_learns_and_is_repeated_by_its_seed(self) -> None:
        p = answers(tiny(epochs=30, batch=8), configs([3, 3]), [0, 0])
        np.testing.assert_array_equal(p[:1], answers(tiny(epochs=30, batch=8), configs([3, 3])[:1], [0]))
        truth = np.unique(VALIDATION[1], return_inverse=True)[1]
        assert (p[1].argmax(axis=1) != truth).mean() < 0.2
        assert not np.array_equal(p[1], answers(tiny(epochs=30, batch=8), configs([3, 3])[1:], [1])[0])

    def test_a_decay_pulls_weights_to_zero(self) -> None:
        few, many = ({**configs([3])[0], "softmax_decay": decay} for decay in (1e-3, 10.0))
        stack = tiny().train([few, many], [0, 0], X, CODES, 3)  # type: ignore[list-item]
        sizes = np.array([float((stack.layers[6][i] ** 2).sum()) for i in range(2)])
        assert sizes[1] < 0.9 * sizes[0]

    def test_a_stack_is_ended_at_its_deadline(self) -> None:
        with pytest.raises(TrialTimeout, match="epoch 1 of 4"):
            tiny().train(configs([3]), [0], X, CODES, 3, deadline=0.0)
        e = ImageEvaluator(tiny(), TRAINING, VALIDATION, trial_time_limit=1e-9)
        assert e(trial(), Seeds(0))[0].status == "timeout"

    def test_networks_that_do_not_fit_together_are_trained_in_halves(self, monkeypatch: pytest.MonkeyPatch) -> None:
        expected = answers(tiny(epochs=1), configs([3, 1, 2, 2]), [0, 1, 2, 3])
        sizes = counted(monkeypatch, most=2)
        found = answers(tiny(epochs=1), configs([3, 1, 2, 2]), [0, 1, 2, 3])
        assert sizes == [4, 2, 2]
        np.testing.assert_allclose(found, expected, atol=1e-5)

    def test_the_estimator_is_repeated_and_pickles(self) -> None:
        model = SPACE.build(SPACE.space.default, 7).set_params(networks=tiny()).fit(*TRAINING)  # type: ignore[attr-defined]
        p = model.predict_proba(TEST[0])
        np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-5)
        assert set(model.predict(TEST[0])) <= set(model.classes_)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(TEST[0]), p)

    def test_whatever_the_space_allows_is_an_observation(self) -> None:
        e = ImageEvaluator(tiny(), TRAINING, VALIDATION)
        corners = np.array([np.zeros(7), np.ones(7), SPACE.space.defaults])
        for number, config in enumerate(SPACE.space.decode(corners)):
            observation, _ = e(replace(trial(number), config=config), Seeds(0))
            assert observation.is_ok or "NaN" in observation.error

    def test_the_validation_error_of_a_stack_is_that_of_each_alone(self) -> None:
        e = ImageEvaluator(tiny(), TRAINING, VALIDATION, test=TEST)
        tasks = [(trial(number), Seeds(number)) for number in range(5)]
        for (observation, _), task in zip(e.together(tasks), tasks, strict=True):
            assert observation.loss == pytest.approx(e(*task)[0].loss, abs=1 / 30)

    def test_a_committee_is_searched_for_on_a_stack(self) -> None:
        with TrialStack(4) as stack:
            study = Study("cnn", method="eo-post[slots=3,steps=10]", seed=0)
            study.run(ImageEvaluator(tiny(), TRAINING, VALIDATION), n_trials=8, executor=stack)
        assert study.best_value < 0.7
        assert stack.sizes == [4, 4]

    @pytest.mark.processes
    def test_trials_run_in_workers_with_limits(self) -> None:
        e = ImageEvaluator(tiny(), TRAINING, VALIDATION)
        with Workers(1, trial_time_limit=60) as workers:
            study = Study("cnn", "rs", seed=0).run(e, n_trials=2, executor=workers)
        assert [o.losses for o in study.history.observations()] == [
            o.losses for o in Study("cnn", "rs", seed=0).run(e, n_trials=2).history.observations()
        ]

    def test_the_examples_of_the_guide_run(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        page = (ROOT / "docs" / "guide" / "images.md").read_text(encoding="utf-8")
        blocks = re.findall(r"```py\n(.*?)```", page, re.DOTALL)
        assert len(blocks) >= 2
        monkeypatch.chdir(tmp_path)
        names: dict[str, Any] = {}
        for block in blocks:
            exec(re.sub(r"(n_trials=|epochs=)\d+", r"\g<1>2", block), names)
