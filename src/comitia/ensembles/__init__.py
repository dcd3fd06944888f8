"""Ensembles of fitted models."""

from comitia.ensembles.predictor import Ensemble

__all__ = ["Ensemble"]
