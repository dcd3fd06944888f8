"""Counts of words: what columns of sentences become beside a code and counts of letters.

Only which words are counted is learned from the texts of the whole table: those that stand in the most of them. How
much a word counts, and what it goes with, is learned in each fold (`comitia.learners.word_directions`): learned from
all texts it flatters scores, as `benchmarks/studies/words.py` shows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from comitia.arrays import Array

MOST_WORDS, FEWEST_KEPT = 512, 64
"""Words that are counted, of few rows and of many."""
MOST_COUNTS = 20_000_000
"""Rows times words: 160 MB."""
FEWEST_TEXTS = 2
"""A word of a single text says nothing about others."""
FEWEST_WORDS = 2.5
"""Words of a text in the mean from which a column is one of sentences, not of names or numbers."""
LOOKED_AT = 20_000
"""Texts that vocabularies are made from; of more, so many are drawn."""


def are_sentences(texts: Sequence[str]) -> bool:
    """Tell whether known texts have several words."""
    some = texts[:: max(1, len(texts) // 1_000)]
    return bool(some) and float(np.mean([len(text.split()) for text in some])) >= FEWEST_WORDS


def vocabulary_of(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the words that are counted in known texts, the most frequent first; none where they share no word."""
    some = texts
    if len(texts) > LOOKED_AT:
        some = [texts[i] for i in np.random.default_rng(0).choice(len(texts), LOOKED_AT, replace=False)]
    words_of = CountVectorizer().build_analyzer()
    n_having = Counter(word for text in some for word in set(words_of(text)))
    known = [word for word, n in n_having.items() if FEWEST_TEXTS <= n < len(some)]
    most = min(MOST_WORDS, max(FEWEST_KEPT, MOST_COUNTS // len(texts))) if texts else 0
    return tuple(sorted(known, key=lambda word: (-n_having[word], word))[:most])


def counted(texts: Sequence[str | None], vocabulary: Sequence[str]) -> Array:
    """Count words in texts on a log scale, (n, n_words); 0 for what is missing, whose code says so."""
    counter = CountVectorizer(vocabulary=list(vocabulary), dtype=np.float64)
    counts: Array = counter.transform("" if text is None else text for text in texts).toarray()
    return np.log1p(counts)
