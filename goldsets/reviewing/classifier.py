"""Fits the classifier rung: words and structure of a run, weighed by logistic regression, with a calibrated confidence.

What comes out is plain JSON, which `scoring` reads and describes. The weights rest on the training families alone; how
strongly they are held back, and Platt's calibration (1999), on the development families.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression

from goldsets.reviewing.examples import Example
from goldsets.reviewing.scoring import MEASURES, MOST_TERMS, score, terms_of

MOST_WORDS = 20_000
FEWEST_TEXTS = 2
STRENGTHS = (0.03, 0.3, 3.0)
# Platt's slope is held back a little, so that few development items cannot make a reviewer all too sure.
CALIBRATION_STRENGTH = 1.0
DIGITS = 6


def fit(training: Sequence[Example], development: Sequence[Example]) -> dict[str, Any]:
    """The reviewer, without thresholds yet. ValueError where either part lacks passes or fails."""
    if any(len({example.label for example in part}) < 2 for part in (training, development)):
        raise ValueError("it takes passes and fails both to train on and to calibrate by")
    counts = [terms_of(example.text) for example in training]
    idf = _idf(counts)
    places = {term: place for place, term in enumerate(idf)}
    scaling = _scaling(training)
    matrix = _matrix(counts, training, idf, places, scaling)
    labels = np.array([example.label for example in training])
    later = _matrix([terms_of(e.text) for e in development], development, idf, places, scaling)
    wanted = np.array([example.label for example in development])
    fits = [_weights(matrix, labels, strength) for strength in STRENGTHS]
    model, calibration = min(
        ((model, _platt(later, wanted, model)) for model in fits), key=lambda pair: _loss(later, wanted, *pair)
    )
    weights = model.coef_[0]
    return {
        "kind": "classifier",
        "most_terms": MOST_TERMS,
        "terms": {term: [_rounded(idf[term]), _rounded(weights[places[term]])] for term in idf},
        "structure": {
            name: [_rounded(part) for part in (each.mean, each.scale, weight, each.low, each.high)]
            for (name, each), weight in zip(scaling.items(), weights[len(idf) :], strict=True)
        },
        "intercept": _rounded(model.intercept_[0]),
        "slope": _rounded(calibration.coef_[0][0]),
        "offset": _rounded(calibration.intercept_[0]),
        "least_known": _least_known(development, idf),
        "thresholds": {"pass": None, "fail": None},
    }


def pass_probability(reviewer: dict[str, Any], example: Example) -> float:
    """How likely experts pass the item; .5 where the reviewer has nothing to say."""
    found = score(reviewer, example.text, example.structure)
    if found.verdict is None:
        return 0.5
    return found.confidence if found.verdict else 1 - found.confidence


def _rounded(number: float) -> float:
    """A plain number that comes back from any JSON as it went in; there is no -0.0 in a database's JSON."""
    return round(float(number), DIGITS) + 0.0


def _idf(counts: Sequence[Counter[str]]) -> dict[str, float]:
    """Smoothed inverse document frequencies of the terms that stand in the most texts, and in two at least."""
    texts = Counter(term for terms in counts for term in terms)
    common = sorted((-n, term) for term, n in texts.items() if n >= FEWEST_TEXTS)[:MOST_WORDS]
    return {term: math.log((1 + len(counts)) / (1 - minus)) + 1 for minus, term in common}


class Scaling(NamedTuple):
    """Mean, standard deviation, least and most of a measure's ln(1 + m) over the training items."""

    mean: float
    scale: float
    low: float
    high: float


def _scaling(examples: Sequence[Example]) -> dict[str, Scaling]:
    values = np.log1p([[example.structure.get(name, 0.0) for name in MEASURES] for example in examples])
    return {
        name: Scaling(float(column.mean()), _spread(column), float(column.min()), float(column.max()))
        for name, column in zip(MEASURES, values.T, strict=True)
    }


def _spread(column: np.ndarray) -> float:
    """The standard deviation; 1 where it would be rounded to nothing, as of a measure that is always the same."""
    spread = float(column.std())
    return spread if _rounded(spread) else 1.0


def _least_known(examples: Sequence[Example], idf: dict[str, float]) -> float:
    """Half of the least share of known words in any of the texts: whatever has fewer is of another kind."""
    shares = []
    for example in examples:
        terms = terms_of(example.text)
        shares.append(sum(times for term, times in terms.items() if term in idf) / (terms.total() or 1))
    return _rounded(min(shares) / 2)


def _matrix(
    counts: Sequence[Counter[str]],
    examples: Sequence[Example],
    idf: dict[str, float],
    places: dict[str, int],
    scaling: dict[str, Scaling],
) -> csr_matrix:
    """A row per example: its terms, of Euclidean length 1, and its measures, as `scoring` has them."""
    data: list[float] = []
    columns: list[int] = []
    ends = [0]
    for terms in counts:
        known = [(places[term], (1 + math.log(times)) * idf[term]) for term, times in terms.items() if term in idf]
        length = math.sqrt(sum(value * value for _place, value in known)) or 1.0
        columns.extend(place for place, _value in known)
        data.extend(value / length for _place, value in known)
        ends.append(len(data))
    words = csr_matrix((data, columns, ends), shape=(len(counts), len(idf)))
    values = np.log1p([[example.structure.get(name, 0.0) for name in scaling] for example in examples])
    mean, scale, low, high = (np.array(column) for column in zip(*scaling.values(), strict=True))
    measures = (np.clip(values, low, high) - mean) / scale
    return hstack([words, csr_matrix(measures)], format="csr")


def _weights(matrix: csr_matrix, labels: np.ndarray, strength: float) -> LogisticRegression:
    return LogisticRegression(C=strength, class_weight="balanced", max_iter=2000).fit(matrix, labels)


def _platt(matrix: csr_matrix, labels: np.ndarray, model: LogisticRegression) -> LogisticRegression:
    """Calibrates what the model says; a model that is wrong more often than not is never turned round."""
    said = model.decision_function(matrix)[:, None]
    found = LogisticRegression(C=CALIBRATION_STRENGTH).fit(said, labels)
    if found.coef_[0][0] < 0:
        found.coef_[:] = 0.0
    return found


def _loss(matrix: csr_matrix, labels: np.ndarray, model: LogisticRegression, calibration: LogisticRegression) -> float:
    """Mean logarithmic loss after calibration."""
    p = calibration.predict_proba(model.decision_function(matrix)[:, None])[:, 1]
    return float(-np.log(np.clip(np.where(labels == 1, p, 1 - p), 1e-12, 1)).mean())
