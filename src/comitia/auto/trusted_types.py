"""The types and functions that a model file may hold: exact names, in one place.

`model_file` refuses everything that is neither an estimator of scikit-learn's nor listed here.
`tests/auto/test_folder.py` fits every learner that has a name and fails if one needs a name that is missing, or if
one that is listed here is needed by none.
"""

TRUSTED: tuple[str, ...] = (
    "collections.OrderedDict",
    "collections.defaultdict",
    "comitia.auto.estimate.Estimate",
    "comitia.auto.estimators.AutoClassifier",
    "comitia.auto.estimators.AutoRegressor",
    "comitia.auto.refit.FittedMember",
    "comitia.auto.validation.ValidationPredictions",
    "comitia.committees.decisions.DecisionRule",
    "comitia.committees.decisions.LinearRule",
    "comitia.committees.ensemble.Ensemble",
    "comitia.learners.boosters.hist.CodesFirst",
    "comitia.learners.boosters.hist.HistBoosting",
    "comitia.learners.boosters.light.LightGBM",
    "comitia.learners.dense.Dense",
    "comitia.learners.discriminant.Discriminant",
    "comitia.learners.linear_scores.LinearScores",
    "comitia.learners.perceptrons.Perceptrons",
    "comitia.learners.scaling.Hinges",
    "comitia.learners.scaling.Products",
    "comitia.learners.scaling.RobustScale",
    "comitia.learners.target.SignedLog",
    "comitia.learners.target.TransformedTarget",
    "comitia.learners.word_directions.WordDirections",
    "comitia.space.config.Config",
    "comitia.tables.cleaner.ColumnKind",
    "comitia.tables.cleaner.TableCleaner",
    "lightgbm.basic.Booster",
    "lightgbm.sklearn.LGBMClassifier",
    "lightgbm.sklearn.LGBMRegressor",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",  # its node numbers are checked by index_checks
    "sklearn.gaussian_process.kernels.ConstantKernel",
    "sklearn.gaussian_process.kernels.Matern",
    "sklearn.gaussian_process.kernels.Product",
    "sklearn.gaussian_process.kernels.Sum",
    "sklearn.gaussian_process.kernels.WhiteKernel",
    "sklearn.metrics._dist_metrics.EuclideanDistance64",
    "sklearn.neighbors._kd_tree.KDTree",  # its row numbers are checked by index_checks
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.tree._tree.Tree",  # its node numbers are checked by index_checks
)

RANDOM: tuple[str, ...] = (
    "numpy.random._mt19937.MT19937",
    "numpy.random._pcg64.PCG64",
    "numpy.random._pickle.__bit_generator_ctor",
    "numpy.random._pickle.__generator_ctor",
    "numpy.random._pickle.__randomstate_ctor",
    "numpy.random.bit_generator.SeedSequence",
    "numpy.random.bit_generator.__pyx_unpickle_SeedSequence",
    "sklearn.model_selection._split.KFold",
    "sklearn.model_selection._split.StratifiedKFold",
)
"""What random states and folds are made of; which ones a learner keeps depends on its version."""

EXTRAS: tuple[str, ...] = (
    "comitia.learners.boosters.cat.CatBoost",  # its JSON is checked by index_checks
    "comitia.learners.boosters.xgb.XGBoost",  # its JSON is checked by index_checks
)
"""What learners of packages that are not always installed need."""

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
"""What models of the space `ensembles` hold beside `TRUSTED`: `read_model(file, trusted=ENSEMBLES)`."""
