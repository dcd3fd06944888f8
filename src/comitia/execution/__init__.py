"""Where trials run: here, in local processes that can be killed, on a Dask cluster, or in any other executor."""

from comitia.execution.crew import Serial
from comitia.execution.dask import DaskWorkers
from comitia.execution.workers import Workers

__all__ = ["DaskWorkers", "Serial", "Workers"]
