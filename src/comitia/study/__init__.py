"""A search over time: the record, the loop, the budget, and `Study`, which ties them together."""

from comitia.study.study import Study

__all__ = ["Study"]
