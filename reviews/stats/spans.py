"""Agreement on marked spans: token by token, by the F1 of tokens, and Krippendorff's alpha for unitising.

Spans are half-open [start, end) in tokens of a text. A rater who judged a text and marked nothing in it has judged
every token as unmarked, so it has to be said who judged what. Spans of one rater that overlap count as one.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from reviews.stats.agreement import Alpha, Coefficient, Parts, Share, from_rows
from reviews.stats.resampling import Bootstrap
from reviews.stats.result import Estimate, Reason, without_value

UNMARKED, MARKED = 0, 1


@dataclass(frozen=True)
class Spans:
    """Texts and raters are codes from 0.

    `lengths` (texts,) in tokens; `judged` (judgments, 2) holds who judged which text, as (text, rater); `marks`
    (spans, 4) holds (text, rater, start, end), and `kinds` (spans,) what each span was marked as, or nothing.
    """

    lengths: np.ndarray
    judged: np.ndarray
    marks: np.ndarray
    kinds: np.ndarray | None = None

    @classmethod
    def of(
        cls,
        lengths: Iterable[int],
        judged: Iterable[tuple[int, int]],
        marks: Iterable[tuple[int, int, int, int]],
        kinds: Iterable[int] | None = None,
    ) -> "Spans":
        """From lists. A span outside its text, or by somebody who did not judge it, is refused."""
        spans = cls(
            np.array(list(lengths), dtype=np.int64),
            np.array(sorted(set(judged)), dtype=np.int64).reshape(-1, 2),
            np.array(list(marks), dtype=np.int64).reshape(-1, 4),
            None if kinds is None else np.array(list(kinds), dtype=np.int64),
        )
        text, rater, start, end = spans.marks.T
        if ((start < 0) | (end <= start) | (end > spans.lengths[text])).any():
            raise ValueError("a span does not lie in its text")
        if not {*zip(text.tolist(), rater.tolist(), strict=True)} <= {*map(tuple, spans.judged.tolist())}:
            raise ValueError("a span is by a rater who did not judge the text")
        return spans

    def of_kind(self, kind: int) -> "Spans":
        """Only the spans marked as one kind; who judged what stays."""
        return self if self.kinds is None else Spans(self.lengths, self.judged, self.marks[self.kinds == kind])


@dataclass(frozen=True)
class SpanAgreement:
    """`alpha`: nominal, marked or not, over tokens. `f1`: of the tokens marked by two raters, how many both marked.

    `alpha_u`: of sections, by where they begin and end.
    """

    alpha: Estimate
    f1: Estimate
    alpha_u: Estimate


@dataclass(frozen=True)
class AlphaU:
    """Krippendorff's alpha for unitising: observed and expected disagreement as means over texts by their length."""

    name: str = "Krippendorff's alpha for unitising"

    def rows(self, counts: np.ndarray) -> np.ndarray:
        return counts

    def parts(self, sums: np.ndarray) -> Parts:
        observed, expected, length = sums.T
        tokens = np.where(length > 0, length, 1)
        return Parts(observed / tokens, expected / tokens, np.ones(len(sums)))


@dataclass(frozen=True)
class TokenAgreement:
    """The first two of `SpanAgreement`."""

    alpha: Estimate
    f1: Estimate


def span_agreement(spans: Spans, *, bootstrap: Bootstrap | None = None) -> SpanAgreement:
    """Over the texts that two or more raters judged; intervals draw whole texts."""
    tokens = token_agreement(spans, bootstrap=bootstrap)
    bare = _bare(_merged(spans), _n_judges(spans))
    alpha_u = _estimate(bare, AlphaU(), unitising_features(spans), _over_texts(bootstrap))
    return SpanAgreement(alpha=tokens.alpha, f1=tokens.f1, alpha_u=alpha_u)


def token_agreement(spans: Spans, *, bootstrap: Bootstrap | None = None) -> TokenAgreement:
    """Token by token alone. Unlike sections, very many texts are no work."""
    spans = _merged(spans)
    n_judges = _n_judges(spans)
    marked = _marked_per_token(spans)
    text = np.repeat(np.arange(len(spans.lengths)), spans.lengths)
    bare = _bare(spans, n_judges)
    alpha = Alpha("nominal", np.array([0.0, 1.0]))
    tokens = alpha.rows(np.column_stack([n_judges[text] - marked, marked]))
    both = marked * (marked - 1)
    either = marked * (n_judges[text] - 1)
    f1 = np.column_stack([both, either])
    return TokenAgreement(
        alpha=_estimate(bare, alpha, _summed(tokens, text, len(spans.lengths)), _over_texts(bootstrap)),
        f1=_estimate(bare, Share("Token F1"), _summed(f1, text, len(spans.lengths)), _over_texts(bootstrap)),
    )


def _n_judges(spans: Spans) -> np.ndarray:
    return np.bincount(spans.judged[:, 0], minlength=len(spans.lengths))


def _over_texts(bootstrap: Bootstrap | None) -> Bootstrap | None:
    return None if bootstrap is None else replace(bootstrap, over="texts")


def unitising_features(spans: Spans) -> np.ndarray:
    """(texts, 3): observed and expected disagreement of each text, times its length; and its length.

    Zeros where fewer than two raters judged.
    """
    spans = _merged(spans)
    found = np.zeros((len(spans.lengths), 3))
    by_text = np.split(spans.judged, np.flatnonzero(np.diff(spans.judged[:, 0])) + 1) if len(spans.judged) else []
    marks_from = np.searchsorted(spans.marks[:, 0], np.arange(len(spans.lengths) + 1))
    for judges in by_text:
        text, length = int(judges[0, 0]), float(spans.lengths[judges[0, 0]])
        if len(judges) < 2 or not length:
            continue
        marks = spans.marks[marks_from[text] : marks_from[text + 1]]
        units = [marks[marks[:, 1] == rater, 2:].astype(float) for rater in judges[:, 1]]
        observed, expected = unitising_disagreement(units, length)
        found[text] = observed * length, expected * length, length
    return found


