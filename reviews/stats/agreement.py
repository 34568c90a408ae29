"""Agreement of any number of raters with any ratings missing: percent, Fleiss' kappa, Krippendorff's alpha, Gwet's AC.

Each coefficient is 1 - D/E, disagreement observed over disagreement expected by chance. It is written as two steps: the
features of a unit that have to be summed over units (`rows`), and the formula on the sums (`parts`). Both work on many
sums at once, so the same code gives the value, the bootstrap, and the value with each rater left out.

n_uk is how often label k was given to unit u and m_u the number of ratings on it, as in docs/statistics.md.
"""

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, Protocol

import numpy as np

from reviews.stats.counts import Counted
from reviews.stats.resampling import (
    Bootstrap,
    in_groups,
    most_that_could_differ,
    percentile_interval,
    resampled_sums,
    sums_by_cluster,
)
from reviews.stats.result import Estimate, Reason, without_interval, without_value

Level = Literal["nominal", "ordinal", "interval", "ratio"]
Weights = Literal["identity", "linear", "quadratic"]


class Parts(NamedTuple):
    """Observed and expected disagreement, and the largest a pair can show; one entry per sum.

    Where nothing is expected (0), the coefficient is not defined.
    """

    observed: np.ndarray
    expected: np.ndarray
    largest: np.ndarray


class Coefficient(Protocol):
    """A sum over units followed by a formula."""

    @property
    def name(self) -> str: ...

    def rows(self, counts: np.ndarray) -> np.ndarray:
        """(kinds of unit, labels) -> (kinds of unit, features)."""

    def parts(self, sums: np.ndarray) -> Parts:
        """(sums, features) -> what the coefficient is made of, one entry per sum."""


def values(coefficient: Coefficient, sums: np.ndarray) -> np.ndarray:
    """The coefficient of every row of sums; NaN, which stays inside this package, where it is not defined."""
    observed, expected, _ = coefficient.parts(sums)
    defined = expected > 0
    return np.where(defined, 1 - observed / np.where(defined, expected, 1), np.nan)


def disagreement_weights(weights: Weights, scores: np.ndarray) -> np.ndarray:
    """v of Cohen (1968) on the declared scale, from 0 (same) to 1 (farthest apart)."""
    apart = np.abs(scores[:, None] - scores[None, :])
    if weights == "identity":
        return (~np.eye(len(scores), dtype=bool)).astype(float)
    relative = apart / (apart.max(initial=0) or 1)
    return relative if weights == "linear" else relative**2


def squared_distances(level: Level, scores: np.ndarray, n_c: np.ndarray) -> np.ndarray:
    """Krippendorff's delta^2 between labels for every row of label totals: (sums, labels) -> (sums, labels, labels)."""
    shape = len(n_c), len(scores), len(scores)
    if level == "nominal":
        return np.broadcast_to(disagreement_weights("identity", scores), shape)
    if level == "ordinal":
        # sum of n_g from c to k, less half of both ends, is the difference of mid-ranks.
        places = np.cumsum(n_c, axis=1) - n_c / 2
        return (places[:, :, None] - places[:, None, :]) ** 2
    apart = scores[:, None] - scores[None, :]
    if level == "ratio":
        if scores.min(initial=0) < 0:
            raise ValueError("a ratio scale has no values below 0")
        apart = _ratio(apart, scores[:, None] + scores[None, :])
    return np.broadcast_to(apart**2, shape)


