"""What of the words of texts may be learned once, from all texts, and what must be learned in each fold.

    python benchmarks/studies/words.py [--draws 20]

makes texts of two classes and prints the log loss of a linear model of their directions: out of fold with words and
directions learned from all texts, with words from all texts and directions from the training part (what comitia does),
with both from the training part; and on 2,000 new texts.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from comitia.arrays import AnyArray, Array
from comitia.learners.word_directions import WordDirections
from comitia.tables.words import counted, vocabulary_of

N_WORDS = 3_000
"""Of a vocabulary whose frequencies follow Zipf's law."""
LENGTH = 25
TILT = 0.35
"""By how much, in logarithms, frequencies of words differ between the classes."""
N_FOLDS, N_NEW = 5, 2_000


def texts_of(n: int, rng: np.random.Generator, tilt: Array) -> tuple[list[str], AnyArray]:
    """Draw texts of two classes, in which words are more or less frequent by `tilt`."""
    y = np.arange(n) % 2
    shares = [np.cumsum(np.exp(sign * tilt) / np.arange(1, N_WORDS + 1)) for sign in (-1.0, 1.0)]
    drawn = [np.searchsorted(shares[one], shares[one][-1] * rng.random(LENGTH)) for one in y]
    return [" ".join(f"w{i}" for i in words) for words in drawn], y


def loss_of(
    learn: list[str], words: tuple[str, ...], train: list[str], y: Array, new: list[str], truth: Array
) -> float:
    """Return the log loss of a linear model, with directions that are learned from some texts."""
    directions = WordDirections([range(len(words))]).fit(counted(learn, words))
    X, X_new = (directions.transform(counted(texts, words)) for texts in (train, new))
    return float(log_loss(truth, LogisticRegression(C=10.0, max_iter=500).fit(X, y).predict_proba(X_new)))


def one_draw(n: int, rng: np.random.Generator) -> tuple[float, float, float, float]:
    """Return the loss out of fold in the three ways, and that on new texts."""
    tilt = TILT * rng.standard_normal(N_WORDS)
    (texts, y), (new, y_new) = texts_of(n, rng, tilt), texts_of(N_NEW, rng, tilt)
    words = vocabulary_of(texts)
    losses = []
    for train, judge in StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(y, y):
        some, others = [texts[i] for i in train], [texts[i] for i in judge]
        about = y[train], others, y[judge]
        own = vocabulary_of(some)
        losses.append(
            (loss_of(texts, words, some, *about), loss_of(some, words, some, *about), loss_of(some, own, some, *about))
        )
    once, directions, both = np.mean(losses, axis=0)
    return float(once), float(directions), float(both), loss_of(texts, words, texts, y, new, y_new)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=20)
    n_draws = parser.parse_args().draws
    print("| texts | all from all texts | directions in each fold | words too | on new texts | flattered by |")
    print("|---|---|---|---|---|---|")
    for n in (100, 300, 1_000, 3_000):
        found = np.array([one_draw(n, np.random.default_rng([n, draw])) for draw in range(n_draws)])
        means = " | ".join(f"{mean:.4f}" for mean in found.mean(axis=0))
        less = found[:, 2, None] - found[:, :2]
        errors = less.std(axis=0, ddof=1) / np.sqrt(n_draws)
        told = ", ".join(f"{a:.4f} +- {b:.4f}" for a, b in zip(less.mean(axis=0), errors, strict=True))
        print(f"| {n:,} | {means} | {told} |")


if __name__ == "__main__":
    main()
