"""See what Bayesian optimisation sees: snapshots.png, covariances.png and mondrian.png.

A Gaussian process and its acquisition while the width of an SVM's kernel is searched (Lévesque 2018, Fig. 2.3), on the
table `ionosphere` of the folder that COMITIA_DATA names, else on one of scikit-learn's; covariances of configurations
by branch (Figs. 5.2: as sampled, imputed; 5.3: conditional; 5.5: Laplace, Mondrian); a Mondrian partition and its
features (Fig. 5.4). Prints characters where matplotlib is not installed.
Usage: python pictures.py [n_trials] [folder]
"""

import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import ConfigSpace as CS
import numpy as np
from scipy.stats import loguniform
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from comitia import FunctionEvaluator, Seeds, Space, Study
from comitia.bench.plan.plan import HoldOutTest
from comitia.bench.problems.finding import data_folder, find_table
from comitia.gp import Conditional, Laplace, SquaredExponential
from comitia.gp.mondrian import Mondrian
from comitia.optimizers.bayes.gaussian_process import GaussianProcess
from comitia.seams import Values

N_TRIALS = int(sys.argv[1]) if len(sys.argv) > 1 else 20
FOLDER = Path(sys.argv[2] if len(sys.argv) > 2 else ".")
HAS_PICTURES = find_spec("matplotlib") is not None
LOW, HIGH = 1e-5, 1e2
LEVELS = " .:-=+*#%@"


def new_figure(width: float, height: float) -> Any:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


# ---- snapshots of a search ------------------------------------------------------------------------------------------


def validation_error() -> tuple[str, Callable[[float], float]]:
    """Return the name of a table, and the error on a fifth of its training rows of an SVM with C = 1 and this width."""
    folder = data_folder(None)
    problem = find_table("sklearn:breast_cancer" if folder is None else "ionosphere", folder, "This picture")
    draw = problem.draw(HoldOutTest(test=0.2), 0)
    X, X_new, y, y_new = train_test_split(draw.X_train, draw.y_train, test_size=0.2, random_state=0)
    mean, scale = X.mean(axis=0), np.maximum(X.std(axis=0), 1e-12)

    def error(tau: float) -> float:
        machine = SVC(C=1.0, gamma=tau).fit((X - mean) / scale, y)
        return float(np.mean(machine.predict((X_new - mean) / scale) != y_new))

    return problem.name, error


def snapshots(error: Callable[[float], float]) -> list[dict[str, Any]]:
    """Search the width, and return what the model believes after a quarter of the trials, two fifths, ..., all."""
    space = Space({"tau": loguniform(LOW, HIGH)})
    study = Study(space, "gp", seed=1).run(FunctionEvaluator(lambda c: error(c["tau"])), n_trials=N_TRIALS)
    X, y = study.history.X, study.history.losses
    grid = np.linspace(0, 1, 201)[:, None]
    found = []
    for n in sorted({max(2, round(share * N_TRIALS)) for share in (0.25, 0.4, 0.6, 1.0)}):
        belief = GaussianProcess(space).belief(X[:n], Values(y[:n]), n, Seeds(0))
        mean, var = belief.posterior.mean_var(*belief.view(grid))
        centre, scale = float(y[:n].mean()), float(y[:n].std())
        found.append({
            "tau": width(grid[:, 0]),
            "mean": mean.mean(axis=0) * scale + centre,
            "sd": np.sqrt(var.mean(axis=0) + mean.var(axis=0)) * scale,
            "promise": np.exp(belief.score(grid)) * scale,
            "observed": (width(X[:n, 0]), y[:n]),
        })  # fmt: skip
    return found


def width(u: Any) -> Any:
    """Return the width of a kernel from its place on the logarithmic scale."""
    return LOW * (HIGH / LOW) ** u


