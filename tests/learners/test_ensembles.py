"""The space `ensembles`: the tables of Xavier-Júnior et al. 2020, and learners that do what WEKA's do."""

import itertools
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import AdaBoostClassifier
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import polynomial_kernel
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import has_fit_parameter

from comitia import Config, get_space
from comitia.auto.model_file import read_model, untrusted_names, write_model
from comitia.auto.trusted_types import ENSEMBLES as TRUSTED_ENSEMBLES
from comitia.auto.trusted_types import RANDOM, TRUSTED
from comitia.learners.ensembles import BASES, ENSEMBLES, KERNELS
from comitia.learners.weka.cells import BayesNet, DecisionTable, KernelBayes, _badness, cells_of, cut_points, tree_of
from comitia.learners.weka.instances import KStar, Neighbours, star_weights
from comitia.learners.weka.machines import Perceptron, SupportVectors, Tree
from comitia.learners.weka.meta import RULES, Boosted, Vote, combined, heaviest_rows, reseeded
from comitia.learners.weka.svm_kernels import NormalisedPolynomial, PearsonVII, Polynomial

X, Y = load_iris(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]
FEW = np.arange(0, 150, 3)
LEARNERS = [
    BayesNet(),
    BayesNet(tree=True),
    KernelBayes(),
    DecisionTable(),
    DecisionTable("auc", nearest=True, search="greedy", folds=3),
    DecisionTable("rmse"),
    DecisionTable("mae", folds=2),
    KStar(),
    KStar(automatic=True),
    Neighbours(7),
    Neighbours(30, "inverse", validated=True),
    Neighbours(5, "similarity"),
    Perceptron(rate=1.0, momentum=0.9),
    Perceptron("t", decay=True),
    SupportVectors(PearsonVII(), logistic=True),
    SupportVectors(Polynomial(2.5, True)),
    SupportVectors(NormalisedPolynomial(2, True)),
    Tree(laplace=True, pruning=0.01),
    Tree(max_features="log2", max_depth=4),
    Boosted(Tree(max_depth=1), 20, mass=0.8),
    Boosted(Neighbours(3), 5, resample=True),
    Vote([("a", Neighbours(3)), ("b", Tree())], [2, 1], "med"),
]


small_bags = pytest.mark.filterwarnings("ignore:Using the fractional value")
"""scikit-learn warns of bags of a few rows, which 10 % of the rows are here."""


READY = get_space("ensembles")


def config_of(**choices: Any) -> Config:
    """Return the configuration with some choices, everything else active at its default."""
    ready = READY.space
    x = ready.defaults.copy()
    for name, value in choices.items():
        j = ready.names.index(name.replace("__", ":"))
        x[j] = ready.columns[j].coordinate(value)
    return ready.decode(x[None])[0]


# ---- the paper's tables -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("rc:iterations", 2, 64),
        ("ad:percent", 50, 100),
        ("ad:iterations", 2, 128),
        ("ba:percent", 10, 100),
        ("ba:iterations", 2, 128),
        ("rf:iterations", 2, 256),
        ("rf:features", 1, 32),
        ("rf:depth", 1, 20),
        ("st:folds", 2, 10),  # P: from 1, which is no validation
        ("st:members", 1, 10),
        ("vt:members", 1, 10),
        ("ibk:k", 1, 64),
        ("j48:min_leaf", 1, 64),
        ("kst:blend", 1, 100),
        ("mlp:rate", 0.1, 1.0),
        ("mlp:momentum", 0.1, 1.0),
        ("rt:min_leaf", 1, 64),
        ("rt:features", 0, 32),
        ("rt:depth", 0, 20),
        ("dt:folds", 1, 4),
        ("npoly:exponent", 0.2, 5.0),
        ("poly:C", 0.5, 1.5),
        ("puk:sigma", 0.1, 10.0),
        ("puk:omega", 0.1, 1.0),
        ("rbf:gamma", 0.001, 1.0),
    ],
)
def test_ranges_are_those_of_tables_1_to_4(name: str, low: float, high: float) -> None:
    space = READY.space
    column = space.columns[space.names.index(name)]
    assert column.values(np.array([0.0, 1.0])) == pytest.approx([low, high])


