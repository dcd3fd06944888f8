"""Pictures of overfitting the validation rows: selection.png and landscapes.png.

What an argmin picks of noisy trials, and what the posterior mean picks (Lévesque 2018, Fig. 3.5); the error landscape
of an SVM on the chess board by cross-validation with fixed folds and by the mean over many random partitions
(Glasmachers and Igel 2008, Fig. 1). Draws where matplotlib is installed, prints where it is not.
Usage: python overfitting.py [n_partitions] [folder]
"""

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import uniform
from sklearn.model_selection import ShuffleSplit, StratifiedKFold
from sklearn.svm import SVC

from comitia import FunctionEvaluator, Seeds, Space, Study
from comitia.arrays import AnyArray, Array
from comitia.bench.problems.synthetic import chess
from comitia.learners.quick_svm import radial_answer
from comitia.optimizers.bayes.gaussian_process import GaussianProcess
from comitia.seams import Values

N_PARTITIONS = int(sys.argv[1]) if len(sys.argv) > 1 else 100
FOLDER = Path(sys.argv[2] if len(sys.argv) > 2 else ".")
HAS_PICTURES = find_spec("matplotlib") is not None
NOISE = 0.25
LN_C, LN_GAMMA = np.linspace(0, 6, 19), np.linspace(-1, 3, 17)


def new_axes(n: int, width: float, height: float) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * n, height), layout="constrained")
    return figure, figure.subplots(1, n, squeeze=False)[0]


# ---- argmin and posterior mean --------------------------------------------------------------------------------------


def truth(x: Any) -> Any:
    return np.sin(5 * x) + 0.6 * (x - 0.6) ** 2


def draw_selection() -> None:
    """Lévesque 2018, Fig. 3.5: what is chosen by the trials, by the model's mean, and by who knows the function."""
    rng = np.random.default_rng(3)
    space = Space({"x": uniform(0, 1.5)})
    study = Study(space, "sobol[select=gp-pm]", seed=0)
    study.run(FunctionEvaluator(lambda c: float(truth(c["x"])) + NOISE * rng.normal()), n_trials=25)
    X, y = study.history.X, study.history.losses
    grid = np.linspace(0, 1, 301)[:, None]
    belief = GaussianProcess(space).belief(X, Values(y), len(y), Seeds(0))
    mean, var = belief.posterior.mean_var(*belief.view(grid))
    sd = np.sqrt(var.mean(axis=0) + mean.var(axis=0)) * y.std()
    mean = mean.mean(axis=0) * y.std() + y.mean()
    x = 1.5 * grid[:, 0]
    [member] = study.members()  # where the mean is least
    chosen = {
        "argmin": (study.best_trial.config["x"], study.best_trial.loss),
        "posterior mean": (member.config["x"], float(np.interp(member.config["x"], x, mean))),
        "true minimum": (x[truth(x).argmin()], truth(x).min()),
    }
    if not HAS_PICTURES:
        for name, (at, value) in chosen.items():
            print(f"{name:15} x = {at:.3f}: believed {value:6.3f}, true {truth(at):6.3f}")
        return
    figure, [axes] = new_axes(1, 7, 4)
    axes.plot(x, truth(x), color="0.5", ls="--", label="true function")
    axes.plot(x, mean, "C1", label="posterior mean")
    axes.fill_between(x, mean - sd, mean + sd, color="C1", alpha=0.2, lw=0)
    axes.plot(1.5 * X[:, 0], y, "C2.", label="noisy trials")
    for (name, point), colour in zip(chosen.items(), ("C2", "C1", "0.4"), strict=True):
        axes.plot(
            *point, "X", color=colour, mec="k", ms=12, label=f"choice by {name}" if name != "true minimum" else name
        )
    axes.set(xlabel="hyperparameter", ylabel="loss")
    axes.legend(fontsize=8)
    figure.savefig(FOLDER / "selection.png")


# ---- error landscapes -----------------------------------------------------------------------------------------------


def error(X: Array, y: AnyArray, split: tuple[AnyArray, AnyArray], C: float, gamma: float) -> float:
    """Return the error on one part of an SVM that is fitted on the other."""
    train, test = split
    predicted = radial_answer(X[train], y[train].astype(np.float64), X[test], C, gamma)
    if predicted is None:  # where libsvm cannot be called directly
        predicted = SVC(C=C, gamma=gamma).fit(X[train], y[train]).predict(X[test])
    return float(np.mean(predicted != y[test]))


def landscape(X: Array, y: AnyArray, n_partitions: int | None) -> Array:
    """Return the error at each point of the grid, (n_gamma, n_C).

    By five folds that are the same everywhere; or over so many partitions, four fifths to train on, drawn anew at
    every point.
    """
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    found = np.empty((len(LN_GAMMA), len(LN_C)))
    for number, (i, j) in enumerate(np.ndindex(found.shape)):
        splits = (
            folds if n_partitions is None else ShuffleSplit(n_partitions, test_size=0.2, random_state=number).split(X)
        )
        C, gamma = float(np.exp(LN_C[j])), float(np.exp(LN_GAMMA[i]))
        found[i, j] = np.mean([error(X, y, split, C, gamma) for split in splits])
    return found


def draw_landscapes() -> None:
    """Glasmachers and Igel 2008, Fig. 1: 200 points of the chess board, 100 partitions for each point of the grid."""
    X, y = chess(200, np.random.default_rng(0))
    found = {"5-fold cross-validation, fixed folds": landscape(X, y, None)}
    found[f"mean over {N_PARTITIONS} random partitions"] = landscape(X, y, N_PARTITIONS)
    if not HAS_PICTURES:
        for name, errors in found.items():
            i, j = np.unravel_index(errors.argmin(), errors.shape)
            print(f"{name}: least {errors.min():.3f} at ln C = {LN_C[j]:.1f}, ln gamma = {LN_GAMMA[i]:.1f}")
        return
    figure, both = new_axes(2, 5, 4)
    least = np.floor(100 * min(errors.min() for errors in found.values())) / 100
    levels = least + 0.01 * np.arange(16)  # the valley; what is above looks alike
    for axes, (name, errors) in zip(both, found.items(), strict=True):
        drawn = axes.contourf(LN_C, LN_GAMMA, errors, levels, extend="max")
        axes.contour(LN_C, LN_GAMMA, errors, levels, colors="w", linewidths=0.4)
        i, j = np.unravel_index(errors.argmin(), errors.shape)
        axes.plot(LN_C[j], LN_GAMMA[i], "C3X", mec="w", ms=10, label=f"least error: {errors.min():.3f}")
        axes.set(title=name, xlabel="ln C", ylabel="ln gamma")
        axes.legend(loc="upper right")
    figure.colorbar(drawn, label="error", format="%.2f")
    figure.savefig(FOLDER / "landscapes.png")


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    draw_selection()
    draw_landscapes()
    if HAS_PICTURES:
        print("selection.png and landscapes.png are drawn")
