"""See what PBIL learns: the probability of each kind of ensemble, generation by generation.

Xavier-Júnior et al. 2020, section 4.
Draws `vectors.png` where matplotlib is installed, prints characters where it is not.
Usage: python vectors.py [n_trials]
"""

import sys
from functools import partial
from importlib.util import find_spec

from sklearn.datasets import load_wine

from comitia import Method, Study, TableEvaluator, get_space
from comitia.optimizers import PBIL
from comitia.optimizers.pbil.pbil import Course


def searched(n_trials: int) -> Course:
    """Search the space of ensembles on the wine data; return the course of its first probability vector."""
    X, y = load_wine(return_X_y=True)
    ready = get_space("ensembles")
    method = Method("pbil-here", partial(PBIL, population=max(2, n_trials // 8)), "PBIL in eight generations.")
    study = Study(ready.space, method, seed=0)
    study.run(TableEvaluator(ready.build, X, y, cv=2), n_trials=n_trials)
    values = method.goal.values(study.history, study.seeds)
    optimizer = PBIL(ready.space, population=max(2, n_trials // 8))
    return optimizer.courses(study.history, values, study.seeds)["ensemble"]


def show_as_characters(course: Course) -> None:
    for label, p in zip(course.labels, course.p.T, strict=True):
        print(f"{label:18}", "".join(" .:-=+*#%@"[int(min(value, 0.999) * 10)] for value in p))


def draw(course: Course) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    axes.stackplot(range(len(course.p)), course.p.T, labels=course.labels)
    axes.set(xlabel="generation", ylabel="probability", ylim=(0, 1))
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig("vectors.png")
    print("vectors.png is drawn")


def main() -> None:
    course = searched(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
    if find_spec("matplotlib") is None:
        show_as_characters(course)
    else:
        draw(course)


if __name__ == "__main__":
    main()
