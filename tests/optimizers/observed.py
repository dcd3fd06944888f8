"""Histories of observations at given points."""

from typing import Any

from comitia import History, Observation, Space, Trial


def observed(space: Space, X: Any, losses: Any, n_pending: int = 0) -> History:
    """Return a history with these losses at the rows of X; the last ones are pending."""
    history = History(len(space), space=space)
    for number, (x, config) in enumerate(zip(X, space.decode(X), strict=True)):
        trial = Trial(number, 0, tuple(x.tolist()), config)
        history.append(trial)
        if number < len(X) - n_pending:
            history.finish(Observation(trial, "ok", (float(losses[number]),)))
    return history
