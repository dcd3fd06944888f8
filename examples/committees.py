"""Pictures of ensemble optimisation: step.png, slots.png, losses.png, margins.png and sizes.png.

One step of it (Lévesque 2018, Fig. 4.2), on the table `pima` of the folder that COMITIA_DATA names, else on two moons;
what each slot of a committee lacks (Fig. 4.4); losses of a committee as they depend on its members' strength and
disagreement (Fig. 4.5) and on the margin (Figs. 4.6 and 4.7); errors against its size (in the manner of Figs. 4.1 and
4.10). Draws where matplotlib is installed, prints where it is not.
Usage: python committees.py [n_trials] [folder]
"""

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats
from sklearn.datasets import make_moons
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from comitia import Seeds, Space, Study, TableEvaluator, get_space
from comitia.arrays import AnyArray, Array
from comitia.bench.plan.plan import HoldOutTest
from comitia.bench.problems.finding import data_folder, find_table
from comitia.committees import Ensemble
from comitia.committees.greedy import Greedy
from comitia.committees.losses import C_BOUND, MARGIN, SIGMOID, SQUARED_MARGIN, ZERO_ONE, VoteLoss, sigmoid_slope
from comitia.committees.pool import no_members, pool_of
from comitia.committees.slots import SlotRules, committee_of
from comitia.evaluation.scoring import ROW_LOSSES
from comitia.methods.papers.levesque2018 import ensemble_optimisation
from comitia.optimizers.bayes.gaussian_process import GaussianProcess
from comitia.seams import Values
from comitia.selections.committees import GreedyCommittee, validation_loss

N_TRIALS = int(sys.argv[1]) if len(sys.argv) > 1 else 50
FOLDER = Path(sys.argv[2] if len(sys.argv) > 2 else ".")
HAS_PICTURES = find_spec("matplotlib") is not None
X, Y = make_moons(900, noise=0.35, random_state=0)
X_TRAIN, X_TEST, Y_TRAIN, Y_TEST = train_test_split(X, Y, train_size=300, random_state=0)


def new_axes(n: int, width: float = 5, height: float = 3.5, **options: Any) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * n, height), layout="constrained")
    return figure, figure.subplots(1, n, squeeze=False, **options)[0]


def machine(config: Any, seed: int) -> SVC:
    return SVC(C=10.0, gamma=config["gamma"])


def step_table() -> tuple[str, Array, AnyArray]:
    """Return the name, the inputs, standardised, and the classes of the table for one step."""
    folder = data_folder(None)
    if folder is None:
        return "two moons", X_TRAIN, Y_TRAIN
    draw = find_table("pima", folder, "This picture").draw(HoldOutTest(test=0.2), 0)
    return "pima", (draw.X_train - draw.X_train.mean(axis=0)) / draw.X_train.std(axis=0), draw.y_train


def believed(space: Space, X: Array, y: Array, grid: Array) -> tuple[Array, Array]:
    """Return the mean and the standard deviation of a Gaussian process on a grid."""
    belief = GaussianProcess(space).belief(X, Values(y), len(y), Seeds(0))
    mean, var = belief.posterior.mean_var(*belief.view(grid))
    sd = np.sqrt(var.mean(axis=0) + mean.var(axis=0))
    return mean.mean(axis=0) * y.std() + y.mean(), sd * y.std()


