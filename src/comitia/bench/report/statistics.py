"""Compare methods over datasets: arrays in, numbers out.

An `errors` table is (n_datasets, n_methods), one mean loss per dataset and method, and **lower is better everywhere**;
a score to maximise is negated by the caller. `a` and `b` are two such columns, paired by dataset, unless a function
says otherwise. Results are per method (n_methods,) or per pair of methods (n_methods, n_methods), row against column.
Missing values are refused: drop them with `complete`, which says how many datasets that cost.

Papers, beside those of `docs/papers.md`: Demšar 2006, "Statistical comparisons of classifiers over multiple data sets";
Lacoste et al. 2012, "Bayesian comparison of machine learning algorithms on single and multiple datasets"; Benavoli et
al. 2017, "Time for a change".
In formulas m is the number of methods and n the number of datasets.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special, stats

from comitia.arrays import Array
from comitia.errors import ChoiceError, check_int


class Friedman(NamedTuple):
    """The statistic and the p value of a Friedman test."""

    statistic: float
    p: float


class SignedRank(NamedTuple):
    """Posterior probabilities that sum to 1: `a` better (left), practically equal, `b` better (right)."""

    p_left: float
    p_rope: float
    p_right: float


class Interval(NamedTuple):
    """A median and the ends of its interval."""

    median: float
    low: float
    high: float


class Macro(NamedTuple):
    """Precision and recall averaged over the classes, and the F-measure of the two averages."""

    precision: float
    recall: float
    f: float


# Tables and pairs


def complete(errors: npt.ArrayLike) -> tuple[Array, int]:
    """Drop the datasets where a method is missing (NaN), and say how many were dropped.

    Examples
    --------
    >>> kept, n_dropped = complete([[0.1, 0.2], [0.3, float("nan")]])
    >>> kept.tolist(), n_dropped
    ([[0.1, 0.2]], 1)
    """
    table = _two_dimensional(errors)
    whole = ~np.isnan(table).any(axis=1)
    return table[whole], int((~whole).sum())


def _two_dimensional(errors: npt.ArrayLike) -> Array:
    table = np.asarray(errors, dtype=np.float64)
    if table.ndim != 2:
        raise ChoiceError(
            f"The 'errors' table must have the shape (n_datasets, n_methods). Got shape {table.shape} instead. "
            "Give one row per dataset and one column per method."
        )
    return table


def _table(errors: npt.ArrayLike, *, least: int = 2) -> Array:
    """Check an errors table: two dimensions, a dataset, at least `least` methods, no NaN."""
    table = _two_dimensional(errors)
    if table.shape[0] < 1:
        raise ChoiceError(
            f"The 'errors' table must have at least one dataset. Got shape {table.shape} instead. "
            "Give one row per dataset; where all were dropped, look for the method that is missing everywhere."
        )
    if table.shape[1] < least:
        n = table.shape[1]
        hint = "Compare two methods with wilcoxon or sign_test." if n == 2 else "Add a method to compare with."
        raise ChoiceError(f"The 'errors' table must have at least {least} methods. Got {n} instead. {hint}")
    n_missing = int(np.isnan(table).any(axis=1).sum())
    if n_missing:
        raise ChoiceError(
            f"The 'errors' table must not hold NaN. Got NaN in {n_missing} of {len(table)} datasets instead. "
            "Drop these with complete(errors), and report how many."
        )
    return table


def _sample(name: str, values: npt.ArrayLike) -> Array:
    """Check one sample: one dimension, not empty, finite."""
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or not len(sample) or not np.isfinite(sample).all():
        got = f"shape {sample.shape}" if sample.ndim != 1 or not len(sample) else "NaN or infinity"
        raise ChoiceError(
            f"The '{name}' parameter must be a list of at least one finite number. Got {got} instead. "
            "Give one error per dataset and leave out the datasets where one is missing."
        )
    return sample


def _pair(a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[Array, Array]:
    first, second = _sample("a", a), _sample("b", b)
    if len(first) != len(second):
        raise ChoiceError(
            f"The 'a' and 'b' parameters must have the same length. Got {len(first)} and {len(second)} instead. "
            "Give the errors of both methods on the same datasets in the same order."
        )
    return first, second


def _within(name: str, value: float, low: float, high: float) -> None:
    if not low < value < high:
        raise ChoiceError(
            f"The '{name}' parameter must lie strictly between {low} and {high}. Got {value!r} instead. "
            f"Choose a '{name}' inside."
        )


# Ranks and counts


def _comp(table: Array) -> Array:
    """Compare every two methods (Lévesque 2018, eq. 3.10): 0 where i is better than j, .5 if equal, 1 if worse."""
    i, j = table[:, :, None], table[:, None, :]
    return np.asarray((i > j) + 0.5 * (i == j))  # (n_datasets, n_methods, n_methods)


def ranks(errors: npt.ArrayLike) -> Array:
    """Rank the methods on each dataset, 1 the best (Lévesque 2018, eq. 3.9 and 3.10).

    Two tied methods give each other half a point, so ties share the average of their ranks and a row always sums to
    m (m + 1) / 2. Only exactly equal errors are ties. The result has the shape of the table.

    Examples
    --------
    >>> ranks([[0.3, 0.1, 0.2], [0.1, 0.1, 0.5]]).tolist()
    [[3.0, 1.0, 2.0], [1.5, 1.5, 3.0]]
    """
    # eq. 3.9 is 1 + the sum over j != i; the sum over all j holds comp(i, i) = .5 already
    return np.asarray(0.5 + _comp(_table(errors)).sum(axis=2))


def mean_ranks(errors: npt.ArrayLike) -> Array:
    """Average the ranks over datasets (Lévesque 2018, §3.3.1); every dataset weighs the same.

    Examples
    --------
    >>> mean_ranks([[0.3, 0.1, 0.2], [0.1, 0.1, 0.5]]).tolist()
    [2.25, 1.25, 2.5]
    """
    return np.asarray(ranks(errors).mean(axis=0))


def win_rates(errors: npt.ArrayLike) -> Array:
    """Return each method's pairwise win rate, a fraction, over all datasets: Lévesque 2018, Tables 3.1 and 3.5.

    His eq. 3.11 is (1 / m) sum_{j=1}^m comp(e_i, e_j), which grows when i is *worse*. The tables hold 1 minus that:
    with the comparison of a method to itself (.5) in the sum and m below the line, a win rate is
    (m + .5 - rank) / m, which gives all 40 printed pairs of rank and win rate to their rounding (rank 5.58 of 14 and
    63.71 %), where the usual (m - rank) / (m - 1) does not (64.77 %). So the best possible win rate is 1 - 1 / (2 m),
    the worst 1 / (2 m), and they average to one half. Ties count half.

    Examples
    --------
    >>> win_rates([[0.1, 0.2], [0.1, 0.1]]).tolist()
    [0.625, 0.375]
    """
    return np.asarray(1.0 - _comp(_table(errors)).mean(axis=(0, 2)))


def win_loss_counts(errors: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Count wins minus losses of the row's method against the column's, as in Lévesque 2018, Tables 3.2-3.4.

    One up for each dataset where the row is better, one down where it is worse, unchanged on a tie. The matrix is
    antisymmetric, and with it mean rank = (m + 1) / 2 - (row sum) / (2 n).

    Examples
    --------
    >>> win_loss_counts([[0.1, 0.2], [0.1, 0.3], [0.4, 0.2], [0.2, 0.2], [0.0, 0.1]]).tolist()
    [[0, 2], [-2, 0]]
    """
    return np.asarray((1.0 - 2.0 * _comp(_table(errors))).sum(axis=0), dtype=np.int64)


