"""Counts of words of columns of sentences."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comitia.tables.cleaner import MOST_LEVELS, TableCleaner
from comitia.tables.words import FEWEST_KEPT, MOST_WORDS, are_sentences, counted, vocabulary_of


@pytest.mark.parametrize(
    ("texts", "told"),
    [(["anna", "bob"], False), (["the cat sat", "a dog ran off"], True), ([], False), (["12 High Street"] * 3, True)],
)
def test_sentences_have_several_words(texts: list[str], told: bool) -> None:
    assert are_sentences(texts) == told


def test_words_that_stand_in_most_texts_come_first() -> None:
    texts = ["red car", "Red bus", "blue bus and RED tram", "old blue ship"]
    assert vocabulary_of(texts) == ("red", "blue", "bus")  # in 3, 2 and 2 texts; others in one


def test_a_word_of_all_texts_says_nothing() -> None:
    assert vocabulary_of(["the cat", "the dog", "the cat"]) == ("cat",)


def test_texts_without_a_common_word_have_no_vocabulary() -> None:
    assert vocabulary_of([f"aa{i} bb{i} cc{i}" for i in range(50)]) == ()
    assert vocabulary_of([]) == ()


def test_long_tables_count_fewer_words() -> None:
    texts = [f"w{i % 600} w{i % 599} w{i % 598}" for i in range(1_800)]
    assert len(vocabulary_of(texts)) == MOST_WORDS
    assert len(vocabulary_of(texts * 100)) == 20_000_000 // 180_000 >= FEWEST_KEPT


def test_counts_are_on_a_log_scale() -> None:
    found = counted(["red red bus", None, "unknown"], ["red", "bus"])
    assert np.allclose(found, [[np.log(3), np.log(2)], [0, 0], [0, 0]])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(max_size=40), min_size=1, max_size=60))
def test_any_text_is_taken(texts: list[str]) -> None:
    vocabulary = vocabulary_of(texts)
    if vocabulary:
        assert np.isfinite(counted(texts, vocabulary)).all()


def test_a_column_of_sentences_gets_columns_of_words() -> None:
    texts = [f"a small town in the {'north' if i % 2 else 'south'} with number {i}" for i in range(MOST_LEVELS + 9)]
    table = pd.DataFrame({"said": [*texts, None], "n": np.arange(len(texts) + 1.0), "kind": ["x", "y"] * 55})
    cleaner = TableCleaner().fit(table)
    assert cleaner.kinds_ is not None
    names = [name for kind in cleaner.kinds_ for name in kind.outputs]
    columns = cleaner.columns_
    [block] = columns.words
    assert {names[place] for place in block} == {"said:north", "said:south"}
    assert [names[place] for place in columns.codes] == ["said", "kind"]
    matrix = cleaner.transform(pd.DataFrame({"said": ["far north", None], "n": [1.0, 2.0], "kind": ["x", "y"]}))
    assert matrix.shape == (2, columns.n_columns)
    north = names.index("said:north")
    assert matrix[:, north].tolist() == [np.log(2), 0.0]


def test_names_have_no_words() -> None:
    cleaner = TableCleaner().fit(pd.DataFrame({"who": [f"person{i}" for i in range(MOST_LEVELS + 1)]}))
    assert cleaner.columns_.words == ()
