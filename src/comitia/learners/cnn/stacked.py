"""Many small convolutional networks as one program: what one network does is a group of a grouped convolution.

The network is cuda-convnet's `layers-18pct`, which Lévesque 2018, §4.4.3 and Snoek et al. 2012 tune:

    conv1 5 x 5, 32 filters - max pool 3 / 2 - relu - norm1
    conv2 5 x 5, 32 filters - relu - mean pool 3 / 2 - norm2
    conv3 5 x 5, 64 filters - relu - mean pool 3 / 2 - softmax

The normalisation is cuda-convnet's `rnorm`, within each map: `u / (1 + scale * mean(u^2))^power`, the mean over `size`
x `size` neighbours, those beyond the border counted as 0. Where we differ: initial weights of the convolutions are
those of He et al. 2015 and images are divided by their standard deviation. With cuda-convnet's own weights and images
the first epochs teach little: after 10 of 1,000 small images the reference rate of .001 left .91 wrong there, .79 here.

N networks of a stack, B images of a batch. No network sees anything of another: each has its own weights, its own order
of images and its own rates, all drawn from its own seed. This is the only module that imports PyTorch.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from comitia.arrays import AnyArray, Indices
from comitia.errors import TrialTimeout
from comitia.space import Config

MOMENTUM = 0.9
BIAS_RATE = 2.0
"""Biases learn twice as fast, and are not decayed; as the momentum, from cuda-convnet's `layer-params-18pct`."""
DROPS = (6 / 7, 13 / 14)
"""When rates are divided by 10: after 120 and 130 of 140 epochs there."""
SOFTMAX_WIDTH = 0.01
"""Standard deviation of the softmax layer's initial weights."""
KERNEL = 5
ANSWERED_AT_A_TIME = 250
"""Images, so that answers need no more memory than training."""


@dataclass(frozen=True)
class Recipe:
    """How networks are trained, beside their hyperparameters."""

    epochs: int
    batch: int
    filters: tuple[int, int, int]
    device: str


@dataclass(frozen=True, eq=False)
class Stack:
    """Trained networks, in the order of the configurations."""

    layers: list[torch.Tensor]
    """Weights and biases in turn, each with the networks as its first axis."""
    norms: Norms
    order: Indices
    """Which configuration each network is of: those with the same size of normalisation lie side by side."""
    mean: torch.Tensor
    deviation: float
    device: str

    def probabilities(self, X: AnyArray) -> NDArray[np.float32]:
        """Return class probabilities, (n_networks, n_images, n_classes)."""
        n = len(self.order)
        parts = []
        with torch.no_grad():
            layers = [layer.to(self.device) for layer in self.layers]
            norms = self.norms.to(self.device)
            for start in range(0, len(X), ANSWERED_AT_A_TIME):
                x = _prepared(X[start : start + ANSWERED_AT_A_TIME], self.mean, self.deviation, self.device)
                scores = _scores(x.repeat(1, n, 1, 1), layers, norms)  # (N, B, classes)
                parts.append(torch.softmax(scores, dim=2).cpu().numpy())
        found = np.concatenate(parts, axis=1)
        return np.asarray(found[np.argsort(self.order)])


@dataclass(frozen=True, eq=False)
class Norms:
    """The normalisation of every network."""

    sizes: list[tuple[int, int]]
    """Runs of networks with the same size: the size, and how many."""
    scale: torch.Tensor
    power: torch.Tensor
    """(N,)"""

    def to(self, device: str) -> Norms:
        return Norms(self.sizes, self.scale.to(device), self.power.to(device))

    def __call__(self, u: torch.Tensor) -> torch.Tensor:
        """Normalise maps, (B, N * channels, height, width)."""
        n_channels, height, width = u.shape[1] // len(self.scale), u.shape[2], u.shape[3]
        means = [
            functional.avg_pool2d(part, size, stride=1, padding=size // 2)[:, :, :height, :width]
            for part, (size, _) in zip(
                (u * u).split([n * n_channels for _, n in self.sizes], dim=1), self.sizes, strict=True
            )
        ]
        mean = means[0] if len(means) == 1 else torch.cat(means, dim=1)
        scale, power = (v.repeat_interleave(n_channels)[None, :, None, None] for v in (self.scale, self.power))
        return u * torch.exp(-power * torch.log1p(scale * mean))


def train(
    recipe: Recipe,
    configs: Sequence[Config],
    random_states: Sequence[int],
    X: AnyArray,
    codes: Indices,
    n_classes: int,
    deadline: float,
) -> Stack:
    """Train networks side by side; `deadline` is a moment of the monotonic clock.

    Raises
    ------
    TrialTimeout
        If the deadline passes; all networks of the stack are lost.
    MemoryError
        If they do not fit into the device's memory.
    """
    try:
        with torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True):
            return _train(recipe, configs, random_states, X, codes, n_classes, deadline)
    except torch.cuda.OutOfMemoryError as error:
        raise MemoryError(str(error)) from error
    finally:
        if torch.cuda.is_initialized():
            torch.cuda.empty_cache()


