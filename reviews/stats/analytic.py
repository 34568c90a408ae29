"""Gwet's analytic standard errors: an interval from a formula instead of resamples, for sampling of units.

Every unit gets its own value of the coefficient, corrected for what the unit does to agreement by chance; the variance
of those values over units, divided by their number, is the variance of the coefficient. Weights are taken as given,
also those of ordinal alpha, which depend on the labels. [Gwet 2008; 2014; 2021 for alpha]
"""

from dataclasses import replace
from math import sqrt

import numpy as np
from scipy.special import stdtrit

from reviews.stats.agreement import (
    Alpha,
    AlphaByDistance,
    Coefficient,
    Fleiss,
    Gwet,
    Parts,
    Percent,
    values,
    when_no_pair_differs,
    without_anything,
)
from reviews.stats.counts import Counted
from reviews.stats.result import Estimate, Reason, without_interval, without_value

Analytic = Percent | Fleiss | Gwet | Alpha | AlphaByDistance


def analytic_estimate(ratings: Counted, coefficient: Analytic, *, confidence: float = 0.95) -> Estimate:
    """The coefficient with the interval of Student's t at its analytic error, within -1 and 1.

    Where no pair differs the error is 0 and would claim certainty; the interval is then the exact binomial one that
    the bootstrap uses too.
    """
    bare = without_anything(ratings, coefficient)
    if bare.reason:
        return bare
    value, parts = _value_and_parts(ratings, coefficient)
    if np.isnan(value):
        return without_value(bare, Reason.NO_VARIATION)
    full = replace(bare, value=value, method=f"{confidence:.0%} t, Gwet's analytic error")
    if full.n_units < 2:
        return without_interval(full, Reason.ONE_UNIT)
    if parts.observed[0] == 0:
        return when_no_pair_differs(full, parts, full.n_units, confidence)
    error, df = _error(ratings, coefficient)
    reach = float(stdtrit(df, 0.5 + confidence / 2)) * error
    # Of units with unequally many ratings a coefficient may be below -1.
    return replace(full, low=max(min(-1.0, value), value - reach), high=min(1.0, value + reach))


def analytic_error(ratings: Counted, coefficient: Analytic) -> float | None:
    """Gwet's standard error of the coefficient; None where the coefficient is not defined or rests on one unit."""
    bare = without_anything(ratings, coefficient)
    if bare.reason or bare.n_units < 2 or np.isnan(_value_and_parts(ratings, coefficient)[0]):
        return None
    return _error(ratings, coefficient)[0]


def _value_and_parts(ratings: Counted, coefficient: Coefficient) -> tuple[float, Parts]:
    sums = (ratings.patterns.times @ coefficient.rows(ratings.patterns.counts))[None, :]
    return float(values(coefficient, sums)[0]), coefficient.parts(sums)


def _error(ratings: Counted, coefficient: Analytic) -> tuple[float, int]:
    """The standard error and its degrees of freedom."""
    counts, times = ratings.patterns.counts.astype(float), ratings.patterns.times
    if isinstance(coefficient, Alpha | AlphaByDistance):
        used = counts.sum(axis=1) >= 2
        counts, times = counts[used], times[used]
        per_unit = _alpha_per_unit(counts, times, coefficient)
    else:
        used = counts.sum(axis=1) >= 1
        counts, times = counts[used], times[used]
        per_unit = _per_unit(counts, times, coefficient)
    n = int(times.sum())
    middle = times @ per_unit / n
    return sqrt(float(times @ (per_unit - middle) ** 2) / (n * (n - 1))), n - 1


def _per_unit(counts: np.ndarray, times: np.ndarray, coefficient: Percent | Fleiss | Gwet) -> np.ndarray:
    """Each kind of unit's value of percent agreement, Fleiss' kappa or Gwet's coefficient; its mean is the value."""
    n_labels = counts.shape[1]
    v = 1 - np.eye(n_labels) if isinstance(coefficient, Percent) else coefficient.v
    w = 1 - v / (v.max(initial=0) or 1)
    m = counts.sum(axis=1)
    pairable = m >= 2
    n, n_pairable = times.sum(), times @ pairable
    agree = ((counts @ w) * counts).sum(axis=1) - m
    agree = np.where(pairable, agree / np.where(pairable, m * (m - 1), 1), 0)
    if isinstance(coefficient, Percent):
        return n / n_pairable * agree * pairable
    shares = counts / m[:, None]
    pi = times @ shares / n
    if isinstance(coefficient, Gwet):
        by_chance_i = w.sum() / (n_labels * (n_labels - 1)) * ((1 - shares) @ pi)
    else:
        by_chance_i = shares @ ((w + w.T) @ pi) / 2
    by_chance = times @ by_chance_i / n
    value = (times @ agree / n_pairable - by_chance) / (1 - by_chance)
    own = n / n_pairable * (agree - by_chance) / (1 - by_chance) * pairable
    return own - 2 * (1 - value) * (by_chance_i - by_chance) / (1 - by_chance)


def _alpha_per_unit(counts: np.ndarray, times: np.ndarray, coefficient: Alpha | AlphaByDistance) -> np.ndarray:
    """Each kind of unit's value of alpha. A unit counts by its number of ratings, as in the coincidences."""
    apart = coefficient.distances((times @ counts)[None, :])[0]
    w = 1 - apart / (apart.max(initial=0) or 1)
    m = counts.sum(axis=1)
    n = times.sum()
    relative = m / (times @ m / n)
    agree_i = (((counts @ w) * counts).sum(axis=1) - m) / (m - 1) / (times @ m / n)
    agree = times @ agree_i / n
    pi = times @ counts / (times @ m)
    by_chance = pi @ w @ pi
    by_chance_i = counts @ (w @ pi) / (times @ m / n) - by_chance * (relative - 1)
    value = (agree - by_chance) / (1 - by_chance)
    own = (agree_i - agree * (relative - 1) - by_chance) / (1 - by_chance)
    return own - 2 * (1 - value) * (by_chance_i - by_chance) / (1 - by_chance)
