"""Learners of WEKA that Xavier-Júnior et al. 2020 use and scikit-learn lacks, as scikit-learn classifiers.

- `weka_classifier.py`: what they share.
- `machines.py`: support vector machines, perceptrons and trees; `svm_kernels.py` has the kernels of the first.
- `instances.py`: learners that keep their rows: nearest neighbours and K*.
- `cells.py`: learners over columns cut into cells: decision tables and Bayesian networks; and naive Bayes.
- `meta.py`: learners made of others: boosting and voting.

docs/methods/pbil.md says what each part of WEKA became.
"""
