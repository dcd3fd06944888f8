"""A folder of small tables with an index, as users bring it."""

from pathlib import Path

import numpy as np
import pandas as pd


def make_folder(place: Path) -> Path:
    """Write a binary, a messy, a regression and a far too small table."""
    rng = np.random.default_rng(0)
    n = 120
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    y = (X["a"] + 0.5 * X["b"] + 0.3 * rng.normal(size=n) > 0).map({True: "yes", False: "no"})
    X.assign(target=y).to_parquet(place / "plain.parquet")
    messy = X.assign(town=rng.choice(["x", "y", "z"], n), side=rng.choice(["l", "r"], n), same=1.0)
    messy.loc[:5, "a"] = np.nan
    messy.loc[3:9, "town"] = None
    messy.assign(target=np.where(y == "yes", rng.integers(0, 2, n), 2)).to_csv(place / "messy.csv", index=False)
    X.assign(target=X["a"] * 3 + rng.normal(size=n)).to_parquet(place / "numbers.parquet")
    X.head(4).assign(target=["p", "q", "r", "s"]).to_parquet(place / "tiny.parquet")
    rows = [("plain", "binary", n), ("messy", "multiclass", n), ("numbers", "regression", n), ("tiny", "multiclass", 4)]
    pd.DataFrame(rows, columns=["name", "task", "n_rows"]).to_csv(place / "index.csv", index=False)
    return place
