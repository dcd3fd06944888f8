"""Tiny images of three classes, and a learner of images that needs no PyTorch."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from comitia import Config, ImageEvaluator, Seeds, Space, Trial, get_space
from comitia.arrays import AnyArray, Indices
from comitia.evaluation.images import Labelled


def images(n: int, seed: int = 0, side: int = 8) -> tuple[AnyArray, AnyArray]:
    """Return noise with a bright corner, middle or stripe."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.integers(0, 120, size=(n, side, side, 3))
    X[y == 0, : side // 2, : side // 2] += 100
    X[y == 1, side // 4 : -side // 4, side // 4 : -side // 4] += 100
    X[y == 2, :, side // 2] += 100
    return X.astype(np.uint8), np.array(["corner", "middle", "stripe"])[y]


TRAINING, VALIDATION, TEST = images(60, 0), images(30, 1), images(24, 2)


class NearestMean:
    """Classes by the nearest mean image, blurred by noise that grows with a hyperparameter."""

    def __init__(self) -> None:
        self._sizes: list[int] = []

    @property
    def sizes(self) -> list[int]:
        """How many were asked for, each time."""
        return self._sizes

    def __call__(
        self,
        configs: Sequence[Config],
        random_states: Sequence[int],
        X: AnyArray,
        codes: Indices,
        n_classes: int,
        asked: Sequence[AnyArray],
        deadline: float = math.inf,
    ) -> list[list[AnyArray]]:
        self._sizes.append(len(configs))
        return [
            [_answers(float(config["norm_power"]), state, X, codes, n_classes, new) for new in asked]
            for config, state in zip(configs, random_states, strict=True)
        ]

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "_sizes": []}


def _answers(noise: float, seed: int, X: AnyArray, codes: Indices, n_classes: int, new: AnyArray) -> AnyArray:
    rng = np.random.default_rng(seed)
    blurred = X + rng.normal(0, 200 * noise, X.shape)
    means = np.stack([blurred[codes == k].mean(axis=0) for k in range(n_classes)])
    distances = ((new[:, None] - means) ** 2).sum(axis=(2, 3, 4))
    weights = np.exp(-(distances - distances.min(axis=1, keepdims=True)) / distances.std())
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float32)


def evaluator(learner: Any = None, test: Labelled | None = TEST, **options: Any) -> ImageEvaluator:
    return ImageEvaluator(learner or NearestMean(), TRAINING, VALIDATION, test=test, **options)


def trial(number: int = 0, space: Space | None = None, **more: Any) -> Trial:
    space = space or get_space("cnn").space
    x = space.sample(1, Seeds(0)("test", number))
    return Trial(number, 0, tuple(x[0].tolist()), space.decode(x)[0], **more)