def test_levels_open_each_other() -> None:
    """Xavier-Júnior et al. 2020, Fig. 1: ensembles, their tuning, base classifiers, theirs, and the SVM's kernels."""
    space = READY.space
    assert len(ENSEMBLES) == 7
    assert len(BASES) == 9
    for config in space.decode(space.sample(300, np.random.default_rng(0))):
        chosen = {value for name, value in config.items() if ":base" in name}
        tuned = {name.split(":")[0] for name in config} & set(BASES)
        assert tuned == chosen
        assert any(name.startswith("puk:") for name in config) == (config.get("smo:kernel") == "puk")
        for short in ("st", "vt"):
            n_bases = sum(name.startswith(f"{short}:base_") for name in config)
            assert n_bases == config.get(f"{short}:members", 0)
    forest = config_of(ensemble="random-forest")
    assert set(forest) == {"ensemble", "rf:iterations", "rf:features", "rf:depth"}


# ---- models -------------------------------------------------------------------------------------------------------

SINGLES = [config_of(ensemble="none", ne__base=base) for base in BASES]
KERNEL_CHOICES = [config_of(ensemble="none", ne__base="smo", smo__kernel=kernel) for kernel in KERNELS]
ENSEMBLE_CHOICES = [
    config_of(ensemble="random-committee", rc__base="rt", rc__iterations=3),
    config_of(ensemble="random-committee", rc__base="nb"),
    config_of(ensemble="adaboost", ad__base="j48", ad__iterations=5, ad__resample=False, ad__percent=80),
    config_of(ensemble="adaboost", ad__base="smo", ad__iterations=3),
    config_of(ensemble="bagging", ba__base="ibk", ba__iterations=4, ba__percent=10),
    config_of(ensemble="bagging", ba__base="net", ba__iterations=4, ba__percent=10),
    config_of(ensemble="random-forest", rf__iterations=5),
    config_of(ensemble="stacking", st__folds=2, st__members=2, st__base_1="nb", st__base_2="dt"),
    config_of(ensemble="voting", vt__members=3, vt__base_1="kst", vt__base_2="rt", vt__base_3="kst"),
]
EVERY = [*SINGLES, *KERNEL_CHOICES, *ENSEMBLE_CHOICES]


def shown(config: Config) -> str:
    return "-".join(str(value) for name, value in config.items() if name == "ensemble" or "base" in name)


@small_bags
@pytest.mark.parametrize("config", EVERY, ids=shown)
def test_models_fit_many_classes_are_repeatable_and_come_back_from_a_file(config: Config, tmp_path: Path) -> None:
    build = READY.build
    model = build(config, 7).fit(X[FEW], NAMES[FEW])
    answers = model.predict_proba(X)
    assert answers.shape == (150, 3)
    assert answers.sum(axis=1) == pytest.approx(np.ones(150))
    assert (build(config, 7).fit(X[FEW], NAMES[FEW]).predict_proba(X) == answers).all()
    assert (pickle.loads(pickle.dumps(model)).predict_proba(X) == answers).all()
    write_model(tmp_path / "model", model)
    again = read_model(tmp_path / "model", TRUSTED_ENSEMBLES)
    assert (again.predict(X) == model.predict(X)).all()


@small_bags
def test_the_allow_list_of_ensembles_holds_what_is_needed_and_nothing_else(tmp_path: Path) -> None:
    needed = set()
    for config in [*EVERY, config_of(ensemble="none", ne__base="nb", nb__density="kernel")]:
        write_model(tmp_path / "model", READY.build(config, 0).fit(X[FEW], NAMES[FEW]))
        needed |= untrusted_names(tmp_path / "model")
    assert needed - {*TRUSTED, *RANDOM} == set(TRUSTED_ENSEMBLES)


