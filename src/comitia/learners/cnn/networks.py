"""`Networks`: how a stack of networks is trained; `ConvolutionalNetwork`: one of them, as scikit-learn has learners."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from comitia.arrays import AnyArray, Indices
from comitia.errors import ChoiceError, check_int
from comitia.evaluation.images import checked_images, checked_labels
from comitia.space import Config

if TYPE_CHECKING:
    from comitia.learners.cnn.stacked import Stack


@dataclass(frozen=True)
class Networks:
    """Train networks of the space `cnn`, as many at a time as they are called with.

    Parameters
    ----------
    epochs : int
        Passes over the training images, the same for all networks.
    batch : int
        Images per step.
    filters : (int, int, int)
        Of the three convolutions; those of cuda-convnet's `layers-18pct` if not given.
    device : str, optional
        PyTorch's name of one, such as "cpu" or "cuda:1"; a GPU where there is one, if not given.
    at_a_time : int, optional
        How many networks to train side by side at most; the others wait. If not given: all of them on a GPU, and one on
        a processor, whose caches have no room for more.
    """

    epochs: int = 30
    batch: int = 128
    filters: tuple[int, int, int] = (32, 32, 64)
    device: str | None = None
    at_a_time: int | None = None

    def __post_init__(self) -> None:
        if find_spec("torch") is None:  # here, and not in every trial
            raise ChoiceError("Networks need PyTorch. It is not installed. Install it: pip install 'comitia[images]'.")
        check_int("Networks", "epochs", self.epochs)
        check_int("Networks", "batch", self.batch)
        if self.at_a_time is not None:
            check_int("Networks", "at_a_time", self.at_a_time)
        if len(self.filters) != 3 or any(n < 1 for n in self.filters):
            raise ChoiceError(f"The 'filters' of Networks must be three numbers >= 1. Got {self.filters!r} instead.")

    def __call__(
        self,
        configs: Sequence[Config],
        random_states: Sequence[int],
        X: AnyArray,
        codes: Indices,
        n_classes: int,
        asked: Sequence[AnyArray],
        deadline: float = math.inf,
    ) -> list[list[NDArray[np.float32]]]:
        """Return what each network answers to each set of images: class probabilities, (n_images, n_classes).

        Networks that do not fit into the memory together are trained in two halves, one after the other.
        """
        most = self.at_a_time or (1 if self._device == "cpu" else len(configs))
        found: list[list[NDArray[np.float32]]] = []
        while len(found) < len(configs):
            now = slice(len(found), len(found) + most)
            try:
                stack = self.train(configs[now], random_states[now], X, codes, n_classes, deadline)
                answers = [stack.probabilities(images) for images in asked]
            except MemoryError:
                if most == 1:
                    raise
                most = (min(most, len(configs)) + 1) // 2
                continue
            found += [[of_all[i] for of_all in answers] for i in range(len(stack.order))]
        return found

    def train(
        self,
        configs: Sequence[Config],
        random_states: Sequence[int],
        X: AnyArray,
        codes: Indices,
        n_classes: int,
        deadline: float = math.inf,
    ) -> Stack:
        """Return the networks, trained side by side."""
        from comitia.learners.cnn.stacked import Recipe, train

        recipe = Recipe(self.epochs, self.batch, self.filters, self._device)
        return train(recipe, configs, random_states, X, codes, n_classes, deadline)

    @property
    def _device(self) -> str:
        from comitia.learners.cnn.stacked import best_device

        return self.device or best_device()


class ConvolutionalNetwork(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """One network of the space `cnn`, for images of shape (n, height, width, channels).

    `networks` says how it is trained; the other parameters are those of the space, at cuda-convnet's values but for
    the scale of the normalisation.
    """

    def __init__(
        self,
        *,
        conv_rate: float = 0.001,
        softmax_rate: float = 0.001,
        conv_decay: float = 0.004,
        softmax_decay: float = 1.0,
        norm_size: int = 3,
        norm_power: float = 0.75,
        norm_scale: float = 0.005,
        networks: Networks | None = None,
        random_state: int = 0,
    ) -> None:
        self.conv_rate, self.softmax_rate = conv_rate, softmax_rate
        self.conv_decay, self.softmax_decay = conv_decay, softmax_decay
        self.norm_size, self.norm_power, self.norm_scale = norm_size, norm_power, norm_scale
        self.networks, self.random_state = networks, random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> ConvolutionalNetwork:
        """Train it."""
        images = checked_images(X)
        self.classes_, codes = np.unique(checked_labels(y, len(images)), return_inverse=True)
        names = ("conv_rate", "softmax_rate", "conv_decay", "softmax_decay", "norm_size", "norm_power", "norm_scale")
        config = Config({name: self.get_params()[name] for name in names})
        networks = self.networks or Networks()
        self.stack_ = networks.train([config], [self.random_state], images, codes, len(self.classes_))
        return self

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float32]:
        """Return class probabilities, (n, n_classes)."""
        return np.asarray(self.stack_.probabilities(checked_images(X))[0])

    def predict(self, X: ArrayLike) -> AnyArray:
        """Return the most probable class of each image."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])
