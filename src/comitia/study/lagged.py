"""What a suggestion may know where it must not depend on who works how fast: all results but the latest.

With a lag of n, suggestion k knows the results of trials 0 to k - n; the later ones count as pending, whether they have
ended or not. So it is the same suggestion for one to n workers.
"""

from __future__ import annotations

from collections.abc import Iterator

from comitia.history import History


class Lagged:
    """A history, and what is known of it for the next suggestion.

    Parameters
    ----------
    history : History
        All trials, with the results that are there.
    lag : int
        1 or more; 1 is the sequential search.
    """

    def __init__(self, history: History, lag: int) -> None:
        self._history = history
        self._lag = lag
        self._known, self._n_known = self._nothing(), 0

    def views(self) -> Iterator[History]:
        """Yield what the next suggestion may know; then the same with one more result each, for one that must wait.

        It ends where a result is not there yet, and where everything is known.
        """
        number = len(self._history)
        for n_known in range(max(0, number - self._lag + 1), number + 1):
            if not self._history.is_finished[:n_known].all():
                return
            yield self._knowing(n_known)

    def _knowing(self, n: int) -> History:
        """Return all trials with the results of the first `n`: the same object as before, where that knew no more."""
        if n < self._n_known:
            self._known, self._n_known = self._nothing(), 0
        known = self._known
        known.truth = self._history.truth
        for number in range(len(known), len(self._history)):
            known.append(self._history.trial(number))
        for number in range(self._n_known, n):
            observation = self._history.observation(number)
            assert observation is not None
            known.finish(observation)
        self._n_known = n
        return known

    def _nothing(self) -> History:
        return History(self._history.X.shape[1], self._history.predictions, space=self._history.space)