def draw_snapshots() -> None:
    """Lévesque 2018, Fig. 2.3: the error with its model above, the acquisition with its maximum below."""
    table, error = validation_error()
    found = snapshots(error)
    if not HAS_PICTURES:
        for seen in found:
            best = seen["promise"].argmax()
            bars = "".join(LEVELS[int(9 * p / seen["promise"][best])] for p in seen["promise"][::4])
            print(f"{len(seen['observed'][0]):3d} trials |{bars}| next: tau = {seen['tau'][best]:.2g}")
        return
    widths = width(np.linspace(0, 1, 101))
    truth = [error(tau) for tau in widths]
    figure = new_figure(10, 3.6 * ((len(found) + 1) // 2))
    parts = np.ravel(figure.subfigures((len(found) + 1) // 2, 2))
    for part, seen in zip(parts, found, strict=False):
        above, below = part.subplots(2, 1, sharex=True, height_ratios=[3, 1])
        tau, mean, sd = seen["tau"], seen["mean"], seen["sd"]
        above.plot(widths, truth, color="0.5", lw=1, label="validation error")
        above.plot(tau, mean, "C0", label="mean")
        above.fill_between(tau, mean - sd, mean + sd, color="C0", alpha=0.25, lw=0, label="one standard deviation")
        above.plot(*seen["observed"], "kx", label="trials")
        above.set(title=f"{len(seen['observed'][0])} trials", ylabel="error", ylim=(-0.02, 1.6 * max(truth)))
        best = seen["promise"].argmax()
        below.plot(tau, seen["promise"], "C2")
        below.plot(tau[best], seen["promise"][best], "C3o", clip_on=False)
        below.set(xscale="log", xlabel="tau", ylabel="EI", yticks=[])
        above.axvline(tau[best], color="C3", ls=":", label="next trial")
        if seen is found[-1]:
            above.legend(fontsize=8, loc="upper center", ncols=2)
    figure.suptitle(f"SVM with C = 1 on {table}")
    figure.savefig(FOLDER / "snapshots.png")


# ---- kernels --------------------------------------------------------------------------------------------------------


def covariances() -> dict[str, Any]:
    """Return the covariance of a hundred configurations, sorted by branch, under several kernels."""
    definition = CS.ConfigurationSpace()
    kind = CS.CategoricalHyperparameter("kind", ["a", "b", "c"])
    reals = [CS.UniformFloatHyperparameter(f"{name}:x", 0.0, 1.0) for name in "abc"]
    definition.add(kind, *reals, *(CS.EqualsCondition(x, kind, x.name[0]) for x in reals))
    space = Space(definition)
    X = space.sample(100, np.random.default_rng(0))
    X = X[np.argsort(space.branches(X), kind="stable")]
    imputed = space.impute(X)
    kernel = SquaredExponential(0.5)
    return {
        "as sampled": kernel(X, X),
        "imputed": kernel(imputed, imputed),
        "conditional": Conditional(kernel, space.branches)(imputed, imputed),
        "Laplace": Laplace(0.75)(imputed, imputed),
        "Mondrian": Mondrian(np.full(4, 0.75), np.random.default_rng(0), 30)(imputed, imputed),
    }


def draw_covariances() -> None:
    """Lévesque 2018, Figs. 5.2, 5.3 and 5.5."""
    matrices = covariances()
    if not HAS_PICTURES:
        for name, K in matrices.items():
            print(f"\n{name}")
            for row in K[::5, ::3]:
                print("".join(LEVELS[int(min(value, 0.999) * 10)] for value in row))
        return
    figure = new_figure(3 * len(matrices), 3.2)
    for axes, (name, K) in zip(figure.subplots(1, len(matrices)), matrices.items(), strict=True):
        axes.imshow(K, vmin=0, vmax=1)
        axes.set_title(name)
    figure.savefig(FOLDER / "covariances.png")


def draw_mondrian(n_points: int = 8) -> None:
    """Lévesque 2018, Fig. 5.4: the cells that a Mondrian process cuts a square into, and which point is in which."""
    kernel = Mondrian(np.array([0.5, 0.5]), np.random.default_rng(38), n_partitions=1)
    side = np.linspace(0, 1, 401)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    points = np.random.default_rng(33).uniform(size=(n_points, 2))
    names, cells = np.unique(kernel.cells(np.vstack([grid, points]))[0], return_inverse=True)
    of_points = cells[len(grid) :]
    features = of_points[:, None] == np.arange(len(names))  # eq. 5.12: a cell for each feature
    if not HAS_PICTURES:
        print(f"\na Mondrian partition into {len(names)} cells, and the features of {n_points} points")
        for row in features:
            print("".join(".1"[value] for value in row.astype(int)))
        return
    cells = cells[: len(grid)].reshape(len(side), len(side))
    figure = new_figure(10, 4)
    left, right = figure.subplots(1, 2, width_ratios=[1, 1.3])
    left.imshow(cells, origin="lower", extent=(0, 1, 0, 1), cmap="Pastel1", interpolation="nearest")
    for cell in range(len(names)):
        rows, columns = np.nonzero(cells == cell)
        if len(rows):
            x, y = (side[[rank.min(), rank.max()]] for rank in (columns, rows))
            left.plot(x[[0, 1, 1, 0, 0]], y[[0, 0, 1, 1, 0]], "k", lw=1)
            left.text(x.mean(), y.mean(), str(cell), color="0.4", ha="center", va="center")
    left.plot(*points.T, "kx")
    for number, point in enumerate(points):
        left.annotate(f"$x_{number}$", point, xytext=(4, 4), textcoords="offset points")
    left.set(title="the partition", xlabel="first dimension", ylabel="second dimension")
    right.imshow(features, cmap="Greys", aspect="auto", vmin=0, vmax=1.4)
    labels = [f"$x_{number}$" for number in range(n_points)]
    right.set(title="features: 1 in the cell of the point, else 0", xlabel="cell", xticks=range(len(names)))
    right.set_yticks(range(n_points), labels)
    figure.savefig(FOLDER / "mondrian.png")


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    draw_snapshots()
    draw_covariances()
    draw_mondrian()
    if HAS_PICTURES:
        print("snapshots.png, covariances.png and mondrian.png are drawn")
