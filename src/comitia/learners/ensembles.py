"""`ensembles` (Xavier-Júnior et al. 2020, Tables 1-4): seven kinds of ensembles over nine base classifiers.

Level 1 chooses the ensemble, level 2 tunes it, level 3 chooses its base classifiers, level 4 tunes those, level 5 the
SVM's kernels. Levels 4 and 5 are shared by all ensembles. Reals have the `components` of the paper's tables, which PBIL
chooses from; for other optimizers they are reals. The paper uses WEKA: docs/methods/pbil.md has a table of what each
hyperparameter became. Seeds, which the paper searches too, are left to the study: a lucky seed does not generalise.
"""

from functools import cache

import ConfigSpace as CS
from sklearn.base import BaseEstimator
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from comitia.learners.learner_space import LearnerSpace, choice, integer, log_real, real, space_of, standardised
from comitia.learners.weka.cells import BayesNet, DecisionTable, KernelBayes
from comitia.learners.weka.instances import KStar, Neighbours, Weights
from comitia.learners.weka.machines import Kernel, Perceptron, SupportVectors, Tree
from comitia.learners.weka.meta import RULES, Boosted, Vote
from comitia.learners.weka.svm_kernels import NormalisedPolynomial, PearsonVII, Polynomial
from comitia.space import Config
from comitia.space.hyperparameters import Definition

ENSEMBLES = ["random-committee", "adaboost", "bagging", "random-forest", "stacking", "voting", "none"]
BASES = ["net", "nb", "mlp", "smo", "ibk", "kst", "j48", "dt", "rt"]
"""Bayesian network, naive Bayes, perceptron, SVM, neighbours, K*, C4.5, decision table, random tree."""
RANDOM = {"mlp", "rt"}
"""Base classifiers whose copies differ; copies of the others are one model that counts several times."""
KERNELS = ["default", "normalised-poly", "poly", "puk", "rbf"]
MOST_MEMBERS = 10
"""Base classifiers that stacking or voting may have (NBC in the paper)."""


def _level_2() -> dict[str, list[Definition]]:
    """Table 1, by ensemble; the first part of a name is the paper's abbreviation."""
    return {
        "random-committee": [integer("rc:iterations", 2, 64)],
        "adaboost": [
            choice("ad:resample", [True, False]),
            integer("ad:percent", 50, 100),
            integer("ad:iterations", 2, 128),
        ],
        "bagging": [integer("ba:percent", 10, 100), integer("ba:iterations", 2, 128)],
        "random-forest": [
            integer("rf:iterations", 2, 256),
            integer("rf:features", 1, 32),
            integer("rf:depth", 1, 20),
        ],
        "stacking": [integer("st:folds", 2, 10), integer("st:members", 1, MOST_MEMBERS)],
        "voting": [choice("vt:rule", list(RULES)), integer("vt:members", 1, MOST_MEMBERS)],
        "none": [],
    }


def _level_3() -> dict[str, list[Definition]]:
    """Table 2, by ensemble. Stacking and voting draw once per member, all from one vector of probabilities."""
    single = {"random-committee": "rc", "adaboost": "ad", "bagging": "ba", "none": "ne"}
    found: dict[str, list[Definition]] = {
        ensemble: [choice(f"{short}:base", BASES)] for ensemble, short in single.items()
    }
    found["random-forest"] = []  # always of trees
    for ensemble, short in (("stacking", "st"), ("voting", "vt")):
        found[ensemble] = [
            CS.CategoricalHyperparameter(f"{short}:base_{k}", BASES, meta={"vector": f"{short}:base"})
            for k in range(1, MOST_MEMBERS + 1)
        ]
    return found


