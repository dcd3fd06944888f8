"""How many evaluations UH-CMA-ES averages in each generation, for an SVM on the chess board.

Glasmachers and Igel 2008, Fig. 2. Draws `averages.png` where matplotlib is installed, prints it where it is not.
Usage: python averages.py [n_evaluations]
"""

import sys
from importlib.util import find_spec

import numpy as np
from sklearn.model_selection import ShuffleSplit

from comitia import Reshuffled, Study, TableEvaluator, get_space
from comitia.bench.problems.synthetic import chess
from comitia.optimizers.cmaes.uncertainty import averages


def main() -> None:
    n_evaluations = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    X, y = chess(100, np.random.default_rng(0))
    ready = get_space("svm-rbf")
    evaluator = TableEvaluator(ready.build, X, y, cv=Reshuffled(ShuffleSplit(1, test_size=0.2)))
    study = Study(ready.space, "uh-cma", seed=0)
    study.run(evaluator, n_evaluations=n_evaluations)
    found = averages(study.history)
    if find_spec("matplotlib") is None:
        for generation, number in enumerate(found):
            print(f"{generation:4d} {number:5d} {'#' * min(int(number), 100)}")
    else:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6, 3), layout="constrained")
        axes = figure.subplots()
        axes.step(range(len(found)), found, where="mid")
        axes.set(xlabel="generation", ylabel="evaluations per fitness value", yscale="log")
        figure.savefig("averages.png")
        print("averages.png is drawn")
    [member] = study.members()
    print(f"the distribution's mean after {study.history.n_evaluations} evaluations: {member.config}")


if __name__ == "__main__":
    main()
