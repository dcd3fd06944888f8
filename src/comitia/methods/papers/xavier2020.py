"""PBIL over ensembles of WEKA's classifiers (Xavier-Júnior et al. 2020)."""

from functools import partial

from comitia.methods.method import Method
from comitia.methods.papers.references import XAVIER_2020
from comitia.optimizers import PBIL

PAPERS = (XAVIER_2020,)
PBIL_256 = partial(PBIL, bins=256)
"""The paper has a component for each value of an integer, 255 at most; reals of `ensembles` say how many they have."""

METHODS = [
    Method(
        "pbil-v1",
        partial(PBIL_256, flat=True),
        "Probability vectors by generations; ensembles and single learners compete at one level.",
        spelling="PBIL-Auto-Ens-v1",
    ),
    Method("pbil-v2", PBIL_256, "`pbil-v1`, single learners at a level of their own.", spelling="PBIL-Auto-Ens-v2"),
]
