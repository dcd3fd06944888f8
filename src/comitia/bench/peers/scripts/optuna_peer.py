"""Optuna's samplers. Options: `sampler` ("tpe", "gp" or "cma"), `flat`, and for "tpe" `multivariate` and `group`.

For every suggestion a study is built anew from what is known, with a sampler seeded by the trial's number: a suggestion
is a function of the history, and a fresh process answers as one that lived through it.

Gaussian process and CMA-ES need a fixed space (`flat`). CMA-ES keeps its state in attributes of the trials that it
suggested, so trials that this process did not suggest are suggested again in their order; if that gives the
configuration that came (it does unless trials ran in parallel), its attributes count.

A failed trial is told as a finished one with the worst loss so far, as comitia's own methods see it. Told as failed,
Optuna's samplers would leave it out and propose what fails again and again.
"""

import zlib
from functools import partial

import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState, create_trial
from protocol import same, serve, worst_of

MOST_TRIES = 100
"""Suggestions before forbidden clauses are said to leave nothing."""


class OptunaPeer:
    """Suggest by a study that is built from all trials."""

    def __init__(self, space, seed, options):
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.space = space
        self.seed = seed
        self.options = options
        self.distributions = {h["name"]: distribution(h) for h in space.hyperparameters}
        self.finished = {}  # by number: configuration and loss, None if it failed
        self.suggested = {}  # by number: configuration and attributes of the suggestions of CMA-ES

    def tell(self, number, config, loss):
        """Take a result in."""
        if self.options["sampler"] == "cma" and number not in self.suggested:
            self.suggest(number, self.known())
        self.finished[number] = (config, loss)

    def known(self):
        """Return the finished trials as Optuna's, failed ones with the worst loss so far."""
        worst = worst_of(loss for _, loss in self.finished.values())
        return [
            self.trial(k, config, TrialState.COMPLETE, worst if loss is None else loss)
            for k, (config, loss) in sorted(self.finished.items())
        ]

    def ask(self, number, n, pending):
        """Return `n` configurations."""
        known = self.known() + [self.trial(k, config, TrialState.RUNNING) for k, config in pending]
        found = []
        for k in range(number, number + n):
            config = self.suggest(k, known)
            if config is None:
                break
            found.append(config)
            known.append(self.trial(k, config, TrialState.RUNNING))
        return found

    def suggest(self, number, known):
        """Return the configuration of trial `number` given trials; None if every suggestion is forbidden."""
        for attempt in range(MOST_TRIES):
            seed = zlib.crc32(f"{self.seed} {number} {attempt}".encode())
            study = optuna.create_study(sampler=self.sampler(seed))
            study.add_trials(known)
            trial = study.ask(self.distributions if self.space.is_flat else None)
            config = dict(trial.params) if self.space.is_flat else self.space.configure(partial(suggest_value, trial))
            if not self.space.is_forbidden(config):
                if self.options["sampler"] == "cma":
                    self.suggested[number] = (config, study.get_trials(deepcopy=False)[-1].system_attrs)
                return config
        return None

    def sampler(self, seed):
        """Return a new sampler."""
        if self.options["sampler"] == "tpe":
            multivariate, group = self.options.get("multivariate", False), self.options.get("group", False)
            return optuna.samplers.TPESampler(seed=seed, multivariate=multivariate, group=group)
        kind = {"gp": optuna.samplers.GPSampler, "cma": optuna.samplers.CmaEsSampler}[self.options["sampler"]]
        return kind(seed=seed, warn_independent_sampling=False)

    def trial(self, number, config, state, loss=None):
        """Return a trial of Optuna's, with the attributes of its suggestion if it is one of ours."""
        suggested, attributes = self.suggested.get(number, ({}, {}))
        return create_trial(
            state=state,
            value=loss,
            params=config,
            distributions={name: self.distributions[name] for name in config},
            system_attrs=attributes if same(suggested, config) else {},
        )


def distribution(h):
    """Translate a hyperparameter; ordered choices are whole numbers."""
    if h["type"] == "real":
        return FloatDistribution(h["lower"], h["upper"], log=h["log"])
    if h["type"] == "choice" and not h["ordered"]:
        return CategoricalDistribution(tuple(range(h["upper"] + 1)))
    return IntDistribution(h["lower"], h["upper"], log=h["log"])


def suggest_value(trial, h):
    """Let a trial choose one value."""
    if h["type"] == "real":
        return trial.suggest_float(h["name"], h["lower"], h["upper"], log=h["log"])
    if h["type"] == "choice" and not h["ordered"]:
        return trial.suggest_categorical(h["name"], range(h["upper"] + 1))
    return trial.suggest_int(h["name"], h["lower"], h["upper"], log=h["log"])


if __name__ == "__main__":
    serve(OptunaPeer)