def draw_step() -> None:
    """Lévesque 2018, Fig. 4.2: SVMs of one width each alone, and each with the same two, which are chosen greedily."""
    name, X, y = step_table()
    space = Space({"gamma": stats.loguniform(1e-5, 1e5)})
    study = Study(space, "sobol[select=rs-post]", seed=0)
    study.run(TableEvaluator(machine, X, y, cv=0.3, keep="predictions"), n_trials=min(N_TRIALS, 20))
    history = study.history
    pool = pool_of(history, ZERO_ONE)
    two: list[int] = []  # places in the pool
    for _ in range(2):
        losses = no_members(pool, SQUARED_MARGIN).plus(pool.answers[two]).losses_with(pool.answers)
        two.append(next(int(place) for place in np.argsort(losses, kind="stable") if place not in two))
    together = no_members(pool, ZERO_ONE).plus(pool.answers[two]).losses_with(pool.answers)
    alone = history.losses[pool.numbers]
    gammas = np.array([history.trial(int(number)).config["gamma"] for number in pool.numbers])
    if not HAS_PICTURES:
        print(f"one step on {name}: best alone {gammas[alone.argmin()]:.3g} ({alone.min():.3f}), ", end="")
        print(f"best beside {gammas[two]} {gammas[together.argmin()]:.3g} ({together.min():.3f})")
        return
    figure, [axes] = new_axes(1, width=8, height=4.5)
    grid = np.linspace(0, 1, 201)[:, None]
    where = 1e-5 * 1e10 ** grid[:, 0]
    marks = (("C3", "x", alone, "f(gamma): a model alone"), ("C0", "+", together, "f(gamma | E): with E"))
    for colour, mark, errors, label in marks:
        mean, sd = believed(space, history.X[pool.numbers], errors, grid)
        axes.plot(gammas, errors, mark, color=colour, ms=8, mew=2)
        axes.plot(where, mean, color=colour, label=label)
        axes.fill_between(where, mean - sd, mean + sd, color=colour, alpha=0.15, lw=0)
    axes.plot(gammas[two], alone[two], "ko", mfc="none", ms=13, label="E")
    axes.set(xscale="log", xlabel="gamma", ylabel="validation error", title=f"SVMs on {name}")
    axes.legend()
    figure.savefig(FOLDER / "step.png")


def draw_slots() -> None:
    """Lévesque 2018, Fig. 4.4: the width of a kernel, and for each slot the loss with each model in its place."""
    rules = SlotRules(SQUARED_MARGIN, n_slots=5)
    study = Study({"gamma": stats.loguniform(1e-4, 1e4)}, ensemble_optimisation("five", "Five slots.", rules), seed=0)
    study.run(TableEvaluator(machine, X_TRAIN, Y_TRAIN, keep="predictions"), n_trials=N_TRIALS)
    history = study.history
    gammas = np.array([history.trial(number).config["gamma"] for number in range(len(history))])
    committee = committee_of(history, rules)
    lines = []
    for slot, member in enumerate(committee.slots):
        numbers, losses = committee.losses_in(history, slot)
        order = np.argsort(gammas[numbers])
        lines.append((gammas[numbers][order], losses[order], gammas[member], float(history.losses[member])))
    if not HAS_PICTURES:
        for slot, (where, losses, own, error) in enumerate(lines):
            print(f"slot {slot}: gamma {own:9.3g} (error {error:.3f}), best at {where[losses.argmin()]:9.3g}")
        return
    figure, [alone, beside] = new_axes(2)
    order = np.argsort(gammas)
    alone.plot(gammas[order], history.losses[order], "k--", label="a model alone")
    together = validation_loss(history, study.members(), ROW_LOSSES["zero-one"])
    alone.axhline(together, color="k", ls="-.", label="all five")
    for slot, (where, losses, own, error) in enumerate(lines):
        [line] = beside.plot(where, losses, label=f"slot {slot}")
        beside.plot(where[losses.argmin()], losses.min(), "o", color=line.get_color())
        alone.plot(own, error, "D", color=line.get_color())
    alone.set(xscale="log", xlabel="gamma", ylabel="error")
    beside.set(xscale="log", xlabel="gamma", ylabel="squared margin loss with it in the slot")
    alone.legend()
    beside.legend()
    figure.savefig(FOLDER / "slots.png")


def draw_losses() -> None:
    """Lévesque 2018, Fig. 4.5: by first moment of the margin and disagreement d; the second moment is 1 - 2 d."""
    first, disagreement = np.meshgrid(np.linspace(-1, 1, 201), np.linspace(0, 0.5, 101))
    second = 1 - 2 * disagreement
    margin = np.where(second >= first**2, (1 - 2 * first + second) / 4, np.nan)  # Lévesque 2018, eq. 4.8
    bound = np.where(second >= first**2, C_BOUND.combine(np.stack([first, second], axis=-1)), np.nan)  # eq. 4.22
    if not HAS_PICTURES:
        for at in (-0.5, 0.0, 0.5):
            place = (0, round((at + 1) * 100))
            print(f"mean margin {at:4.1f}, no disagreement: squared margin {margin[place]:.2f}, C {bound[place]:.2f}")
        return
    figure, both = new_axes(2, sharey=True)
    for axes, values, title in zip(both, (margin, bound), ("squared margin loss", "C-bound"), strict=True):
        drawn = axes.contourf(first, disagreement, values, 20)
        axes.contour(first, disagreement, values, 8, colors="w", linewidths=0.5)
        axes.set(title=title, xlabel="first moment of the margin", ylabel="disagreement")
        figure.colorbar(drawn)
    figure.savefig(FOLDER / "losses.png")


