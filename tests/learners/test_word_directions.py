"""What texts are about, learned in each fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer

import comitia
from comitia import AutoClassifier
from comitia.learners.default import LEARNERS, default_space
from comitia.learners.default.encoder import without_words
from comitia.learners.word_directions import N_DIRECTIONS, WordDirections
from comitia.tables.cleaner import Columns, TableCleaner
from comitia.tables.words import counted, vocabulary_of

SUBJECTS = (
    ("engine", "wheel", "brake", "road", "driver", "tyre", "petrol", "garage"),
    ("flour", "oven", "butter", "sugar", "recipe", "kitchen", "spoon", "baker"),
)


def sentences(n: int, seed: int = 0) -> tuple[list[str], np.ndarray]:
    """Return sentences about two subjects, among words that have nothing to do with them."""
    rng = np.random.default_rng(seed)
    about = rng.integers(2, size=n)
    common = [f"word{i}" for i in range(60)]
    return [" ".join([*rng.choice(common, 6), *rng.choice(SUBJECTS[one], 3)]) for one in about], about


def test_the_first_directions_tell_subjects_apart() -> None:
    (texts, _), (new, about) = sentences(400), sentences(200, seed=1)
    words = vocabulary_of(texts)
    block = tuple(range(len(words)))
    found = WordDirections([block]).fit(counted(texts, words)).transform(counted(new, words))
    assert found.shape == (200, N_DIRECTIONS)
    assert max(abs(np.corrcoef(column, about)[0, 1]) for column in found.T[:4]) > 0.9


def test_they_are_those_of_a_truncated_decomposition() -> None:
    texts, _ = sentences(300)
    counts = counted(texts, vocabulary_of(texts))
    theirs = TruncatedSVD(N_DIRECTIONS, random_state=0, n_iter=20)
    theirs.fit(TfidfTransformer().fit_transform(counts))
    ours = WordDirections([range(counts.shape[1])]).fit(counts)
    [directions] = ours.directions_
    # the sizes of later ones are nearly the same, so they may be turned among each other
    assert abs(theirs.components_[0] @ directions[0]) > 0.999
    assert abs(theirs.components_[1] @ directions[1]) > 0.999


def test_other_columns_come_first_as_they_are() -> None:
    rng = np.random.default_rng(0)
    X = np.abs(rng.standard_normal((30, 9)))
    found = WordDirections([(1, 2, 3), (6, 7)]).fit(X).transform(X)
    assert found.shape == (30, 4 + 3 + 2)
    assert (found[:, :4] == X[:, [0, 4, 5, 8]]).all()
    columns = Columns(9, codes=(0, 5), n_levels=(3, 4), words=((1, 2, 3), (6, 7)))
    assert without_words(columns) == Columns(9, codes=(0, 2), n_levels=(3, 4))


def test_a_fit_of_few_rows_leaves_directions_empty() -> None:
    X = np.eye(3, 40)
    found = WordDirections([range(40)]).fit(X).transform(X)
    assert found.shape == (3, N_DIRECTIONS)
    assert (found[:, 3:] == 0).all()


@pytest.mark.parametrize("name", ["linear", "lightgbm", "extra-trees", "svm", "mlp", "knn"])
def test_learners_learn_from_sentences(name: str) -> None:
    (texts, about), (new, about_new) = sentences(300), sentences(300, seed=1)
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"n": rng.standard_normal(300), "said": texts, "kind": rng.choice(["a", "b"], 300)})
    cleaner = TableCleaner().fit(table)
    default = default_space(cleaner.columns_, "classification", len(table), include=[name])
    [config] = default.space.decode(default.space.encode([default.first[0]]))
    model = default.build(config, 0).fit(cleaner.transform(table), about)
    told = model.predict(cleaner.transform(table.assign(said=new)))
    assert np.mean(told == about_new) > 0.9


def test_a_committee_is_the_same_from_a_folder(tmp_path: Path) -> None:
    (texts, about), (new, about_new) = sentences(300), sentences(300, seed=1)
    fit = AutoClassifier(n_trials=2, n_jobs=1, include=["linear"], random_state=0, estimate=False)
    fit.fit(pd.DataFrame({"said": texts}), np.where(about, "food", "cars"), sample_weight=np.ones(300))
    table = pd.DataFrame({"said": new})
    assert fit.score(table, np.where(about_new, "food", "cars")) > 0.95
    fit.save(tmp_path / "model")
    assert (comitia.load(tmp_path / "model").predict_proba(table) == fit.predict_proba(table)).all()


def test_users_estimators_get_directions_too() -> None:
    (texts, about), (new, about_new) = sentences(120), sentences(300, seed=1)
    fit = AutoClassifier(n_trials=1, n_jobs=1, include=[LEARNERS["linear"].make({"C": 1.0}, "classification", 0)])
    fit.set_params(estimate=False).fit(pd.DataFrame({"said": texts}), about)
    assert fit.score(pd.DataFrame({"said": new}), about_new) > 0.9