def _pair_features(counts: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Per unit: the mean disagreement over its ordered pairs, and whether it has any pair."""
    n = counts.astype(float)
    m = n.sum(axis=1)
    pairable = m >= 2
    apart = np.einsum("uk,kl,ul->u", n, v, n)
    return np.where(pairable, apart / np.where(pairable, m * (m - 1), 1), 0), pairable.astype(float)


def _shares(counts: np.ndarray) -> np.ndarray:
    """Per unit, the share of its ratings that each label has; zeros for a unit without ratings."""
    m = counts.sum(axis=1, keepdims=True)
    return counts / np.where(m > 0, m, 1)


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """above / below, 0 where there is nothing to divide by."""
    return above / np.where(below > 0, below, 1)


@dataclass(frozen=True)
class Percent:
    """Mean over units of the share of their pairs that agree. Not corrected for chance."""

    name: str = "Percent agreement"

    def rows(self, counts: np.ndarray) -> np.ndarray:
        v = 1.0 - np.eye(counts.shape[1])
        return np.stack(_pair_features(counts, v), axis=1)

    def parts(self, sums: np.ndarray) -> Parts:
        apart, pairable = sums.T
        any_pair = (pairable > 0).astype(float)
        return Parts(_ratio(apart, pairable), any_pair, any_pair)


@dataclass(frozen=True)
class Share:
    """A ratio of two sums over units, such as pairs with some property out of all pairs. Features: both numbers."""

    name: str

    def rows(self, counts: np.ndarray) -> np.ndarray:
        return counts

    def parts(self, sums: np.ndarray) -> Parts:
        having, n = sums.T
        defined = (n > 0).astype(float)
        return Parts(defined - _ratio(having, n), defined, defined)


@dataclass(frozen=True)
class Fleiss:
    """Fleiss' kappa (1971), for two raters Scott's pi (1955).

    In Gwet's form per unit, so that units may have unequally many ratings.
    """

    v: np.ndarray
    name: str = "Fleiss' kappa"

    def rows(self, counts: np.ndarray) -> np.ndarray:
        apart, pairable = _pair_features(counts, self.v)
        rated = counts.sum(axis=1) > 0
        # There is variation when two labels occur in pairs: a label seen only on singletons does not count.
        paired = counts * pairable[:, None]
        return np.column_stack([apart, pairable, rated, _shares(counts), paired])

    def parts(self, sums: np.ndarray) -> Parts:
        k = len(self.v)
        apart, pairable, rated = sums[:, 0], sums[:, 1], sums[:, 2]
        share = _ratio(sums[:, 3 : 3 + k], rated[:, None])
        varied = np.count_nonzero(sums[:, 3 + k :] > 0, axis=1) >= 2
        expected = np.einsum("bk,kl,bl->b", share, self.v, share) * varied
        return Parts(_ratio(apart, pairable), expected, np.full(len(sums), self.v.max(initial=0)))


@dataclass(frozen=True)
class Gwet:
    """Gwet's AC1 (2008), AC2 with weights (2014). Needs a declared scale of two or more labels."""

    v: np.ndarray
    name: str = "Gwet's AC1"

    def rows(self, counts: np.ndarray) -> np.ndarray:
        apart, pairable = _pair_features(counts, self.v)
        rated = counts.sum(axis=1) > 0
        return np.column_stack([apart, pairable, rated, _shares(counts)])

    def parts(self, sums: np.ndarray) -> Parts:
        k = len(self.v)
        apart, pairable, rated = sums[:, 0], sums[:, 1], sums[:, 2]
        if k < 2:
            return Parts(apart * 0, apart * 0, apart * 0)
        share = _ratio(sums[:, 3:], rated[:, None])
        sum_of_weights = (1 - self.v).sum()
        by_chance = sum_of_weights * (share * (1 - share)).sum(axis=1) / (k * (k - 1))
        expected = (1 - by_chance) * (pairable > 0)
        return Parts(_ratio(apart, pairable), expected, np.full(len(sums), self.v.max(initial=0)))


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha: coincidences o = sum_u (n n' - diag n)/(m_u - 1), distances by the level of measurement."""

    level: Level
    scores: np.ndarray

    @property
    def name(self) -> str:
        return f"Krippendorff's alpha, {self.level}"

    def distances(self, n_c: np.ndarray) -> np.ndarray:
        """(sums, labels) -> delta^2, (sums, labels, labels)."""
        return squared_distances(self.level, self.scores, n_c)

    def rows(self, counts: np.ndarray) -> np.ndarray:
        n = counts.astype(float)
        m = n.sum(axis=1)
        pairs = n[:, :, None] * n[:, None, :]
        diagonal = np.arange(n.shape[1])
        pairs[:, diagonal, diagonal] -= n
        pairs *= np.where(m >= 2, 1 / np.where(m >= 2, m - 1, 1), 0)[:, None, None]
        return pairs.reshape(len(n), n.shape[1] ** 2)

    def parts(self, sums: np.ndarray) -> Parts:
        k = len(self.scores)
        o = sums.reshape(-1, k, k)
        n_c = o.sum(axis=2)
        n = n_c.sum(axis=1)
        apart = self.distances(n_c)
        observed = (o * apart).sum(axis=(1, 2))
        expected = np.einsum("bc,bck,bk->b", n_c, apart, n_c) / np.where(n > 1, n - 1, 1)
        # Divided by n both are means over pairs, on the scale of one distance.
        return Parts(_ratio(observed, n), _ratio(expected, n), apart.max(axis=(1, 2), initial=0))


@dataclass(frozen=True)
class AlphaByDistance:
    """Krippendorff's alpha with a distance that is the same whatever was said, such as MASI between sets.

    Features of a unit: its part of the observed disagreement, then its label counts. That is one per label instead of
    one per two labels, so the scale may be long.
    """

    apart: np.ndarray
    name: str

    def distances(self, n_c: np.ndarray) -> np.ndarray:
        """(sums, labels) -> the distance, (sums, labels, labels)."""
        return np.broadcast_to(self.apart, (len(n_c), *self.apart.shape))

    def rows(self, counts: np.ndarray) -> np.ndarray:
        n = counts.astype(float)
        m = n.sum(axis=1)
        pairable = m >= 2
        within = ((n @ self.apart) * n).sum(axis=1) / np.where(pairable, m - 1, 1)
        return np.column_stack([within, n]) * pairable[:, None]

    def parts(self, sums: np.ndarray) -> Parts:
        within, n_c = sums[:, 0], sums[:, 1:]
        n = n_c.sum(axis=1)
        total = ((n_c @ self.apart) * n_c).sum(axis=1)
        largest = np.full(len(sums), self.apart.max(initial=0))
        return Parts(_ratio(within, n), _ratio(total, n * np.where(n > 1, n - 1, 1)), largest)


def percent_agreement(
    ratings: Counted, *, bootstrap: Bootstrap | None = None, clusters: np.ndarray | None = None
) -> Estimate:
    """The mean over units of the share of their pairs of ratings that agree, from 0 to 1; not corrected for chance.

    `bootstrap` asks for an interval, `clusters` (units,) has the group of each unit where units nest. Without two
    ratings on any unit there is no value, and the reason says so.
    """
    return estimate(ratings, Percent(), bootstrap=bootstrap, clusters=clusters)


def fleiss_kappa(
    ratings: Counted,
    *,
    weights: Weights = "identity",
    bootstrap: Bootstrap | None = None,
    clusters: np.ndarray | None = None,
) -> Estimate:
    """Fleiss' kappa (1971), at most 1 and 0 by chance; of two raters Scott's pi (1955). Gwet's form per unit (2014).

    Units may have unequally many ratings. No value where all comparable ratings are the same. `bootstrap` and
    `clusters` as for `percent_agreement`.
    """
    name = "Fleiss' kappa" if weights == "identity" else f"Fleiss' kappa, {weights} weights"
    coefficient = Fleiss(disagreement_weights(weights, ratings.scores), name)
    return estimate(ratings, coefficient, bootstrap=bootstrap, clusters=clusters)


def krippendorff_alpha(
    ratings: Counted, *, level: Level, bootstrap: Bootstrap | None = None, clusters: np.ndarray | None = None
) -> Estimate:
    """Krippendorff's alpha (1970; 2004; 2011), at most 1 and 0 by chance, with any ratings missing.

    `level` says what a distance is between the scale's scores. No value where all comparable ratings are the same;
    units with a single rating are dropped before that is asked. ValueError for a ratio scale below 0. `bootstrap` and
    `clusters` as for `percent_agreement`.
    """
    return estimate(ratings, Alpha(level, ratings.scores), bootstrap=bootstrap, clusters=clusters)


def gwet_ac(
    ratings: Counted,
    *,
    weights: Weights = "identity",
    bootstrap: Bootstrap | None = None,
    clusters: np.ndarray | None = None,
) -> Estimate:
    """Gwet's AC1 (2008), or with weights AC2 (2014), at most 1 and 0 by chance, on the declared scale.

    Defined also where all ratings are the same (then 1); no value on a scale of one label. `bootstrap` and `clusters`
    as for `percent_agreement`.
    """
    name = "Gwet's AC1" if weights == "identity" else f"Gwet's AC2, {weights} weights"
    coefficient = Gwet(disagreement_weights(weights, ratings.scores), name)
    return estimate(ratings, coefficient, bootstrap=bootstrap, clusters=clusters)


def estimate(
    ratings: Counted,
    coefficient: Coefficient,
    *,
    bootstrap: Bootstrap | None = None,
    clusters: np.ndarray | None = None,
) -> Estimate:
    """The coefficient with its numbers and, if asked for, its interval.

    `clusters` gives the group of each unit (code from 0), where units nest: whole groups are then drawn.
    """
    bare = without_anything(ratings, coefficient)
    if bare.reason:
        return bare
    rows, times = coefficient.rows(ratings.patterns.counts), ratings.patterns.times
    if clusters is not None:
        if len(clusters) != len(ratings.patterns.of_unit):
            raise ValueError("every unit needs its cluster, and it has to be known which unit is which")
        rows, times = sums_by_cluster(rows[ratings.patterns.of_unit], np.asarray(clusters))
    return from_rows(bare, coefficient, rows, times, bootstrap=bootstrap, clustered=clusters is not None)


def without_anything(ratings: Counted, coefficient: Coefficient) -> Estimate:
    """The statistic with its numbers and no value yet; with the reason, where it will never have one."""
    bare = Estimate(
        coefficient.name,
        None,
        n_units=ratings.n_pairable_units,
        n_pairs=ratings.n_pairs,
        n_raters=ratings.n_pairing_raters,
        method="value only",
    )
    if ratings.nothing_to_compare:
        return without_value(bare, ratings.nothing_to_compare)
    if isinstance(coefficient, Gwet) and ratings.n_labels < 2:
        return without_value(bare, Reason.NO_SCALE)
    return bare


def from_rows(
    bare: Estimate,
    coefficient: Coefficient,
    rows: np.ndarray,
    times: np.ndarray,
    *,
    bootstrap: Bootstrap | None,
    clustered: bool = False,
) -> Estimate:
    """Fill in value and interval from the features of each kind of unit and how many units are of that kind."""
    # Units with nothing to add to the sums (singletons, for most coefficients) are not drawn.
    adds = rows.any(axis=1)
    rows, times = rows[adds], times[adds]
    value = float(values(coefficient, (times @ rows)[None, :])[0])
    if np.isnan(value):
        return without_value(bare, Reason.NO_VARIATION)
    return _with_interval(bare, value, coefficient, rows, times, bootstrap=bootstrap, clustered=clustered)


def _with_interval(
    bare: Estimate,
    value: float,
    coefficient: Coefficient,
    rows: np.ndarray,
    times: np.ndarray,
    *,
    bootstrap: Bootstrap | None,
    clustered: bool,
) -> Estimate:
    if bootstrap is None:
        return _filled(bare, value, None, "value only")
    method = bootstrap.method
    if bare.n_units < 2 or times.sum() < 2:
        return without_interval(_filled(bare, value, None, method), Reason.ONE_UNIT)
    parts = coefficient.parts((times @ rows)[None, :])
    if parts.observed[0] == 0:
        # Without one disagreement every resample agrees perfectly and would claim certainty.
        n_independent = int(times.sum()) if clustered else bare.n_units
        return when_no_pair_differs(replace(bare, value=value), parts, n_independent, bootstrap.confidence)
    drawn = resampled_sums(*in_groups(rows, times, bootstrap), bootstrap)
    resampled = np.concatenate([values(coefficient, sums) for sums in drawn])
    interval = percentile_interval(resampled, bootstrap)
    filled = _filled(bare, value, interval, method)
    return filled if interval else without_interval(filled, Reason.UNSTABLE)


def when_no_pair_differs(full: Estimate, parts: Parts, n_independent: int, confidence: float) -> Estimate:
    """Full agreement with the lowest value that items not seen to differ still allow."""
    could_differ = most_that_could_differ(n_independent, confidence)
    low = max(-1.0, 1 - could_differ * float(parts.largest[0] / parts.expected[0]))
    method = f"no pair differs: {confidence:.0%} exact binomial limit on items that could"
    return replace(full, low=low, high=1.0, method=method)


def _filled(bare: Estimate, value: float, interval: tuple[float, float] | None, method: str) -> Estimate:
    low, high = interval or (None, None)
    return Estimate(bare.statistic, value, low, high, bare.n_units, bare.n_pairs, bare.n_raters, method)
