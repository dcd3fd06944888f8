"""A method: four choices with a name, and the checks that they fit together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from comitia.errors import ChoiceError
from comitia.evaluation.scoring import LossLike, make_loss
from comitia.goals import MeanLoss
from comitia.methods.papers.references import Paper
from comitia.seams import Goal, Keep, Optimizer, Resampling, Selection
from comitia.selections.single import Argmin
from comitia.space import Space


@dataclass(frozen=True)
class Method:
    """A name for four choices: optimizer, goal, selection, and flags for the resampling, whose splitter is the user's.

    Raises
    ------
    ChoiceError
        Where choices clash: a selection on rows set aside without any; and, when the optimizer is made, one that needs
        fixed values with a goal that moves, or a selection among generations with an optimizer that has none.
    """

    name: str
    """What it is called in `METHODS`, in studies and in experiments."""
    optimizer: Callable[[Space], Optimizer]
    """Makes one: a class, a partial, any function. A study calls `make_optimizer`, which checks what it made."""
    summary: str
    """One sentence."""
    goal: Goal = field(default_factory=MeanLoss)
    """The number that is minimised."""
    selection: Selection = field(default_factory=Argmin)
    """What is handed over at the end."""
    is_reshuffled: bool = False
    """Whether each trial has splits of its own."""
    has_selection_split: bool = False
    """Whether rows are set aside for the selection."""
    spelling: str = ""
    """The paper's own spelling."""
    papers: tuple[Paper, ...] = ()
    """Where it was described or compared; none for comitia's own."""
    aliases: tuple[str, ...] = ()
    """Other names that a paper gives it, in the paper's spelling."""

    def __post_init__(self) -> None:
        for seam, choice in ((Goal, self.goal), (Selection, self.selection)):
            self._check_seam(seam, choice)
        if self.selection.needs.selection_split and not self.has_selection_split:
            raise ChoiceError(
                f"The method {self.name!r} must set rows aside, because {_name(self.selection)} chooses by them. Got "
                "has_selection_split=False. Set it to True, or use the selection Argmin."
            )

    def under(self, alias: str) -> Method:
        """Return the same method under another name: what a user asked for is what is recorded."""
        return replace(self, name=alias.lower(), summary=f"Another name of `{self.name}`.", spelling=alias, aliases=())

    def make_optimizer(self, space: Space) -> Optimizer:
        """Return a fresh optimizer for a space; refuse one that does not fit the goal or the selection."""
        optimizer = self.optimizer(space)
        self._check_seam(Optimizer, optimizer)
        if self.goal.moves and optimizer.needs.fixed_values:
            raise ChoiceError(
                f"The method {self.name!r} must not combine an optimizer that needs fixed values with a goal whose "
                f"values move: got {_name(optimizer)} with {_name(self.goal)}. Use a model-based or random optimizer, "
                "or the goal MeanLoss."
            )
        if self.selection.needs.generations and not optimizer.needs.generations:
            raise ChoiceError(
                f"The method {self.name!r} must have an optimizer that works by generations, because "
                f"{_name(self.selection)} chooses among them. Got {_name(optimizer)}. Use CMA-ES, or the selection "
                "SelectionSplit."
            )
        return optimizer

    def _check_seam(self, seam: type, choice: object) -> None:
        if not isinstance(choice, seam):
            raise ChoiceError(
                f"The method {self.name!r} must have what comitia.seams.{seam.__name__} lists. Got {_name(choice)}, "
                "which lacks some of it. A class with nothing to say of its needs has the line needs = Needs()."
            )

    @property
    def compares_rows(self) -> bool:
        """Whether it compares trials row by row, so that predictions must be kept."""
        return self.goal.needs.rows or self.selection.needs.rows

    def check_resampling(self, resampling: Resampling) -> None:
        """Refuse a resampling under which the method's trials cannot be compared."""
        if self.compares_rows and resampling.is_reshuffled and not resampling.judges_every_row:
            choice = self.goal if self.goal.needs.rows else self.selection
            raise ChoiceError(
                f"The method {self.name!r} must judge all trials on the same rows, because {_name(choice)} compares "
                f"them row by row. Got {resampling}, which judges each trial on other rows. Use k-fold (cv=5), "
                "reshuffled or not, or a hold-out that is not reshuffled."
            )

    def check_selection_split(self, fraction: float | None) -> None:
        """Refuse an evaluator that sets no rows aside where the method chooses by them."""
        if self.has_selection_split and fraction is None:
            raise ChoiceError(
                f"The method {self.name!r} must have rows set aside for its final selection. Got an evaluator that "
                "sets none aside. Use TableEvaluator(..., selection_split=0.2), or for a function a method without "
                "'-sel', '-pv', '-bw' or '-gv'."
            )


def kept_by(method: Method, loss: LossLike) -> Keep:
    """Tell what must be kept of the models' answers for a method to work."""
    if not method.compares_rows:
        return "nothing"
    by_loss = make_loss(loss).needs_probabilities
    needed = by_loss or method.goal.needs.probabilities or method.selection.needs.probabilities
    return "probabilities" if needed else "predictions"


def _name(choice: object) -> str:
    return type(choice).__name__
