"""Support vectors, perceptrons and trees: scikit-learn's own with WEKA's options around them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Self, TypeAlias

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from comitia.arrays import AnyArray, Array, Table
from comitia.learners.weka.weka_classifier import Codes, WekaClassifier, one_hot, softmax

Kernel: TypeAlias = str | Callable[[Array, Array], Array]
"""scikit-learn's name of a kernel, or one of `svm_kernels`."""
MOST_STEPS = 20_000
"""Steps of libsvm, which would never end with a high power of a large product."""
MOST_EPOCHS = 200
"""WEKA has 500."""
MOST_RESETS = 6
BATCH = 200
"""Rows of a step (scikit-learn's)."""
DECAY_EPOCHS = 20
"""Epochs after which a decaying rate is a half; WEKA's is a half after one of its stochastic epochs."""
MOST_FLAT, LEAST_GAIN = 10, 1e-4
"""The descent ends after this many epochs in a row without such a gain (scikit-learn's)."""


@dataclass(eq=False, repr=False)
class SupportVectors(WekaClassifier):
    """WEKA's SMO: an SVM, pairs of classes voting; `logistic` fits a logistic model to its outputs for probabilities.

    Without one, all the probability is on the class that is predicted, as in WEKA.
    """

    kernel: Kernel = "rbf"
    C: float = 1.0
    gamma: float = 1.0
    logistic: bool = False
    random_state: int = 0

    def _fit(self, X: Array, codes: Codes, weight: Array | None) -> None:
        svm = SVC(C=self.C, kernel=self.kernel, gamma=self.gamma, max_iter=MOST_STEPS, random_state=self.random_state)
        self.svm_ = svm.fit(X, codes)
        self.outputs_ = LogisticRegression().fit(self._outputs(X), codes) if self.logistic else None

    def _outputs(self, X: Array) -> Array:
        return np.asarray(self.svm_.decision_function(X)).reshape(len(X), -1)

    def _answer(self, X: Array) -> Array:
        if self.outputs_ is not None:
            return np.asarray(self.outputs_.predict_proba(self._outputs(X)))
        return one_hot(self.svm_.predict(X), len(self.classes_))


@dataclass(eq=False, repr=False)
class Perceptron(WekaClassifier):
    """WEKA's multilayer perceptron: one hidden layer of sigmoids, gradient descent with momentum.

    Hidden units as WEKA's letters: `i` inputs, `o` outputs, `t` both, `a` half of both. When it diverges it starts over
    at half the rate, WEKA's "reset".
    """

    hidden: Literal["a", "i", "o", "t"] = "a"
    rate: float = 0.3
    momentum: float = 0.2
    decay: bool = False
    random_state: int = 0

    def _fit(self, X: Array, codes: Codes, weight: Array | None) -> None:
        i, o = X.shape[1], len(self.classes_)
        n_hidden = max({"a": (i + o) // 2, "i": i, "o": o, "t": i + o}[self.hidden], 1)
        T = one_hot(codes, o)
        for reset in range(MOST_RESETS):
            rng = np.random.default_rng(self.random_state)
            first = [
                rng.uniform(-1, 1, shape) * np.sqrt(2 / sum(shape)) for shape in ((i + 1, n_hidden), (n_hidden + 1, o))
            ]
            self.layers_ = descended(first, X, T, self.rate / 2**reset, self.momentum, self.decay, rng)
            if all(np.isfinite(W).all() for W in self.layers_):
                return
        self.layers_ = first  # has never happened; a network that knows nothing is better than none

    def _answer(self, X: Array) -> Array:
        with np.errstate(over="ignore"):
            return softmax(_forward(self.layers_, X)[1])


def _forward(layers: list[Array], X: Array) -> tuple[Array, Array]:
    """Return the hidden units and the outputs before the softmax; the last row of each layer is its bias."""
    W, V = layers
    H = 1 / (1 + np.exp(-(X @ W[:-1] + W[-1])))
    return H, H @ V[:-1] + V[-1]


def descended(
    layers: list[Array],
    X: Array,
    T: Array,
    rate: float,
    momentum: float,
    decay: bool,
    rng: np.random.Generator,
) -> list[Array]:
    """Descend the cross-entropy of one hidden layer by batches, until it no longer falls; return the layers.

    scikit-learn's network takes three times as long on a few hundred rows, and committees have a hundred of them. The
    two layers are (n_columns + 1, n_hidden) and (n_hidden + 1, n_classes); T has a one for the class of each row.
    """
    W, V = (layer.copy() for layer in layers)
    dW, dV = np.zeros_like(W), np.zeros_like(V)
    least, n_flat = np.inf, 0
    with np.errstate(all="ignore"):  # a divergence is looked for afterwards
        for epoch in range(MOST_EPOCHS):
            step = rate / (1 + epoch / DECAY_EPOCHS) if decay else rate
            loss = 0.0
            order = rng.permutation(len(X)) if len(X) > BATCH else np.arange(len(X))
            for start in range(0, len(X), BATCH):
                rows = order[start : start + BATCH]
                A, truth = X[rows], T[rows]
                H, outputs = _forward([W, V], A)
                P = softmax(outputs)
                loss -= float(np.log((P * truth).sum(axis=1) + 1e-12).sum())
                E = (P - truth) / len(A)  # slope of the loss in the outputs
                G = E @ V[:-1].T * H * (1 - H)
                dV = momentum * dV - step * np.vstack([H.T @ E, E.sum(axis=0)])
                dW = momentum * dW - step * np.vstack([A.T @ G, G.sum(axis=0)])
                V += dV
                W += dW
            loss /= len(X)
            if not np.isfinite(loss):
                return [np.full_like(W, np.nan), V]
            n_flat = 0 if loss < least - LEAST_GAIN else n_flat + 1
            least = min(least, loss)
            if n_flat == MOST_FLAT:
                break
    return [W, V]


@dataclass(eq=False, repr=False)
class Tree(WekaClassifier):
    """A decision tree by entropy; `laplace` counts every class once more in each leaf."""

    min_leaf: int = 2
    pruning: float = 0.0
    laplace: bool = False
    max_features: int | Literal["log2"] | None = None
    max_depth: int | None = None
    random_state: int = 0

    def fit(self, X: Table, y: AnyArray, sample_weight: Array | None = None) -> Self:
        """Fit, with weights if there are any."""
        return self._learn(X, y, sample_weight)

    def _fit(self, X: Array, codes: Codes, weight: Array | None) -> None:
        self.tree_model_ = DecisionTreeClassifier(
            criterion="entropy",
            min_samples_leaf=self.min_leaf,
            ccp_alpha=self.pruning,
            max_features=self.max_features,
            max_depth=self.max_depth,
            random_state=self.random_state,
        ).fit(X, codes, sample_weight=weight)

    def _answer(self, X: Array) -> Array:
        model = self.tree_model_
        # a class may have lost all its weight: the tree does not know it then
        P = np.zeros((len(X), len(self.classes_)))
        P[:, model.classes_] = model.predict_proba(X)
        if not self.laplace:
            return P
        n = model.tree_.weighted_n_node_samples[model.apply(X)][:, None]
        return np.asarray((P * n + 1) / (n + P.shape[1]))