def by_margin(loss: VoteLoss, margins: Array, size: int) -> Array:
    """Return the loss of one example with two classes, given its margin."""
    right = size * (1 + margins[:, None]) / 2
    return loss(right, size - right, size, np.ones(1))


def draw_margins(size: int = 7) -> None:
    """Lévesque 2018, Figs. 4.6 and 4.7: the sigmoid loss with all its values in a committee of seven; all losses.

    The slope is that of the size, 9.58; the thesis draws Fig. 4.6 with 10.
    """
    possible, margins = np.linspace(-1, 1, size + 1), np.linspace(-1, 1, 401)
    losses = {"zero-one": ZERO_ONE, "margin": MARGIN, "squared margin": SQUARED_MARGIN, "sigmoid": SIGMOID}
    if not HAS_PICTURES:
        print(f"{'':14} " + " ".join(f"{margin:5.2f}" for margin in possible))
        for name, loss in losses.items():
            print(f"{name:14} " + " ".join(f"{value:5.3f}" for value in by_margin(loss, possible, size)))
        return
    figure, [left, right] = new_axes(2)
    for name in ("zero-one", "sigmoid"):
        [line] = left.plot(margins, by_margin(losses[name], margins, size), label=name)
        left.plot(possible, by_margin(losses[name], possible, size), "o", color=line.get_color())
    left.set(title=f"a committee of {size}: slope {sigmoid_slope(size):.2f}", xlabel="margin", ylabel="loss")
    for name, loss in losses.items():
        right.plot(margins, by_margin(loss, margins, size), label=name)
    right.set(title="all losses by margin", xlabel="margin", ylabel="loss")
    left.legend()
    right.legend()
    figure.savefig(FOLDER / "margins.png")


def draw_sizes() -> None:
    """In the manner of Lévesque 2018, Figs. 4.1 and 4.10: greedy committees of growing size.

    Its figures show the bank data, with bags of the pool and the 5 best models to begin with, and networks on CIFAR-10,
    the mean of 10 repetitions. This one shows SVMs on two moons that Bayesian optimisation (`bo-post`) and ensemble
    optimisation (`eo-post`) have tried: one repetition, no bags, the 3 best models to begin with. For each size the
    best committee of up to that many models is drawn.
    """
    ready = get_space("svm-rbf")
    sizes = list(range(1, 2 * min(N_TRIALS, 15)))
    curves: dict[str, list[tuple[float, float]]] = {}
    for name in ("bo-post", "eo-post"):
        study = Study(ready.space, name, seed=0)
        study.run(TableEvaluator(ready.build, X_TRAIN, Y_TRAIN, keep="predictions"), n_trials=N_TRIALS)
        search = study.method.make_optimizer(ready.space)
        models: dict[Any, Any] = {}
        curves[name] = []
        for size in sizes:
            members = GreedyCommittee(Greedy(n_steps=size, n_warm=3)).members(study.history, search, study.seeds)
            for member in members:
                if member.trial not in models:
                    models[member.trial] = ready.build(member.config, 0).fit(X_TRAIN, Y_TRAIN)
            fitted, weights = [models[m.trial] for m in members], [m.weight for m in members]
            test = float(np.mean(Ensemble(fitted, weights, 2, votes=True).predict(X_TEST) != Y_TEST))
            curves[name].append((validation_loss(study.history, members, ROW_LOSSES["zero-one"]), test))
    if not HAS_PICTURES:
        for name, curve in curves.items():
            for size, (validation, test) in zip(sizes, curve, strict=True):
                print(f"{name} {size:3d}: validation {validation:.3f} test {test:.3f}")
        return
    figure, [axes] = new_axes(1)
    for name, curve in curves.items():
        errors = np.array(curve)
        [line] = axes.plot(sizes, errors[:, 1], label=f"{name}, test")
        axes.plot(sizes, errors[:, 0], "--", color=line.get_color(), label=f"{name}, validation")
    axes.set(xlabel="models in the committee, at most", ylabel="error")
    axes.legend()
    figure.savefig(FOLDER / "sizes.png")


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    draw_step()
    draw_slots()
    draw_losses()
    draw_margins()
    draw_sizes()
    if HAS_PICTURES:
        print("step.png, slots.png, losses.png, margins.png and sizes.png are drawn")