def win_frequency(errors: npt.ArrayLike) -> Array:
    """Return how often the row's method beats the column's; ties give .5 to each (Lacoste et al. 2014).

    The result plus its transpose is 1 and the diagonal is .5, as in their Tables 2 and 3.

    Examples
    --------
    >>> win_frequency([[0.1, 0.2], [0.1, 0.1]]).tolist()
    [[0.5, 0.75], [0.25, 0.5]]
    """
    return np.asarray(1.0 - _comp(_table(errors)).mean(axis=0))


def expected_rank(errors: npt.ArrayLike) -> Array:
    """Return the expected rank as Lacoste et al. 2014, §6.2, print it: how many are as good or better, itself included.

    The mean over datasets. As printed a tie counts in full, so two tied winners both get rank 2. Their footnote 7 says
    that ties were given half to each method, under which the expected rank is `mean_ranks` and their
    E[R]_i = 1 + (1 - rho) for two methods holds with ties too; without ties the two are equal.

    Examples
    --------
    >>> expected_rank([[0.1, 0.2], [0.1, 0.1]]).tolist()
    [1.5, 2.0]
    """
    table = _table(errors)
    return np.asarray((table[:, None, :] <= table[:, :, None]).sum(axis=2).mean(axis=0))


# Two methods, over datasets


