"""See what Bayesian optimisation sees: a posterior with its acquisition, and covariances by branch.

`posterior.png` is in the manner of Lévesque 2018, Fig. 2.3, for one moment of a search and a function of its own;
`covariances.png` shows the kernels of Figs. 5.2 (as sampled, imputed), 5.3 (conditional) and 5.5 (Laplace, Mondrian).
Prints characters where matplotlib is not installed.
Usage: python pictures.py [n_trials]
"""

import sys
from importlib.util import find_spec
from typing import Any

import ConfigSpace as CS
import numpy as np
from scipy.stats import uniform

from comitia import FunctionEvaluator, Seeds, Space, Study
from comitia.gp import Conditional, Laplace, SquaredExponential
from comitia.gp.mondrian import Mondrian
from comitia.optimizers.bayes.gaussian_process import GaussianProcess
from comitia.seams import Values


def objective(x: Any) -> Any:
    return np.sin(6 * x) + 0.5 * np.cos(17 * x)


def posterior(n_trials: int) -> dict[str, Any]:
    """Search a function of one number, and return what the model believes on a grid."""
    space = Space({"x": uniform(0, 1)})
    study = Study(space, "gp", seed=0).run(FunctionEvaluator(lambda c: float(objective(c["x"]))), n_trials=n_trials)
    X, y = study.history.X, study.history.losses
    belief = GaussianProcess(space).belief(X, Values(y), len(y), Seeds(0))
    grid = np.linspace(0, 1, 101)[:, None]
    mean, var = belief.posterior.mean_var(*belief.view(grid))
    scale = float(y.std())
    sd = np.sqrt(var.mean(axis=0) + mean.var(axis=0)) * scale
    [ask] = study.ask()
    return {
        "x": grid[:, 0],
        "truth": objective(grid[:, 0]),
        "mean": mean.mean(axis=0) * scale + float(y.mean()),
        "sd": sd,
        "ei": np.exp(belief.score(grid)),
        "observed": (X[:, 0], y),
        "next": ask.x[0],
    }


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


def show_as_characters(seen: dict[str, Any], matrices: dict[str, Any]) -> None:
    print("x     mean   sd    promise")
    for k in range(0, 101, 5):
        bar = "#" * round(30 * seen["ei"][k] / seen["ei"].max())
        print(f"{seen['x'][k]:.2f} {seen['mean'][k]:7.2f} {seen['sd'][k]:5.2f}  {bar}")
    print(f"next: x = {seen['next']:.3f}")
    for name, K in matrices.items():
        print(f"\n{name}")
        for row in K[::5, ::3]:
            print("".join(" .:-=+*#%@"[int(min(value, 0.999) * 10)] for value in row))


def draw(seen: dict[str, Any], matrices: dict[str, Any]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 5), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
    x, mean, sd = seen["x"], seen["mean"], seen["sd"]
    above.plot(x, seen["truth"], "k--", label="function")
    above.plot(x, mean, "C1", label="mean")
    above.fill_between(x, mean - sd, mean + sd, color="C1", alpha=0.3, label="one standard deviation")
    above.plot(*seen["observed"], "C1o", label="trials")
    above.legend()
    below.plot(x, seen["ei"], "C2", label="expected improvement")
    for axes in (above, below):
        axes.axvline(seen["next"], color="C3", linestyle=":", label="next")
    below.legend()
    figure.savefig("posterior.png")
    figure = Figure(figsize=(3 * len(matrices), 3.2), layout="constrained")
    for axes, (name, K) in zip(figure.subplots(1, len(matrices)), matrices.items(), strict=True):
        axes.imshow(K, vmin=0, vmax=1)
        axes.set_title(name)
    figure.savefig("covariances.png")
    print("posterior.png and covariances.png are drawn")


def main() -> None:
    n_trials = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    seen, matrices = posterior(n_trials), covariances()
    if find_spec("matplotlib") is None:
        show_as_characters(seen, matrices)
    else:
        draw(seen, matrices)


if __name__ == "__main__":
    main()
