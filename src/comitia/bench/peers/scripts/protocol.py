"""What the sampler scripts share: the conversation with the parent, and spaces. Standard library only.

The parent writes one JSON object per line to standard input and reads one per line from standard output::

    {"space": {...}, "seed": 7, "options": {...}}              ->  {"ready": true}
    {"tell": [[number, config, loss or null], ...],
     "pending": [[number, config], ...],
     "number": 12, "ask": 1}                                   ->  {"configs": [config], "seconds": 0.01}

A config maps the names of *active* hyperparameters to numbers: the value of a real or an integer, the index of a
choice. With the option `flat` it has all of them, inactive ones as the peer gave them. A loss of null is a failed
trial: every peer counts it as bad as the worst so far (`worst_of`), which is what comitia's own methods do. Fewer
configs than asked for are allowed; none means that nothing is left.
"""

import json
import math
import operator
import os
import queue
import sys
import threading
import time

TESTS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
OPERATORS = {test.__name__: test for test in TESTS} | {"in": lambda a, b: a in b}
ALL_FAILED = 1.0
"""The loss of failed trials while none has succeeded."""


class Space:
    """A search space as the parent describes it.

    `hyperparameters` is a list of dicts, parents before children: `name`, `type` ("real", "integer" or "choice"),
    `lower`, `upper`, `log`, `ordered`, `default`. Choices are whole numbers from `lower` 0 to `upper`.
    """

    def __init__(self, description, *, flat=False):
        self.is_flat = flat
        self.hyperparameters = description["hyperparameters"]
        self.conditions = description["conditions"]  # of a child's name: the rule under which it is active
        self.forbidden = description["forbidden"]

    def is_active(self, name, config):
        """Tell whether a hyperparameter is active, given the active ones that come before it."""
        return name not in self.conditions or holds(self.conditions[name], config)

    def is_forbidden(self, config):
        """Tell whether a configuration is forbidden."""
        if self.is_flat and self.forbidden:
            config = self.configure(lambda h, config=config: config[h["name"]])
        return any(holds(rule, config) for rule in self.forbidden)

    def configure(self, value_of):
        """Return the configuration that asks `value_of(hyperparameter)` for every active one."""
        config = {}
        for h in self.hyperparameters:
            if self.is_active(h["name"], config):
                config[h["name"]] = value_of(h)
        return config


def holds(rule, config):
    """Tell whether a rule holds; a test of what is not active does not."""
    if "all" in rule:
        return all(holds(part, config) for part in rule["all"])
    if "any" in rule:
        return any(holds(part, config) for part in rule["any"])
    if rule["name"] not in config or rule.get("other", rule["name"]) not in config:
        return False
    right = config[rule["other"]] if "other" in rule else rule["value"]
    return OPERATORS[rule["test"]](config[rule["name"]], right)


def same(a, b):
    """Tell whether two configurations are equal up to the digits that comitia keeps of reals."""
    return a.keys() == b.keys() and all(math.isclose(a[name], b[name], rel_tol=1e-8, abs_tol=1e-12) for name in a)


def worst_of(losses):
    """Return what a failed trial counts as: the worst of the losses, of which those of failed trials are None."""
    return max((loss for loss in losses if loss is not None), default=ALL_FAILED)


def serve(make):
    """Answer the parent until it closes the pipe.

    `make(space, seed, options)` returns an object with `tell(number, config, loss)` and
    `ask(number, n, pending) -> configs`, where `number` is that of the first trial asked for.
    """
    # what a library prints must not come between the answers
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    lines = queue.Queue()
    threading.Thread(target=_listen, args=(lines,), daemon=True).start()
    hello = json.loads(lines.get())
    sampler = make(Space(hello["space"], flat=hello["options"].get("flat", False)), hello["seed"], hello["options"])
    print(json.dumps({"ready": True}), file=answers, flush=True)
    while True:
        message = json.loads(lines.get())
        began = time.perf_counter()
        for number, config, loss in message["tell"]:
            sampler.tell(number, config, loss)
        configs = sampler.ask(message["number"], message["ask"], message["pending"])
        answer = {"configs": configs, "seconds": time.perf_counter() - began}
        print(json.dumps(answer), file=answers, flush=True)


def _listen(lines):
    """Pass lines on; when the parent closes the pipe or dies, end at once, whatever is being computed."""
    for line in sys.stdin:
        lines.put(line)
    os._exit(0)
