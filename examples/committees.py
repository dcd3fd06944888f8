"""Pictures of ensemble optimisation: slots.png, losses.png and sizes.png.

What each slot of a committee lacks (Lévesque 2018, Fig. 4.4); losses of a committee as they depend on its members'
strength and disagreement (Fig. 4.5); errors against its size (in the manner of Figs. 4.1 and 4.10).
Draws where matplotlib is installed, prints where it is not.
Usage: python committees.py [n_trials]
"""

import sys
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy import stats
from sklearn.datasets import make_moons
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from comitia import Study, TableEvaluator, get_space
from comitia.committees import Ensemble
from comitia.committees.greedy import Greedy
from comitia.committees.losses import C_BOUND, SQUARED_MARGIN
from comitia.committees.slots import SlotRules, committee_of
from comitia.evaluation.scoring import ROW_LOSSES
from comitia.methods.papers.levesque2018 import ensemble_optimisation
from comitia.selections.committees import GreedyCommittee, validation_loss

N_TRIALS = int(sys.argv[1]) if len(sys.argv) > 1 else 50
HAS_PICTURES = find_spec("matplotlib") is not None
X, Y = make_moons(900, noise=0.35, random_state=0)
X_TRAIN, X_TEST, Y_TRAIN, Y_TEST = train_test_split(X, Y, train_size=300, random_state=0)


def new_axes(n: int, **options: Any) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5 * n, 3.5), layout="constrained")
    return figure, figure.subplots(1, n, squeeze=False, **options)[0]


def machine(config: Any, seed: int) -> SVC:
    return SVC(C=10.0, gamma=config["gamma"])


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
    figure.savefig("slots.png")


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
    figure.savefig("losses.png")


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
    figure.savefig("sizes.png")


if __name__ == "__main__":
    draw_slots()
    draw_losses()
    draw_sizes()
    if HAS_PICTURES:
        print("slots.png, losses.png and sizes.png are drawn")
