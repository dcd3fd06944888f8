"""The types that a model file may hold: exact names, in one place.

skops refuses everything that is neither one of its own trusted types nor listed here. `tests/test_models.py` fits every
learner of the default space and fails if one needs a type that is missing, or one listed here is needed by none.
"""

TRUSTED: tuple[str, ...] = (
    "collections.OrderedDict",
    "comitia.committees.ensemble.Ensemble",
    "comitia.tables.cleaner.ColumnKind",
    "comitia.tables.cleaner.TableCleaner",
    "lightgbm.basic.Booster",
    "lightgbm.sklearn.LGBMClassifier",
    "lightgbm.sklearn.LGBMRegressor",
    "numpy.dtype",
    "sklearn.metrics._dist_metrics.EuclideanDistance64",
    "sklearn.neighbors._kd_tree.KDTree",  # row numbers inside are checked by models.py
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.tree._tree.Tree",  # node numbers inside are checked by models.py
)

ENSEMBLES: tuple[str, ...] = (
    "comitia.learners.weka.cells.BayesNet",
    "comitia.learners.weka.cells.DecisionTable",
    "comitia.learners.weka.cells.KernelBayes",
    "comitia.learners.weka.meta.Boosted",
    "comitia.learners.weka.meta.Vote",
    "comitia.learners.weka.instances.KStar",
    "comitia.learners.weka.instances.Neighbours",
    "comitia.learners.weka.svm_kernels.NormalisedPolynomial",
    "comitia.learners.weka.svm_kernels.PearsonVII",
    "comitia.learners.weka.svm_kernels.Polynomial",
    "comitia.learners.weka.machines.Perceptron",
    "comitia.learners.weka.machines.SupportVectors",
    "comitia.learners.weka.machines.Tree",
    "sklearn.utils._bunch.Bunch",
)
"""What models of the space `ensembles` hold beside `TRUSTED`: `skops.io.load(file, trusted=[*TRUSTED, *ENSEMBLES])`."""
