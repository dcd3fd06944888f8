"""Support vectors, perceptrons and trees: scikit-learn's own with WEKA's options around them."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from comitia.spaces.weka.learner import Array, Codes, Learner, one_hot

MOST_STEPS = 20_000
"""Steps of libsvm: a high power of a large product never ends otherwise."""
MOST_EPOCHS = 200
"""WEKA has 500 of stochastic updates; scikit-learn stops by itself when the loss no longer falls."""
MOST_RESETS = 6


class SupportVectors(Learner):
    """WEKA's SMO: an SVM, pairs of classes voting; `logistic` fits a logistic model to its outputs for probabilities.

    Without one, all the probability is on the class that is predicted, as in WEKA.
    """

    def __init__(
        self, kernel: Any = "rbf", C: float = 1.0, gamma: float = 1.0, logistic: bool = False, random_state: int = 0
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.logistic = logistic
        self.random_state = random_state

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


class Perceptron(Learner):
    """WEKA's multilayer perceptron: one hidden layer of sigmoids, gradient descent with momentum.

    Hidden units as WEKA's letters: `i` inputs, `o` outputs, `t` both, `a` half of both. When it diverges it starts over
    at half the rate, WEKA's "reset".
    """

    def __init__(
        self,
        hidden: Literal["a", "i", "o", "t"] = "a",
        rate: float = 0.3,
        momentum: float = 0.2,
        decay: bool = False,
        random_state: int = 0,
    ) -> None:
        self.hidden = hidden
        self.rate = rate
        self.momentum = momentum
        self.decay = decay
        self.random_state = random_state

    def _fit(self, X: Array, codes: Codes, weight: Array | None) -> None:
        i, o = X.shape[1], len(self.classes_)
        n_hidden = {"a": (i + o) // 2, "i": i, "o": o, "t": i + o}[self.hidden]
        for reset in range(MOST_RESETS):
            network = MLPClassifier(
                (max(n_hidden, 1),),
                activation="logistic",
                solver="sgd",
                learning_rate="adaptive" if self.decay else "constant",
                learning_rate_init=self.rate / 2**reset,
                momentum=self.momentum,
                nesterovs_momentum=False,
                max_iter=MOST_EPOCHS,
                random_state=self.random_state,
            )
            try:
                with np.errstate(all="ignore"):
                    self.network_ = network.fit(X, codes)
                return
            except ValueError:  # weights that are not finite
                if reset == MOST_RESETS - 1:
                    raise

    def _answer(self, X: Array) -> Array:
        return np.asarray(self.network_.predict_proba(X))


class Tree(Learner):
    """A decision tree by entropy; `laplace` counts every class once more in each leaf."""

    def __init__(
        self,
        min_leaf: int = 2,
        pruning: float = 0.0,
        laplace: bool = False,
        max_features: int | Literal["log2"] | None = None,
        max_depth: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.min_leaf = min_leaf
        self.pruning = pruning
        self.laplace = laplace
        self.max_features = max_features
        self.max_depth = max_depth
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
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
        # all weight may have gone from a class, which then is none of the tree's
        P = np.zeros((len(X), len(self.classes_)))
        P[:, model.classes_] = model.predict_proba(X)
        if not self.laplace:
            return P
        n = model.tree_.weighted_n_node_samples[model.apply(X)][:, None]
        return np.asarray((P * n + 1) / (n + P.shape[1]))
