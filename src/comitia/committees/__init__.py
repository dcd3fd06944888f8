"""Committees: their losses, how they are chosen from a pool, and fitted models that predict as one."""

from comitia.committees.ensemble import Ensemble

__all__ = ["Ensemble"]