@small_bags
@pytest.mark.parametrize("config", [*SINGLES, *ENSEMBLE_CHOICES[:7], ENSEMBLE_CHOICES[-1]], ids=shown)
def test_a_rare_class_or_few_rows_do_not_break_a_model(config: Config) -> None:
    """Bags and boosting rounds may hold one class only."""
    rng = np.random.default_rng(0)
    few = rng.normal(size=(12, 3))
    y = np.array([0] * 11 + [1])
    predicted = READY.build(config, 0).fit(few, y).predict(rng.normal(size=(5, 3)))
    assert set(predicted) <= {0, 1}


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: repr(learner)[:60])
def test_learners_beat_chance_and_know_one_class(learner: Any) -> None:
    model = clone(learner).fit(X[FEW], NAMES[FEW])
    rest = np.setdiff1d(np.arange(150), FEW)
    assert model.score(X[rest], NAMES[rest]) > 0.8
    alone = clone(learner).fit(X[:20], NAMES[:20])
    assert (alone.predict(X[:5]) == "setosa").all()
    assert alone.predict_proba(X[:5]).shape == (5, 1)


# ---- parts against what they say they are -------------------------------------------------------------------------


@given(sigma=st.floats(0.1, 10), omega=st.floats(0.1, 1))
def test_pearson_vii_is_its_formula(sigma: float, omega: float) -> None:
    """Uestuen et al. (2006), eq. 8: half its height at a distance of sigma / 2."""
    A = np.array([[0.0, 0.0], [sigma / 2, 0.0], [3.0, 4.0]])
    K = PearsonVII(sigma, omega)(A, A)
    slow = 1 / (1 + (2 * 5 * np.sqrt(2 ** (1 / omega) - 1) / sigma) ** 2) ** omega
    assert np.diag(K) == pytest.approx(np.ones(3))
    assert K[0, 1] == pytest.approx(0.5)
    assert K[0, 2] == pytest.approx(slow)


def test_pearson_vii_of_a_large_omega_is_gaussian() -> None:
    d = np.linspace(0, 3, 7)[:, None]
    wide = PearsonVII(1.0, 1e6)(d, np.zeros((1, 1)))[:, 0]
    assert wide == pytest.approx(np.exp(-4 * np.log(2) * d[:, 0] ** 2), abs=1e-5)


def test_polynomials_are_scikit_learns_and_normalised_ones_have_a_unit_diagonal() -> None:
    A, B = X[:5], X[50:53]
    assert Polynomial(3, True)(A, B) == pytest.approx(polynomial_kernel(A, B, degree=3, gamma=1, coef0=1))
    assert np.diag(NormalisedPolynomial(1.7, True)(A, A)) == pytest.approx(np.ones(5))
    assert np.isfinite(Polynomial(0.5)(-A, B)).all()


@pytest.mark.parametrize("weights", ["equal", "inverse"])
def test_neighbours_are_scikit_learns(weights: Any) -> None:
    rng = np.random.default_rng(0)
    A, y, B = rng.normal(size=(60, 3)), rng.integers(0, 3, 60), rng.normal(size=(20, 3))
    plain = KNeighborsClassifier(9, weights="uniform" if weights == "equal" else "distance").fit(A, y)
    assert Neighbours(9, weights).fit(A, y).predict_proba(B) == pytest.approx(plain.predict_proba(B), abs=1e-6)


def test_neighbours_find_their_number_by_leaving_rows_out() -> None:
    rng = np.random.default_rng(0)
    A, y = rng.normal(size=(40, 2)), rng.integers(0, 2, 40)
    A[:, 0] += y
    rest = [np.arange(40) != i for i in range(40)]
    errors = [sum(Neighbours(k).fit(A[r], y[r]).predict(A[~r])[0] != y[~r][0] for r in rest) for k in range(1, 10)]
    assert Neighbours(9, validated=True).fit(A, y).k_ == int(np.argmin(errors)) + 1 > 1


@given(blend=st.floats(0.02, 0.9))
def test_the_blend_of_k_star_is_its_effective_number_of_voters(blend: float) -> None:
    D = np.random.default_rng(1).random((4, 50))
    w = star_weights(D, blend)
    assert w.sum(axis=1) ** 2 / (w**2).sum(axis=1) == pytest.approx(np.full(4, 1 + blend * 49), rel=1e-3)


