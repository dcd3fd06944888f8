"""SMAC3. Options: `facade` ("forest" or "gp"), `flat`, `n_trials` (its initial design is a quarter of them at most).

SMAC lives through the study: what it suggested is told as its own, in full precision; what it did not suggest (a fresh
process after a resumed study) is told as the user's. A suggestion whose trial was not begun is given again.
"""

import logging
import math
from pathlib import Path

import ConfigSpace as CS
import numpy as np
from protocol import same, serve, worst_of
from smac import BlackBoxFacade, HyperparameterOptimizationFacade, Scenario
from smac.main.exceptions import ConfigurationSpaceExhaustedException
from smac.runhistory.dataclasses import TrialInfo, TrialValue
from smac.runhistory.enumerations import StatusType

N_TRIALS = 100
"""SMAC's own default."""
MOST_TRIES = 100
"""Suggestions before forbidden clauses are said to leave nothing."""


class SmacPeer:
    """Ask and tell SMAC's facade, deterministic: one evaluation per configuration."""

    def __init__(self, space, seed, options):
        logging.disable(logging.WARNING)
        self.space = space
        self.configspace = translate(space, seed)
        scenario = Scenario(
            self.configspace,
            deterministic=True,
            n_trials=options.get("n_trials", N_TRIALS),
            seed=seed,
            output_directory=Path.cwd() / "smac",
        )
        facade = {"forest": HyperparameterOptimizationFacade, "gp": BlackBoxFacade}[options["facade"]]
        self.facade = facade(
            scenario,
            None,
            intensifier=facade.get_intensifier(scenario, max_config_calls=1),
            overwrite=True,
            logging_level=logging.ERROR,
        )
        self.given = {}  # by number: what SMAC suggested
        self.losses = []  # None for a failed trial

    def tell(self, number, config, loss):
        """Take a result in; a failed trial costs as much as the worst so far."""
        info = self.given.pop(number, None)
        if info is None or not same(values_of(info), config):
            values = {name: value_in(self.space, name, number) for name, number in config.items()}
            info = TrialInfo(CS.Configuration(self.configspace, values=values), seed=0)
        self.losses.append(loss)
        if loss is not None:
            value = TrialValue(cost=loss, status=StatusType.SUCCESS)
        else:
            value = TrialValue(cost=worst_of(self.losses), status=StatusType.CRASHED)
        self.facade.tell(info, value, save=False)

    def ask(self, number, n, pending):
        """Return `n` configurations, fewer if SMAC has no more."""
        found = []
        for k in range(number, number + n):
            try:
                found.append(values_of(self.suggest(k)))
            except (StopIteration, ConfigurationSpaceExhaustedException):
                break
        return found

    def suggest(self, number):
        """Return what SMAC wants to know; in a flat space, where it cannot know, something that is not forbidden."""
        for _ in range(MOST_TRIES):
            if number not in self.given:
                self.given[number] = self.facade.ask()
            info = self.given[number]
            if not self.space.is_forbidden(values_of(info)):
                return info
            refused = TrialValue(cost=worst_of(self.losses), status=StatusType.CRASHED)
            self.facade.tell(self.given.pop(number), refused, save=False)
        raise ConfigurationSpaceExhaustedException


def translate(space, seed):
    """Return ConfigSpace's space; choices are their indices as text."""
    found = CS.ConfigurationSpace(seed=seed)
    for h in space.hyperparameters:
        name, bounds, default = h["name"], (h["lower"], h["upper"]), h["default"]
        if h["lower"] == h["upper"]:
            found.add(CS.Constant(name, str(default) if h["type"] == "choice" else default))
        elif h["type"] == "choice":
            kind = CS.OrdinalHyperparameter if h["ordered"] else CS.CategoricalHyperparameter
            found.add(kind(name, [str(index) for index in range(h["upper"] + 1)], default_value=str(default)))
        else:
            kind = CS.UniformIntegerHyperparameter if h["type"] == "integer" else CS.UniformFloatHyperparameter
            found.add(kind(name, *bounds, default_value=default, log=h["log"]))
    if not space.is_flat:
        for name, rule in space.conditions.items():
            found.add(condition(found, space, name, rule))
        for rule in space.forbidden:
            clause = forbidden(found, space, rule)
            if clause is not None:
                found.add(clause)
    return found


def condition(found, space, child, rule):
    """Translate a condition."""
    for key, conjunction in (("all", CS.AndConjunction), ("any", CS.OrConjunction)):
        if key in rule:
            return conjunction(*(condition(found, space, child, part) for part in rule[key]))
    parent, value = found[rule["name"]], value_in(space, rule["name"], rule["value"])
    kinds = {
        "eq": CS.EqualsCondition,
        "ne": CS.NotEqualsCondition,
        "lt": CS.LessThanCondition,
        "gt": CS.GreaterThanCondition,
        "in": CS.InCondition,
    }
    return kinds[rule["test"]](found[child], parent, value)


def forbidden(found, space, rule):
    """Translate a forbidden clause; None if it never holds."""
    for key, conjunction in (("all", CS.ForbiddenAndConjunction), ("any", CS.ForbiddenOrConjunction)):
        if key in rule:
            parts = [part for part in (forbidden(found, space, part) for part in rule[key]) if part is not None]
            return None if not parts else parts[0] if len(parts) == 1 else conjunction(*parts)
    left = found[rule["name"]]
    if "other" in rule:
        kinds = {
            "eq": CS.ForbiddenEqualsRelation,
            "lt": CS.ForbiddenLessThanRelation,
            "le": CS.ForbiddenLessThanEqualsRelation,
            "gt": CS.ForbiddenGreaterThanRelation,
            "ge": CS.ForbiddenGreaterThanEqualsRelation,
        }
        return kinds[rule["test"]](left, found[rule["other"]])
    kinds = {
        "eq": CS.ForbiddenEqualsClause,
        "lt": CS.ForbiddenLessThanClause,
        "le": CS.ForbiddenLessThanEqualsClause,
        "gt": CS.ForbiddenGreaterThanClause,
        "ge": CS.ForbiddenGreaterThanEqualsClause,
        "in": CS.ForbiddenInClause,
    }
    if isinstance(rule["value"], float) and math.isnan(rule["value"]):
        return None
    return kinds[rule["test"]](left, value_in(space, rule["name"], rule["value"]))


def value_in(space, name, number):
    """Translate one number of a configuration or a rule, or several; choices are text."""
    if next(h["type"] for h in space.hyperparameters if h["name"] == name) != "choice":
        return number
    return [str(int(one)) for one in number] if isinstance(number, list) else str(int(number))


def values_of(info):
    """Translate a suggestion back."""
    values = {name: int(value) if isinstance(value, str) else value for name, value in dict(info.config).items()}
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in values.items()}


if __name__ == "__main__":
    serve(SmacPeer)
