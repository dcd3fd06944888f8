"""Learners that P took from WEKA and scikit-learn does not have, as scikit-learn classifiers.

`learner.py` is what they share; `kernels.py` and `machines.py` support vectors, perceptrons and trees; `instances.py`
neighbours and K*; `cells.py` decision tables and Bayesian networks; `committees.py` boosting and voting.
docs/pbil.md says what each part of WEKA became.
"""