def wilcoxon(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Return the two-sided p value of Wilcoxon's signed-rank test on paired errors.

    Assumes that differences can be compared in size across datasets and are symmetric about their median. Datasets
    where both are equal are left out (Wilcoxon's own way, which Lévesque 2018, §3.3.1, argues for; Demšar splits them
    instead); with no other dataset the p value is 1. Differences of tied size share their average rank; only exactly
    equal sizes are ties, and 0.3 - 0.2 is not 0.2 - 0.1. SciPy chooses between the exact and the normal distribution by
    the size of the sample and its ties; the papers do not say which they took.

    Examples
    --------
    >>> wilcoxon([0.1, 0.2, 0.3, 0.4, 0.5], [0.2, 0.4, 0.6, 0.8, 1.0])
    0.0625
    >>> wilcoxon([0.1, 0.2], [0.1, 0.2])
    1.0
    """
    first, second = _pair(a, b)
    differences = (first - second)[first != second]
    return float(stats.wilcoxon(differences).pvalue) if len(differences) else 1.0


def wilcoxon_matrix(errors: npt.ArrayLike) -> Array:
    """Return Wilcoxon's p value for every two methods: symmetric, 1 on the diagonal, not corrected for their number.

    Examples
    --------
    >>> wilcoxon_matrix([[0.1, 0.2], [0.1, 0.3], [0.2, 0.5], [0.2, 0.6], [0.3, 0.8]]).tolist()
    [[1.0, 0.0625], [0.0625, 1.0]]
    """
    table = _table(errors)
    p = np.ones((table.shape[1], table.shape[1]))
    for i, j in zip(*np.triu_indices_from(p, k=1), strict=True):
        p[i, j] = p[j, i] = wilcoxon(table[:, i], table[:, j])
    return p


def sign_test(a: npt.ArrayLike, b: npt.ArrayLike, *, one_sided: bool = False) -> float:
    """Return the p value of the sign test, whose null is that wins and losses are equally likely.

    Assumes independent datasets and nothing about the size of differences. Ties are discarded, as in
    Lacoste et al. 2014, who do not say whether theirs was one-sided; with nothing left the p value is 1. `one_sided`
    asks whether `a` is better.

    Examples
    --------
    >>> sign_test([0, 0, 0, 0, 0], [1, 1, 1, 1, 0])
    0.125
    """
    first, second = _pair(a, b)
    wins, losses = int((first < second).sum()), int((first > second).sum())
    if wins + losses == 0:
        return 1.0
    alternative = "greater" if one_sided else "two-sided"
    return float(stats.binomtest(wins, wins + losses, 0.5, alternative=alternative).pvalue)


def poisson_binomial(probabilities: npt.ArrayLike) -> Array:
    """Return the probabilities of 0, 1, ..., n successes in n independent trials of unequal probability.

    By convolution, one trial at a time: only sums of products of non-negative numbers, so nothing cancels.

    Examples
    --------
    >>> poisson_binomial([0.5, 0.5]).tolist()
    [0.25, 0.5, 0.25]
    """
    chances = _sample("probabilities", probabilities)
    if (chances < 0).any() or (chances > 1).any():
        worst = float(chances[np.argmax(np.abs(chances - 0.5))])
        raise ChoiceError(
            f"The 'probabilities' parameter must lie in [0, 1]. Got {worst!r} instead. Divide percents by 100."
        )
    pmf = np.ones(1)
    for chance in chances:
        pmf = np.append(pmf * (1.0 - chance), 0.0) + np.append(0.0, pmf * chance)
    return pmf


def paired_counts(
    a: Sequence[npt.ArrayLike], b: Sequence[npt.ArrayLike]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Count, on each dataset, where `a` lost less than `b` and where it lost more: what `pb_test` takes.

    `a` and `b` hold one array of paired losses per dataset: per test example, or per repetition.

    Examples
    --------
    >>> wins, losses = paired_counts([[0, 0, 1], [0, 1]], [[1, 1, 0], [0, 1]])
    >>> wins.tolist(), losses.tolist()
    ([2, 0], [1, 0])
    """
    if len(a) != len(b):
        raise ChoiceError(
            f"The 'a' and 'b' parameters must have the same number of datasets. Got {len(a)} and {len(b)} instead. "
            "Give one array of losses per dataset for both methods."
        )
    pairs = [_pair(first, second) for first, second in zip(a, b, strict=True)]
    wins = np.array([(first < second).sum() for first, second in pairs], dtype=np.int64)
    losses = np.array([(first > second).sum() for first, second in pairs], dtype=np.int64)
    return wins, losses


def pb_test(wins: npt.ArrayLike, losses: npt.ArrayLike, *, prior: float = 1.0) -> float:
    """Return Pr(A better than B) of the Poisson-binomial test, Lacoste et al. 2012.

    On each dataset the probabilities that A wins, ties or loses an example have a Dirichlet posterior with `prior`
    pseudo-counts each, and A is better there when it wins more than it loses, with probability
    p = Pr(q_win > q_loss) = Pr(Beta(wins + prior, losses + prior) > 1/2): the number of ties cancels. The number of
    datasets on which A is better is then Poisson-binomial, and the test returns Pr(number > n / 2), half of an even
    split added, so that swapping A and B gives 1 minus it. Examples are assumed independent within a dataset;
    repetitions over the same rows are not quite, which makes the test too sure.

    `wins` and `losses` are counts per dataset, see `paired_counts`; a `prior` of 1 is uniform.

    Examples
    --------
    >>> pb_test([3, 5, 2], [3, 5, 2])
    0.5
    >>> round(pb_test([5, 3, 2], [2, 2, 2]), 3)
    0.756
    """
    won, lost = _pair(wins, losses)
    if (won < 0).any() or (lost < 0).any():
        raise ChoiceError(
            f"The 'wins' and 'losses' parameters must be counts >= 0. Got {min(won.min(), lost.min()):g} instead. "
            "Count them with paired_counts."
        )
    _within("prior", prior, 0.0, np.inf)
    pmf = poisson_binomial(special.betaincc(won + prior, lost + prior, 0.5))
    n = len(won)
    tie = pmf[n // 2] if n % 2 == 0 else 0.0
    return float(pmf[n // 2 + 1 :].sum() + 0.5 * tie)


def bayesian_signed_rank(
    a: npt.ArrayLike, b: npt.ArrayLike, *, rope: float, rng: np.random.Generator, n_samples: int = 50_000
) -> SignedRank:
    """Return the probabilities that `a` is better, practically equal, or worse on a new dataset.

    The Bayesian signed-rank test of Benavoli et al. 2017. The differences z_i = a_i - b_i and a pseudo-observation
    z_0 = 0 get weights w ~ Dirichlet(1/2, 1, ..., 1); each draw puts the mass sum w_i w_j of the pairs whose average
    (z_i + z_j) / 2 lies below -rope, within, or above rope on left, rope and right, a pair exactly on an edge half on
    each side. A probability is the share of draws in which its region has the most mass, equal masses sharing
    the draw. Assumes that differences can be compared across datasets. Random: Monte Carlo error up to
    .5 / sqrt(n_samples).

    Differences up to `rope`, in units of the errors, are practically nothing; 0 for no such region.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> bayesian_signed_rank([0.1] * 9, [0.2] * 9, rope=0.01, rng=rng, n_samples=1000)
    SignedRank(p_left=1.0, p_rope=0.0, p_right=0.0)
    """
    first, second = _pair(a, b)
    if not 0 <= rope < np.inf:
        raise ChoiceError(f"The 'rope' parameter must be a float >= 0. Got {rope!r} instead. Use 0 for no rope.")
    check_int("bayesian_signed_rank", "n_samples", n_samples)
    z = np.append(0.0, first - second)
    sums = z[:, None] + z[None, :]
    weights = rng.dirichlet(np.append(0.5, np.ones(len(first))), size=n_samples)  # (n_samples, 1 + n_datasets)
    left = ((weights @ np.heaviside(-2.0 * rope - sums, 0.5)) * weights).sum(axis=1)
    right = ((weights @ np.heaviside(sums - 2.0 * rope, 0.5)) * weights).sum(axis=1)
    mass = np.column_stack([left, 1.0 - left - right, right])
    most = mass == mass.max(axis=1, keepdims=True)
    shares = (most / most.sum(axis=1, keepdims=True)).mean(axis=0)
    return SignedRank(*shares.tolist())


def relative_differences(a: npt.ArrayLike, b: npt.ArrayLike) -> Array:
    """Return (a - b) / max(|a|, |b|) on each dataset, 0 where both are 0.

    -.1 says that `a`'s error is a tenth below `b`'s, +.1 that `b`'s is a tenth below `a`'s. It stays within [-1, 1] for
    errors >= 0, also where one is 0, and swapping the methods turns the sign.

    Examples
    --------
    >>> relative_differences([9, 20, 0], [10, 10, 0]).tolist()
    [-0.1, 0.5, 0.0]
    """
    first, second = _pair(a, b)
    size = np.maximum(np.abs(first), np.abs(second))
    return np.asarray(np.divide(first - second, size, out=np.zeros_like(first), where=size > 0))


def smallest_effect(differences: npt.ArrayLike, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """Return the mean difference that a comparison of this size and spread would have found with probability `power`.

    delta = (t(1 - alpha / 2) + t(power)) s / sqrt(n), where s is the standard deviation of the differences over n
    datasets and t are quantiles of Student's distribution with n - 1 degrees of freedom: the usual approximation for a
    two-sided paired t test. Wilcoxon's test needs about 5 % more datasets where differences are normal, fewer where
    their tails are heavy. Infinite for one dataset.

    Examples
    --------
    >>> round(smallest_effect([-0.1, 0.0, 0.1, 0.0]), 3)
    0.17
    """
    sample = _sample("differences", differences)
    n = len(sample)
    return _smallest(float(sample.std(ddof=1)) / np.sqrt(n), n - 1, alpha, power) if n > 1 else np.inf


def smallest_shift(a: npt.ArrayLike, b: npt.ArrayLike, *, alpha: float = 0.1, power: float = 0.8) -> float:
    """Return the relative difference of two samples' means that their size and spread would have shown.

    As `smallest_effect` for independent samples: (t(1 - alpha / 2) + t(power)) sqrt(s_a^2 / n_a + s_b^2 / n_b), with
    n_a + n_b - 2 degrees of freedom, divided by the larger mean. An `alpha` of .1 is a one-sided test at .05. Infinite
    where a sample has one value or both means are 0.

    Examples
    --------
    >>> round(smallest_shift([9, 10, 11, 10], [10, 9, 11, 10]), 3)
    0.164
    """
    first, second = _sample("a", a), _sample("b", b)
    size = max(abs(float(first.mean())), abs(float(second.mean())))
    if min(len(first), len(second)) < 2 or size == 0:
        return np.inf
    spread = np.sqrt(first.var(ddof=1) / len(first) + second.var(ddof=1) / len(second))
    return _smallest(float(spread), len(first) + len(second) - 2, alpha, power) / size


def _smallest(error: float, n_degrees: int, alpha: float, power: float) -> float:
    """Return an effect from the standard error of its estimate."""
    t = stats.t(n_degrees)
    return float((t.ppf(1.0 - alpha / 2.0) + t.ppf(power)) * error)


def signed_rank_sum(differences: npt.ArrayLike) -> float:
    """Return the sum of the signed ranks of `wilcoxon`: negative where the first of the two is better.

    Examples
    --------
    >>> signed_rank_sum([-3.0, 1.0, 2.0, 0.0])
    0.0
    """
    sample = _sample("differences", differences)
    sample = sample[sample != 0]
    return float((np.sign(sample) * stats.rankdata(np.abs(sample))).sum())


def bootstrap_median_difference(
    a: npt.ArrayLike, b: npt.ArrayLike, *, rng: np.random.Generator, level: float = 0.95, n_resamples: int = 10_000
) -> Interval:
    """Return the median relative difference of two methods, with a percentile bootstrap interval over datasets.

    Differences are those of `relative_differences`. Assumes that the datasets are a sample of those one cares about.
    Random: the ends of the interval.

    Examples
    --------
    >>> bootstrap_median_difference([9, 18, 45], [10, 20, 50], rng=np.random.default_rng(0))
    Interval(median=-0.1, low=-0.1, high=-0.1)
    """
    first, second = _pair(a, b)
    _within("level", level, 0.0, 1.0)
    check_int("bootstrap_median_difference", "n_resamples", n_resamples)
    relative = relative_differences(first, second)
    drawn = rng.integers(len(relative), size=(n_resamples, len(relative)))
    low, high = np.quantile(np.median(relative[drawn], axis=1), [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return Interval(float(np.median(relative)), float(low), float(high))


# Several methods, over datasets


def friedman(errors: npt.ArrayLike) -> Friedman:
    """Test whether all methods have the same mean rank (Friedman, chi-square approximation).

    Assumes independent datasets; ties get average ranks and the statistic SciPy's correction for them (Demšar's formula
    has none, so the values of Demšar and of Lévesque 2018 are a little smaller). Where every dataset is one tie, the
    statistic is 0 and p is 1. Needs three methods; for two use `wilcoxon` or `sign_test`.

    Examples
    --------
    >>> friedman([[1, 2, 3], [1, 2, 3], [1, 2, 3], [1, 3, 2]]).statistic
    6.5
    """
    table = _table(errors, least=3)
    if (table == table[:, :1]).all():
        return Friedman(0.0, 1.0)
    statistic, p = stats.friedmanchisquare(*table.T)
    return Friedman(float(statistic), float(p))


def _spread(n_methods: int, n_datasets: int) -> float:
    """Return the scale of a difference of mean ranks: sqrt(m (m + 1) / (6 n)), Demšar §3.2.2."""
    return float(np.sqrt(n_methods * (n_methods + 1) / (6.0 * n_datasets)))


def critical_distance(n_methods: int, n_datasets: int, *, alpha: float = 0.05) -> float:
    """Return Nemenyi's critical distance: mean ranks this far apart differ significantly (Demšar §3.2.2).

    CD = q sqrt(m (m + 1) / (6 n)), where q is the studentised range over sqrt(2). Ties are not corrected for.

    Examples
    --------
    >>> round(critical_distance(14, 118), 3)
    1.826
    """
    check_int("critical_distance", "n_methods", n_methods, least=2)
    check_int("critical_distance", "n_datasets", n_datasets)
    _within("alpha", alpha, 0.0, 1.0)
    q = stats.studentized_range.ppf(1.0 - alpha, n_methods, np.inf) / np.sqrt(2.0)
    return float(q * _spread(n_methods, n_datasets))


def nemenyi(errors: npt.ArrayLike) -> Array:
    """Return Nemenyi's p value for every two methods, corrected for their number: symmetric, 1 on the diagonal.

    Meant to follow a significant `friedman`. Uses mean ranks only: ties get average ranks and no further correction.
    The answer for two methods depends on the others in the table.

    Examples
    --------
    >>> nemenyi([[1, 2, 3], [1, 2, 3], [1, 2, 3], [1, 3, 2]]).round(3).tolist()
    [[1.0, 0.181, 0.036], [0.181, 1.0, 0.759], [0.036, 0.759, 1.0]]
    """
    table = _table(errors)
    n_datasets, n_methods = table.shape
    mean = mean_ranks(table)
    q = np.abs(mean[:, None] - mean[None, :]) / _spread(n_methods, n_datasets)
    p = np.ones_like(q)
    upper = np.triu_indices_from(p, k=1)
    p[upper] = np.clip(stats.studentized_range.sf(q[upper] * np.sqrt(2.0), n_methods, np.inf), 0.0, 1.0)
    return np.minimum(p, p.T)


def cliques(mean_ranks: npt.ArrayLike, cd: float) -> list[tuple[int, ...]]:
    """Return the bars of a critical-difference diagram: the largest groups of methods that do not differ significantly.

    A group holds methods whose mean ranks all lie less than `cd` apart and is part of no larger such group; a method
    that differs from all others is in none. `cd` is that of `critical_distance`. Groups are tuples of method indices;
    best methods come first, within a group and over groups.

    Examples
    --------
    >>> cliques([3.4, 1.2, 2.1, 2.9], 1.0)
    [(1, 2), (2, 3), (3, 0)]
    """
    mean = _sample("mean_ranks", mean_ranks)
    _within("cd", cd, 0.0, np.inf)
    order = np.argsort(mean, kind="stable")
    ends = np.searchsorted(mean[order], mean[order] + cd, side="left")  # one past the last method joined to each
    groups = []
    reached = 0
    for start, end in enumerate(ends):
        if end - start > 1 and end > reached:
            groups.append(tuple(order[start:end].tolist()))
        reached = max(reached, int(end))
    return groups


# Two methods on one problem, over independent trials


def mann_whitney(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Return the one-sided p value of the Mann-Whitney U test that `a` tends to be lower (Glasmachers and Igel 2008).

    `a` and `b` are independent trials on one problem, not pairs, and may differ in number. SciPy takes the exact
    distribution for small samples without ties, else the normal one with corrections for ties and continuity; so
    the p values of both directions add up to slightly more than 1.

    Examples
    --------
    >>> mann_whitney([1, 2, 3], [4, 5, 6])
    0.05
    """
    return float(stats.mannwhitneyu(_sample("a", a), _sample("b", b), alternative="less").pvalue)


# Precision and recall


def f_measure(precision: float, recall: float) -> float:
    """Return the harmonic mean of precision and recall; 0 where both are 0.

    Over several runs Xavier-Júnior et al. 2020 average precision and recall first and take the F-measure of the two
    averages.

    Examples
    --------
    >>> f_measure(0.5, 1.0)
    0.6666666666666666
    """
    return 2.0 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


def macro_precision_recall_f(y_true: npt.ArrayLike, y_pred: npt.ArrayLike) -> Macro:
    """Average precision and recall over the classes and take the F-measure of the averages (Xavier-Júnior et al. 2020).

    This is not the average of the classes' F-measures, which scikit-learn calls macro F1. The classes are those that
    occur in `y_true` or `y_pred`, labels of one kind, each with the same weight; a class never predicted has precision
    0, one that never occurs recall 0.

    Examples
    --------
    >>> macro_precision_recall_f(["a", "a", "b", "b"], ["a", "a", "a", "b"])
    Macro(precision=0.8333333333333333, recall=0.75, f=0.7894736842105263)
    """
    true, predicted = np.asarray(y_true), np.asarray(y_pred)
    if true.ndim != 1 or true.shape != predicted.shape or not len(true):
        raise ChoiceError(
            "The 'y_true' and 'y_pred' parameters must be lists of labels of the same length, not empty. "
            f"Got shapes {true.shape} and {predicted.shape} instead. Give one label per row."
        )
    classes = np.unique(np.concatenate([true, predicted]))
    is_true, is_predicted = true == classes[:, None], predicted == classes[:, None]  # (n_classes, n_rows)
    hits = (is_true & is_predicted).sum(axis=1)
    precision = float((hits / np.maximum(is_predicted.sum(axis=1), 1)).mean())
    recall = float((hits / np.maximum(is_true.sum(axis=1), 1)).mean())
    return Macro(precision, recall, f_measure(precision, recall))


# Numbers beside each other


def pearson(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Return Pearson's correlation coefficient r (Xavier-Júnior et al. 2020, Table 11); NaN where one is constant.

    Measures a linear relation, and one far point can make most of it.

    Examples
    --------
    >>> round(pearson([2, 3, 28], [0.1, 0.2, 0.7]), 3)
    0.993
    """
    first, second = _pair(a, b)
    first, second = first - first.mean(), second - second.mean()
    size = float(np.sqrt((first**2).sum() * (second**2).sum()))
    return float(first @ second) / size if size > 0 else float("nan")