def test_a_table_of_all_columns_counts_its_rows() -> None:
    A = np.array([[0, 0], [0, 0], [0, 1], [1, 0], [1, 1], [1, 1.0]])
    y = np.array([0, 0, 1, 1, 0, 0])  # exclusive or: each column alone says nothing
    model = DecisionTable("rmse").fit(np.repeat(A, 5, axis=0), np.repeat(y, 5))
    assert sorted(model.columns_) == [0, 1]
    assert (model.predict(A) == y).all()
    greedy = DecisionTable("acc", search="greedy").fit(np.repeat(A, 5, axis=0), np.repeat(y, 5))
    assert len(greedy.columns_) <= len(model.columns_)


def test_the_area_of_a_decision_table_is_scikit_learns() -> None:
    rng = np.random.default_rng(0)
    P, codes = rng.dirichlet(np.ones(3), 60), rng.integers(0, 3, 60)
    area = roc_auc_score(codes, P, multi_class="ovr", average="weighted")
    assert 1 - _badness(P, codes, np.eye(3)[codes], "auc") == pytest.approx(area)


def test_the_tree_of_a_network_is_the_best_of_all() -> None:
    """Against every spanning tree of four columns, by mutual information given the class, counted slowly."""
    A, y = make_classification(200, 4, n_informative=3, n_redundant=1, n_classes=2, random_state=1)
    A[:, 3] += 2 * A[:, 0]
    cells = cells_of(A, cut_points(A))
    information = np.zeros((4, 4))
    for i, j in itertools.permutations(range(4), 2):
        for c, a, b in itertools.product(range(2), range(5), range(5)):
            inside = y == c
            joint = np.mean(inside & (cells[:, i] == a) & (cells[:, j] == b))
            if joint:
                pa, pb = np.mean(inside & (cells[:, i] == a)), np.mean(inside & (cells[:, j] == b))
                information[i, j] += joint * np.log(joint * inside.mean() / pa / pb)
    flat = np.eye(5)[cells].reshape(200, -1)
    pairs = np.stack([flat[y == c].T @ flat[y == c] for c in range(2)]).reshape(2, 4, 5, 4, 5)
    parents = tree_of(pairs)
    found = sum(information[child, parent] for child, parent in enumerate(parents) if parent >= 0)
    every = itertools.combinations(list(itertools.combinations(range(4), 2)), 3)
    best = max(sum(information[e] for e in edges) for edges in every if len(set(sum(edges, ()))) == 4)
    assert (parents >= 0).sum() == 3
    assert found == pytest.approx(best)


def test_kernel_densities_are_sums_of_gaussians() -> None:
    A, y = np.array([[0.0], [1.0], [4.0], [6.0]]), np.array([0, 0, 1, 1])
    model = KernelBayes().fit(A, y)
    x = 2.0
    one = np.mean([np.exp(-0.5 * ((x - r) / np.sqrt(0.5)) ** 2) for r in (0, 1)]) / np.sqrt(0.5)
    two = np.mean([np.exp(-0.5 * ((x - r) / np.sqrt(2)) ** 2) for r in (4, 6)]) / np.sqrt(2)
    assert model.predict_proba([[x]])[0] == pytest.approx(np.array([one, two]) / (one + two))


def test_boosting_is_scikit_learns() -> None:
    A, y = make_classification(150, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
    mine = Boosted(DecisionTreeClassifier(max_depth=2), 12, random_state=0).fit(A, y)
    theirs = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=12, random_state=0).fit(A, y)
    assert mine.votes_ == pytest.approx(theirs.estimator_weights_ / theirs.estimator_weights_.sum())
    assert (mine.predict(A) == theirs.predict(A)).all()


def test_the_heaviest_rows_are_wekas() -> None:
    """Its `selectWeightQuantile`: rows from the heaviest until their sum is more than the share, and their equals."""
    w = np.array([0.1, 0.3, 0.1, 0.25, 0.15, 0.1])
    assert heaviest_rows(w, 0.2).tolist() == [1]
    assert heaviest_rows(w, 0.54).tolist() == [1, 3]
    assert heaviest_rows(w, 0.6).tolist() == [1, 3, 4]
    assert heaviest_rows(w, 0.75).tolist() == [0, 1, 2, 3, 4, 5]  # one of three equal rows would do
    assert heaviest_rows(np.full(7, 1 / 7), 0.5).tolist() == [*range(7)]


