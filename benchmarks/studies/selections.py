"""Which committee to choose of models that are there: losses, tempering, numbers of members.

`python benchmarks/studies/selections.py FOLDER sonar ...` with a folder of tables as for `comitia bench`. Of each
table half, at most 1,000 rows, is trained on and at most 3,000 of the other half are the test. 100 random
configurations of the default space are fitted; what they say out of fold (of 5) and of the test rows is kept in
`--cache`. From 12 random halves of these models each rule chooses its committee. Printed are the test error and the
test log loss as a share of those of the best single model, and mean ranks, over tables. This is how `committee` was
chosen: use other tables to judge it.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from comitia import get_space
from comitia.arrays import has_probabilities
from comitia.bench.plan.plan import HoldOutTest
from comitia.bench.problems.finding import find_table
from comitia.committees.combine import Answers, codes_of, combined, probabilities
from comitia.committees.greedy import Greedy
from comitia.committees.losses import BRIER, LOG_LOSS, SQUARED_MARGIN, ZERO_ONE
from comitia.committees.tempering import temperature_of, tempered
from comitia.committees.votes import empty, make_rows
from comitia.evaluation.isolation import quiet

N_MODELS, N_DRAWN, N_DRAWS = 100, 50, 12
FEW = Greedy(most_members=8)
# name: loss, whose probabilities are tempered, how many join, whether it votes
RULES: dict[str, tuple[Any, str, Greedy, bool]] = {
    "votes, best 3 first (Lévesque 2018)": (ZERO_ONE, "none", Greedy(n_warm=3), True),
    "votes, best 3 first, 8": (ZERO_ONE, "none", Greedy(n_warm=3, most_members=8), True),
    "squared margin, 8": (SQUARED_MARGIN, "none", FEW, True),
    "log loss, 8": (LOG_LOSS, "none", FEW, False),
    "log loss": (LOG_LOSS, "none", Greedy(), False),
    "log loss, bags, 8": (LOG_LOSS, "none", Greedy(n_bags=10, most_members=8), False),
    "Brier, 8": (BRIER, "none", FEW, False),
    "log loss, margins tempered, 8": (LOG_LOSS, "margins", FEW, False),
    "log loss, all tempered, 8": (LOG_LOSS, "all", FEW, False),
    "Brier, margins tempered, 8": (BRIER, "margins", FEW, False),
    "Brier, all tempered, 8": (BRIER, "all", FEW, False),
}


def evaluate(name: str, folder: Path) -> dict[str, Any]:
    """Fit random configurations; return what they say out of fold and of the test rows."""
    problem, rng = find_table(name, folder, "This study"), np.random.default_rng(0)
    draw = problem.draw(HoldOutTest(0.5, None, 1000), 0)
    X, y, X_test, y_test = draw.X_train, draw.y_train, draw.X_test, draw.y_test
    if len(y) > 1000:
        some = rng.choice(len(y), 1000, replace=False)
        X, y = X[some], y[some]
    if len(y_test) > 3000:
        some = rng.choice(len(y_test), 3000, replace=False)
        X_test, y_test = X_test[some], y_test[some]
    ready = get_space("default", n_features=X.shape[1])
    classes = np.unique(y)
    found: dict[str, list[Any]] = {key: [] for key in ("P", "T", "M", "C", "CT")}
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))

    def both(model: Any, rows: Any) -> tuple[Any, Any]:
        return probabilities(model, rows, classes), codes_of(model.predict(rows), classes)

    for config in ready.space.decode(ready.space.sample(N_MODELS, rng)):
        p, codes = np.zeros((len(y), len(classes)), dtype=np.float32), np.zeros(len(y), dtype=np.intp)
        with quiet():
            for fold, (train, judged) in enumerate(folds):
                p[judged], codes[judged] = both(ready.build(config, fold).fit(X[train], y[train]), X[judged])
            model = ready.build(config, 9).fit(X, y)
            p_test, codes_test = both(model, X_test)
        values = (p, p_test, not has_probabilities(model), codes, codes_test)
        for kept, value in zip(found.values(), values, strict=True):
            kept.append(value)
    arrays = {key: np.array(values) for key, values in found.items()}
    return {**arrays, "y": np.searchsorted(classes, y), "yt": np.searchsorted(classes, y_test)}


def compare(models: dict[str, Any]) -> pd.DataFrame:
    """Return the mean test error and log loss of each rule."""
    P, T, codes, codes_test, y, y_test = (models[key] for key in ("P", "T", "C", "CT", "y", "yt"))
    n_classes, rows = P.shape[2], make_rows(y, P.shape[2])
    t = np.array([temperature_of(p, y, np.ones(len(y))) for p in P])
    temperatures = {"none": np.ones(len(P)), "margins": np.where(models["M"], t, 1.0), "all": t}
    warm = {
        who: [np.stack([tempered(*pair) for pair in zip(X, w, strict=True)]) for X in (P, T)]
        for who, w in temperatures.items()
    }
    kept = {
        rule: np.stack([loss.keep(v, y, n_classes) for v in (codes if votes else warm[who][0])])
        for rule, (loss, who, _, votes) in RULES.items()
    }
    found = []
    for draw in range(N_DRAWS):
        some = np.sort(np.random.default_rng(draw).choice(len(P), min(N_DRAWN, len(P)), replace=False))
        best = np.zeros(len(some), dtype=np.intp)
        best[(codes[some] != y).mean(axis=1).argmin()] = 1
        chosen = {"the best single model": (best, "none", True)}
        for rule, (loss, who, greedy, votes) in RULES.items():
            counts = greedy(empty(loss, rows), kept[rule][some], np.random.default_rng(draw))
            chosen[rule] = (counts, who, votes)
        for rule, (counts, who, votes) in chosen.items():
            w, inside = counts[counts > 0] / counts.sum(), some[counts > 0]
            answers = [Answers(codes_test[i], warm[who][1][i]) for i in inside]
            together = combined(answers, w.tolist(), n_classes=n_classes, votes=votes)
            assert together.probabilities is not None
            log_loss = -np.log(np.maximum(together.probabilities[np.arange(len(y_test)), y_test], 1e-7)).mean()
            found.append((rule, (together.values != y_test).mean(), log_loss))
    return pd.DataFrame(found, columns=["rule", "error", "log loss"]).groupby("rule", sort=False).mean()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("tables", nargs="+")
    parser.add_argument("--cache", type=Path, default=Path("selections"))
    options = parser.parse_args()
    options.cache.mkdir(exist_ok=True)
    parts = []
    for name in options.tables:
        path = options.cache / f"default-{name}.npz"
        if not path.exists():
            np.savez_compressed(path, **evaluate(name, options.folder))
        parts.append(compare(dict(np.load(path))))
        print(name, flush=True)
    for what in ("error", "log loss"):
        table = pd.DataFrame({name: part[what] for name, part in zip(options.tables, parts, strict=True)})
        shares = (table / table.loc["the best single model"]).mean(axis=1)
        summary = pd.DataFrame({"share of the best single": shares, "mean rank": table.rank().mean(axis=1)})
        print(f"\ntest {what}, {len(options.tables)} tables\n{summary.sort_values('mean rank').round(3)}")


if __name__ == "__main__":
    main()
