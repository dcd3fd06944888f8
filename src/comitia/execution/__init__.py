"""Where trials run: in this process, in local processes that can be killed, or in any `concurrent.futures.Executor`."""

from comitia.execution.crew import Serial
from comitia.execution.workers import Workers

__all__ = ["Serial", "Workers"]