def unitising_disagreement(units: list[np.ndarray], length: float) -> tuple[float, float]:
    """D observed and D expected of one continuum of this length; per rater (units, 2) with begin and end.

    Sections of two raters disagree by the squared distances of their begins and of their ends where two units overlap,
    by the square of a unit's length where it lies wholly in the other's gap. [Krippendorff 1995; 2004]
    """
    gaps = [_gaps(own, length) for own in units]
    n_raters = len(units)
    observed = 0.0
    for i in range(n_raters):
        for j in range(n_raters):
            if i != j:
                # What lies in the other's gap is counted once from either side.
                observed += _overlaps(units[i], units[j]) + 2 * _inside(units[i], gaps[j])
    observed /= n_raters * (n_raters - 1) * length**2
    long = np.concatenate([own[:, 1] - own[:, 0] for own in units])
    free = np.concatenate([own[:, 1] - own[:, 0] for own in gaps])
    places = n_raters * length
    others = places * (places - 1) - (long * (long - 1)).sum()
    if others <= 0 or not len(long):
        return observed, 0.0
    among_units = (len(long) - 1) / 3 * (2 * long**3 - 3 * long**2 + long)
    room = np.where(free[None, :] >= long[:, None], free[None, :] - long[:, None] + 1, 0).sum(axis=1)
    return observed, float(2 / length * (among_units + long**2 * room).sum() / others)


def _overlaps(first: np.ndarray, second: np.ndarray) -> float:
    begins = first[:, None, 0] - second[None, :, 0]
    ends = first[:, None, 1] - second[None, :, 1]
    overlap = (first[:, None, 0] < second[None, :, 1]) & (second[None, :, 0] < first[:, None, 1])
    return float(((begins**2 + ends**2) * overlap).sum())


def _inside(units: np.ndarray, gaps: np.ndarray) -> float:
    inside = (units[:, None, 0] >= gaps[None, :, 0]) & (units[:, None, 1] <= gaps[None, :, 1])
    return float(((units[:, 1] - units[:, 0]) ** 2 * inside.any(axis=1)).sum())


def _gaps(units: np.ndarray, length: float) -> np.ndarray:
    """What is left of the continuum between the units, which are in order."""
    begins = np.append(0.0, units[:, 1])
    ends = np.append(units[:, 0], length)
    return np.column_stack([begins, ends])[ends > begins]


def _merged(spans: Spans) -> Spans:
    """In order of text, rater and start, overlapping spans of one rater made one. Those that only touch stay two."""
    text, rater, start, end = spans.marks[np.lexsort((spans.marks[:, 2], spans.marks[:, 1], spans.marks[:, 0]))].T
    owner = np.cumsum(np.append(0, (np.diff(text) != 0) | (np.diff(rater) != 0))[: len(text)])
    # Each rater's texts laid one behind the other, so that the farthest end so far is the farthest of the same owner.
    place = owner * (int(spans.lengths.max(initial=0)) + 1)
    farthest = np.maximum.accumulate(place + end)
    begins = np.ones(len(text), dtype=bool)
    begins[1:] = (place + start)[1:] >= farthest[:-1]
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(text)) - 1 if len(first) else first
    marks = np.column_stack([text[first], rater[first], start[first], (farthest - place)[last]])
    judged = spans.judged[np.lexsort((spans.judged[:, 1], spans.judged[:, 0]))]
    return Spans(spans.lengths, judged, marks)


def _marked_per_token(spans: Spans) -> np.ndarray:
    """How many raters marked each token, all texts one after the other."""
    total = int(spans.lengths.sum())
    offset = np.cumsum(spans.lengths) - spans.lengths
    text, _, start, end = spans.marks.T
    change = np.bincount(offset[text] + start, minlength=total + 1) - np.bincount(
        offset[text] + end, minlength=total + 1
    )
    return np.cumsum(change)[:total]


def _summed(rows: np.ndarray, text: np.ndarray, n_texts: int) -> np.ndarray:
    return np.stack([np.bincount(text, weights=column, minlength=n_texts) for column in rows.T], axis=1)


def _bare(spans: Spans, n_judges: np.ndarray) -> Estimate:
    """Texts that two or more judged, the pairs of raters on them, and the raters."""
    compared = spans.judged[n_judges[spans.judged[:, 0]] >= 2] if len(spans.judged) else spans.judged
    bare = Estimate(
        "",
        None,
        n_units=int(np.count_nonzero(n_judges >= 2)),
        n_pairs=int((n_judges * (n_judges - 1)).sum() // 2),
        n_raters=len(np.unique(compared[:, 1])),
        method="value only",
    )
    if not len(spans.judged):
        return without_value(bare, Reason.NO_RATINGS)
    if len(np.unique(spans.judged[:, 1])) == 1:
        return without_value(bare, Reason.ONE_RATER)
    if not bare.n_units:
        return without_value(bare, Reason.NO_PAIRS)
    marked = np.isin(spans.marks[:, 0], np.flatnonzero(n_judges >= 2))
    return bare if marked.any() else without_value(bare, Reason.NOTHING_MARKED)


def _estimate(bare: Estimate, coefficient: Coefficient, rows: np.ndarray, bootstrap: Bootstrap | None) -> Estimate:
    named = replace(bare, statistic=coefficient.name)
    if bare.reason:
        return named
    kinds, times = np.unique(rows, axis=0, return_counts=True)
    return from_rows(named, coefficient, kinds, times, bootstrap=bootstrap, clustered=True)