@given(
    w=st.lists(st.integers(1, 5), min_size=1, max_size=12).map(lambda n: np.array(n) / np.sum(n)),
    mass=st.floats(0.01, 1),
)
def test_the_heaviest_rows_have_their_share_and_none_left_out_is_as_heavy(w: Any, mass: float) -> None:
    rows = heaviest_rows(w, mass)
    rest = np.setdiff1d(np.arange(len(w)), rows)
    assert w[rows].sum() >= mass - 1e-12
    assert w[rest].max(initial=0) < w[rows].min()


@pytest.mark.parametrize("resample", [False, True], ids=["weighed", "drawn"])
def test_boosting_leaves_out_the_lightest_rows(resample: bool) -> None:
    """WEKA takes its share of the weight before it draws, too; so many rows are drawn as are left."""

    class Counting(DecisionTreeClassifier):  # type: ignore[misc]
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            self.n_rows_, self.is_weighed_ = len(X), sample_weight is not None
            return super().fit(X, y, sample_weight)

    A, y = make_classification(100, 5, flip_y=0.3, random_state=0)
    model = Boosted(Counting(max_depth=1), 6, resample=resample, mass=0.6).fit(A, y)
    assert {member.is_weighed_ for member in model.estimators_} == {not resample}
    sizes = [member.n_rows_ for member in model.estimators_]
    # equal weights; then the wrong rows have half of the weight, and all others are needed for the rest, being equal
    assert sizes[:2] == [100, 100]
    assert sizes[2] < 100


def test_the_bases_that_can_be_weighed_are_those_of_the_document() -> None:
    """docs/methods/pbil.md: for all others `ad:resample` changes nothing."""
    build = READY.build
    weighed = [c["ne:base"] for c in SINGLES if has_fit_parameter(build(c, 0), "sample_weight")]
    assert weighed == ["nb", "j48", "rt"]


def test_a_member_no_better_than_chance_ends_boosting_and_the_first_stays() -> None:
    rng = np.random.default_rng(0)
    model = Boosted(Neighbours(40), 10, resample=True).fit(rng.normal(size=(40, 2)), np.repeat([0, 1], 20))
    assert 1 <= len(model.estimators_) <= 10


def test_voting_rules_are_wekas() -> None:
    P = np.array([[[0.6, 0.4]], [[0.0, 1.0]], [[0.7, 0.3]]])
    expected = {"avg": (1.3, 1.7), "prod": (0, 0.12), "maj": (2, 1), "min": (0, 0.3), "max": (0.7, 1), "med": (6, 4)}
    for rule in RULES:
        assert combined(P, rule)[0] == pytest.approx(np.array(expected[rule]) / sum(expected[rule]))


@given(P=arrays(np.float64, (3, 2, 4), elements=st.floats(0, 1)), rule=st.sampled_from(list(RULES)))
def test_every_rule_gives_a_distribution(P: Any, rule: Any) -> None:
    assert combined(P, rule).sum(axis=1) == pytest.approx(np.ones(2))


def test_copies_count() -> None:
    members = [("a", Neighbours(1)), ("b", Tree(max_depth=1))]
    once, thrice = (Vote(members, [n, 1], "maj").fit(X, Y).predict_proba(X) for n in (1, 3))
    assert set(once.ravel().tolist()) == {0.0, 0.5, 1.0}  # they disagree: a stump has two leaves for three classes
    assert set(thrice.ravel().tolist()) == {0.0, 0.25, 0.75, 1.0}


def test_laplace_counts_every_class_once_more() -> None:
    model = Tree(laplace=True, max_depth=1).fit(X, Y)
    assert model.predict_proba(X[:1])[0] == pytest.approx(np.array([51, 1, 1]) / 53)


def test_a_perceptron_that_diverges_starts_over_at_half_the_rate() -> None:
    wild = Perceptron(rate=1.0, momentum=1.0).fit(1e6 * X, Y)
    assert all(np.isfinite(layer).all() for layer in wild.layers_)
    assert np.isfinite(wild.predict_proba(1e6 * X)).all()


def test_copies_draw_from_other_seeds() -> None:
    tree = reseeded(Boosted(Tree(random_state=1), random_state=2), 5)
    assert tree.random_state == tree.estimator.random_state == 5
