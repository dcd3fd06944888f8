"""Known good configurations first, then what another optimizer suggests."""

from collections.abc import Callable, Mapping, Sequence

from comitia.history import History
from comitia.seams import Ask, Needs, Optimizer, Values
from comitia.seeds import Seeds
from comitia.space import Space


class KnownFirst:
    """Ask for some configurations before anything else, one after the other, as if they had been enqueued.

    Those that the history has seen, enqueued by hand or not, are not asked again.

    Parameters
    ----------
    space : Space
    known : callable (space) -> configurations
        Which ones, in their order; none for a space that nothing is known of.
    then : callable (space) -> Optimizer
        Makes the optimizer that is asked afterwards. It sees the first ones as trials like any others.
    """

    def __init__(
        self,
        space: Space,
        *,
        known: Callable[[Space], Sequence[Mapping[str, object]]],
        then: Callable[[Space], Optimizer],
    ) -> None:
        configs = known(space)
        self._X = space.encode(configs)
        self._configs = space.decode(self._X) if configs else []
        self._then = then(space)

    @property
    def needs(self) -> Needs:
        """What the other optimizer needs."""
        return self._then.needs

    def ask(self, history: History, values: Values, n: int, seeds: Seeds) -> Sequence[Ask]:
        """Return fewer than `n` while there are fewer known ones left: the other optimizer is asked next time."""
        first = [Ask(x) for x, config in zip(self._X, self._configs, strict=True) if not history.was_asked(config)]
        return first[:n] if first else self._then.ask(history, values, n, seeds)
