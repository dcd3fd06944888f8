"""Preparing tables and predicting through the whole pipeline, with the memory it takes."""

import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from yardstick import forest_seconds, report

import comitia
from comitia import AutoClassifier
from comitia.tables.cleaner import TableCleaner


def mixed(n: int, p: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    columns: dict[str, object] = {}
    for i in range(p):
        match i % 10:
            case 0 | 1 | 2 | 3:
                columns[f"number {i}"] = np.where(rng.random(n) < 0.05, np.nan, rng.normal(size=n))
            case 4 | 5 | 6:
                columns[f"category {i}"] = rng.choice(np.array(["red", "green", "blue", None]), n)
            case 7:
                columns[f"id {i}"] = rng.choice([f"user {j}" for j in range(3000)], n)
            case 8:
                columns[f"date {i}"] = pd.date_range("2020", periods=n, freq="h").astype(str)
            case 9:
                columns[f"flag {i}"] = rng.random(n) < 0.5
    return pd.DataFrame(columns)


def timed(X: pd.DataFrame) -> float:
    began = time.perf_counter()
    TableCleaner().fit(X).transform(X)
    return time.perf_counter() - began


def one_row(X: pd.DataFrame) -> None:
    """Print the median time to clean one row, as somebody does who serves a model."""
    cleaner, row, seconds = TableCleaner().fit(X), X.iloc[:1], []
    for _ in range(200):
        began = time.perf_counter()
        cleaner.transform(row)
        seconds.append(time.perf_counter() - began)
    took = 1e3 * float(np.median(seconds))
    print(f"one row of {X.shape[1]} mixed columns: {took:.2f} ms, target 3: {'met' if took < 3 else 'MISSED'}")


def main() -> None:
    forest = forest_seconds()
    wide = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 7000)))
    report("60 x 7,000 numeric columns", timed(wide), forest, 1.0)
    X = mixed(50_000, 100)
    report("50,000 x 100 mixed columns", timed(X), forest, 10.0)
    some = mixed(500, 50)
    for name in [name for name in some.columns if name.startswith("date")]:
        some[name] = pd.to_datetime(some[name])
    one_row(some)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"peak memory of the whole process, table included: {peak:.2f} GB, target 2: ", end="")
    print("met" if peak < 2 else "MISSED")
    small = X.iloc[:5000, :30]
    y = (small["number 0"].fillna(0) > 0).astype(int)
    model = AutoClassifier(n_trials=1, include=["lightgbm"], cv=2, random_state=0).fit(small, y)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        loaded = comitia.load(Path(folder) / "model")
    new = X.iloc[:, :30]
    began = time.perf_counter()
    loaded.predict(new)
    rate = len(new) / (time.perf_counter() - began)
    print(f"predict, 30 mixed columns, one LightGBM member: {rate:,.0f} rows a second, target 10,000: ", end="")
    print("met" if rate >= 10_000 else "MISSED")


if __name__ == "__main__":
    main()
