"""What came of a task."""

from typing import Generic, NamedTuple, TypeVar

Task = TypeVar("Task")
Answer = TypeVar("Answer")


class Outcome(NamedTuple, Generic[Task, Answer]):
    """What came of a task."""

    task: Task
    answer: Answer | None
    """None if there is an error."""
    error: Exception | None
    """What the task raised, why it was killed, or what happened to the executor."""
    seconds: float
    """Since it was begun."""