def _level_4() -> dict[str, list[Definition]]:
    """Table 3, by base classifier."""
    return {
        "net": [choice("net:structure", ["naive", "tree"])],
        "nb": [choice("nb:density", ["gaussian", "kernel", "cells"])],
        "mlp": [
            choice("mlp:hidden", ["a", "i", "o", "t"]),
            real("mlp:rate", 0.1, 1.0, components=10),
            real("mlp:momentum", 0.1, 1.0, components=10),
            choice("mlp:decay", [True, False]),
        ],
        "smo": [choice("smo:kernel", KERNELS)],
        "ibk": [
            integer("ibk:k", 1, 64),
            choice("ibk:validated", [True, False]),
            choice("ibk:similarity", [True, False]),
            choice("ibk:inverse", [True, False]),
        ],
        "kst": [choice("kst:automatic", [True, False]), integer("kst:blend", 1, 100)],
        "j48": [
            choice("j48:unpruned", [True, False]),
            choice("j48:laplace", [True, False]),
            integer("j48:min_leaf", 1, 64),
            log_real("j48:pruning", 1e-4, 1e-1, components=95),
        ],
        "dt": [
            integer("dt:folds", 1, 4),
            choice("dt:measure", ["acc", "rmse", "mae", "auc"]),
            choice("dt:nearest", [True, False]),
            choice("dt:search", ["best-first", "greedy"]),
        ],
        "rt": [integer("rt:min_leaf", 1, 64), integer("rt:features", 0, 32), integer("rt:depth", 0, 20)],
    }


def _level_5(kernel: str) -> list[Definition]:
    """Table 4, by kernel: C, scaling and logistic outputs are tuned for each kernel separately."""
    own: dict[str, list[Definition]] = {
        "default": [],
        "normalised-poly": [
            real("npoly:exponent", 0.2, 5.0, components=49),
            choice("npoly:lower_order", [True, False]),
        ],
        "poly": [real("poly:exponent", 0.2, 5.0, components=49), choice("poly:lower_order", [True, False])],
        "puk": [real("puk:sigma", 0.1, 10.0, components=100), real("puk:omega", 0.1, 1.0, components=10)],
        "rbf": [real("rbf:gamma", 0.001, 1.0, components=1000)],
    }
    short = _short(kernel)
    return [
        real(f"{short}:C", 0.5, 1.5, components=11),
        choice(f"{short}:scaling", ["normalise", "standardise", "none"]),
        choice(f"{short}:logistic", [True, False]),
        *own[kernel],
    ]


def _short(kernel: str) -> str:
    return {"normalised-poly": "npoly"}.get(kernel, kernel)


def _space(n_features: int | None) -> CS.ConfigurationSpace:
    return _definition()


@cache
def _definition() -> CS.ConfigurationSpace:
    """Define the space once: ConfigSpace takes two seconds to sort so many conditions."""
    ensemble = choice("ensemble", ENSEMBLES)
    level_2, level_3, level_4 = _level_2(), _level_3(), _level_4()
    hyperparameters: list[Definition] = [ensemble]
    conditions: list[CS.conditions.ConditionLike] = []
    for name in ENSEMBLES:
        bases = level_3[name]
        hyperparameters += [*level_2[name], *bases]
        conditions += [CS.EqualsCondition(h, ensemble, name) for h in [*level_2[name], *bases[:1]]]
        # base k + 1 exists if there are more than k members
        conditions += [CS.GreaterThanCondition(h, level_2[name][-1], k) for k, h in enumerate(bases[1:], start=1)]
    choices = [h for bases in level_3.values() for h in bases]
    for base, own in level_4.items():
        hyperparameters += own
        for h in own:
            if h.name in ("j48:pruning", "kst:blend"):  # without meaning unless the first is false
                conditions.append(CS.EqualsCondition(h, own[0], False))
            else:
                conditions.append(CS.OrConjunction(*(CS.EqualsCondition(h, chosen, base) for chosen in choices)))
    for kernel in KERNELS:
        own = _level_5(kernel)
        hyperparameters += own
        conditions += [CS.EqualsCondition(h, level_4["smo"][0], kernel) for h in own]
    return space_of(*hyperparameters, *conditions)


# ---- building -----------------------------------------------------------------------------------------------------