def _train(
    recipe: Recipe,
    configs: Sequence[Config],
    random_states: Sequence[int],
    X: AnyArray,
    codes: Indices,
    n_classes: int,
    deadline: float,
) -> Stack:
    order = np.argsort([config["norm_size"] for config in configs], kind="stable")
    configs = [configs[i] for i in order]
    rngs = [np.random.default_rng(random_states[i]) for i in order]
    mean = torch.from_numpy(X.mean(axis=0, dtype=np.float64).astype(np.float32)).permute(2, 0, 1)
    deviation = float(X.std(dtype=np.float64)) or 1.0
    x = _prepared(X, mean, deviation, recipe.device)
    y = torch.from_numpy(codes.astype(np.int64)).to(recipe.device)
    layers = [layer.to(recipe.device) for layer in _first_weights(recipe, x.shape[1:], n_classes, rngs)]
    norms = _norms(configs).to(recipe.device)
    descend = _descent(layers, configs, recipe.device)
    n_batches = -(-len(x) // recipe.batch)
    n_steps = recipe.epochs * n_batches
    for epoch in range(recipe.epochs):
        orders = torch.from_numpy(np.stack([rng.permutation(len(x)) for rng in rngs], axis=1)).to(recipe.device)
        for k, rows in enumerate(orders.split(recipe.batch)):  # (B, N)
            if time.monotonic() > deadline:
                raise TrialTimeout(f"Networks were in epoch {epoch + 1} of {recipe.epochs} at their time limit.")
            done = (epoch * n_batches + k) / n_steps
            scores = _scores(x[rows].flatten(1, 2), layers, norms)
            loss = functional.cross_entropy(scores.flatten(0, 1), y[rows].T.flatten(), reduction="sum") / len(rows)
            descend(torch.autograd.grad(loss, layers), 0.1 ** sum(done >= drop for drop in DROPS))
    return Stack([layer.detach().cpu() for layer in layers], norms.to("cpu"), order, mean, deviation, recipe.device)


def _prepared(X: AnyArray, mean: torch.Tensor, deviation: float, device: str) -> torch.Tensor:
    """Return images as they are learnt from, (n, channels, height, width)."""
    x = torch.from_numpy(np.ascontiguousarray(X)).to(device).permute(0, 3, 1, 2).to(torch.float32)
    return (x - mean.to(device)) / deviation


def _scores(x: torch.Tensor, layers: list[torch.Tensor], norms: Norms) -> torch.Tensor:
    """Return what the softmax is made of, (N, B, n_classes), for images (B, N * channels, height, width)."""
    w1, b1, w2, b2, w3, b3, w4, b4 = layers
    n = len(w1)
    x = _convolved(x, w1, b1)
    x = norms(torch.relu(functional.max_pool2d(x, 3, stride=2, ceil_mode=True)))
    x = norms(functional.avg_pool2d(torch.relu(_convolved(x, w2, b2)), 3, stride=2, ceil_mode=True))
    x = functional.avg_pool2d(torch.relu(_convolved(x, w3, b3)), 3, stride=2, ceil_mode=True)
    flat = x.reshape(len(x), n, -1).transpose(0, 1)
    return torch.baddbmm(b4[:, None], flat, w4)


def _convolved(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Convolve the maps of each network with its own filters."""
    return functional.conv2d(x, w.flatten(0, 1), b.flatten(), padding=KERNEL // 2, groups=len(w))


def _first_weights(
    recipe: Recipe, shape: Sequence[int], n_classes: int, rngs: Sequence[np.random.Generator]
) -> list[torch.Tensor]:
    """Draw the weights of each network from its own generator; biases are 0."""
    n_inputs, height, width = shape
    layers = []
    for n_filters in recipe.filters:
        w = _normal(rngs, (n_filters, n_inputs, KERNEL, KERNEL), np.sqrt(2 / (n_inputs * KERNEL**2)))
        layers += [w, torch.zeros(len(rngs), n_filters)]
        # a window of 3 with stride 2 that covers the border: one less than half, rounded up, and one
        n_inputs, height, width = n_filters, -(-(height - 3) // 2) + 1, -(-(width - 3) // 2) + 1
    layers += [_normal(rngs, (n_inputs * height * width, n_classes), SOFTMAX_WIDTH), torch.zeros(len(rngs), n_classes)]
    return [layer.requires_grad_() for layer in layers]


def _normal(rngs: Sequence[np.random.Generator], shape: tuple[int, ...], width: float) -> torch.Tensor:
    return torch.from_numpy(np.stack([(width * rng.standard_normal(shape)).astype(np.float32) for rng in rngs]))


def _norms(configs: Sequence[Config]) -> Norms:
    sizes = [int(config["norm_size"]) for config in configs]
    runs = [(size, sizes.count(size)) for size in sorted(set(sizes))]
    scale, power = (torch.tensor([config[name] for config in configs]) for name in ("norm_scale", "norm_power"))
    return Norms(runs, scale.to(torch.float32), power.to(torch.float32))


def _descent(
    layers: list[torch.Tensor], configs: Sequence[Config], device: str
) -> Callable[[Sequence[torch.Tensor], float], None]:
    """Return a step of gradient descent with momentum, each network with its own rates and decays."""

    def each(name: str, like: torch.Tensor) -> torch.Tensor:
        values = torch.tensor([config[name] for config in configs], dtype=torch.float32, device=device)
        return values.reshape(-1, *[1] * (like.ndim - 1))

    rates, decays = [], []
    for place, layer in enumerate(layers):
        kind, is_bias = "softmax" if place >= len(layers) - 2 else "conv", place % 2 == 1
        rates.append(each(f"{kind}_rate", layer) * (BIAS_RATE if is_bias else 1.0))
        decays.append(each(f"{kind}_decay", layer) * (0.0 if is_bias else 1.0))
    moving = [torch.zeros_like(layer) for layer in layers]

    def step(gradients: Sequence[torch.Tensor], share: float) -> None:
        with torch.no_grad():
            for layer, move, gradient, rate, decay in zip(layers, moving, gradients, rates, decays, strict=True):
                move.mul_(MOMENTUM).sub_(share * rate * (gradient + decay * layer))
                layer.add_(move)

    return step


def best_device() -> str:
    """Return a GPU where there is one."""
    return "cuda" if torch.cuda.is_available() else "cpu"