def _build(config: Config, random_state: int) -> BaseEstimator:
    """Build the ensemble, or the single classifier, that a configuration describes."""
    match config["ensemble"]:
        case "random-committee":
            return _committee(config, random_state)
        case "adaboost":
            return Boosted(
                _base(config["ad:base"], config, random_state),
                n_iterations=config["ad:iterations"],
                resample=config["ad:resample"],
                mass=config["ad:percent"] / 100,
                random_state=random_state,
            )
        case "bagging":
            return BaggingClassifier(
                _base(config["ba:base"], config, random_state),
                n_estimators=config["ba:iterations"],
                max_samples=config["ba:percent"] / 100,
                random_state=random_state,
            )
        case "random-forest":
            return RandomForestClassifier(
                config["rf:iterations"],
                criterion="entropy",
                max_features=config["rf:features"],
                max_depth=config["rf:depth"],
                random_state=random_state,
            )
        case "stacking":
            # copies would be equal columns for the last level and tell it nothing new: only votes count them
            members, _ = _members("st", config, random_state)
            outputs = standardised(LogisticRegression())
            return StackingClassifier(members, outputs, cv=config["st:folds"], stack_method="predict_proba")
        case "voting":
            members, copies = _members("vt", config, random_state)
            return Vote(members, copies, config["vt:rule"])
        case _:
            return _base(config["ne:base"], config, random_state)


def _committee(config: Config, random_state: int) -> BaseEstimator:
    """Build copies that differ only in their seed; if nothing in the base is random, one copy says the same as all."""
    base = _base(config["rc:base"], config, random_state)
    if config["rc:base"] not in RANDOM:
        return base
    return BaggingClassifier(base, config["rc:iterations"], bootstrap=False, random_state=random_state)


def _members(short: str, config: Config, random_state: int) -> tuple[list[tuple[str, BaseEstimator]], list[int]]:
    """Return the members of stacking or voting and how often each counts."""
    members: list[tuple[str, BaseEstimator]] = []
    copies: list[int] = []
    at: dict[str, int] = {}
    for k in range(1, config[f"{short}:members"] + 1):
        base = config[f"{short}:base_{k}"]
        if base in at and base not in RANDOM:
            copies[at[base]] += 1
            continue
        at[base] = len(members)
        members.append((f"{base}_{k}", _base(base, config, (random_state + k) % 2**31)))
        copies.append(1)
    return members, copies


def _base(name: str, config: Config, random_state: int) -> BaseEstimator:
    """Build a base classifier; distances and perceptrons get scaled columns, as in WEKA."""
    own = {key.split(":")[1]: value for key, value in config.items() if key.startswith(f"{name}:")}
    match name:
        case "net":
            return BayesNet(tree=own["structure"] == "tree")
        case "nb":
            densities = {"gaussian": GaussianNB, "kernel": KernelBayes, "cells": BayesNet}
            return densities[own["density"]]()
        case "mlp":
            return standardised(Perceptron(**own, random_state=random_state))
        case "smo":
            return _support_vectors(own["kernel"], config, random_state)
        case "ibk":
            weights: Weights = "inverse" if own["inverse"] else "similarity" if own["similarity"] else "equal"
            return make_pipeline(MinMaxScaler(), Neighbours(own["k"], weights, own["validated"]))
        case "kst":
            return make_pipeline(MinMaxScaler(), KStar(own.get("blend", 20), own["automatic"]))
        case "j48":
            return Tree(own["min_leaf"], own.get("pruning", 0.0), own["laplace"], random_state=random_state)
        case "dt":
            return DecisionTable(**own)
        case _:
            return Tree(
                own["min_leaf"],
                max_features=own["features"] or "log2",
                max_depth=own["depth"] or None,
                random_state=random_state,
            )


def _support_vectors(kernel: str, config: Config, random_state: int) -> SupportVectors | Pipeline:
    prefix = f"{_short(kernel)}:"
    own = {key.removeprefix(prefix): value for key, value in config.items() if key.startswith(prefix)}
    made: Kernel = "rbf"
    match kernel:
        case "default":
            made = Polynomial()
        case "normalised-poly":
            made = NormalisedPolynomial(own["exponent"], own["lower_order"])
        case "poly":
            made = Polynomial(own["exponent"], own["lower_order"])
        case "puk":
            made = PearsonVII(own["sigma"], own["omega"])
    machine = SupportVectors(made, own["C"], own.get("gamma", 1.0), own["logistic"], random_state)
    if own["scaling"] == "none":
        return machine
    return make_pipeline(MinMaxScaler() if own["scaling"] == "normalise" else StandardScaler(), machine)


SEVEN_KINDS = LearnerSpace(
    name="ensembles",
    define=_space,
    build=_build,
    paper="Xavier-Júnior et al. 2020, Tables 1-4",
    summary="Seven kinds of ensembles over nine base classifiers.",
)
