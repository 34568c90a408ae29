"""Agreement on marked spans."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from reviews.stats.agreement import krippendorff_alpha
from reviews.stats.counts import from_codes
from reviews.stats.resampling import Bootstrap
from reviews.stats.result import Reason
from reviews.stats.spans import Spans, span_agreement, unitising_disagreement
from tests.reviews.stats import published


def units_of(name, stretch):
    spans = published.UNITIZING[name][0]
    return [
        np.array(sorted((begin * stretch, (begin + long) * stretch) for begin, long, who in spans if who == rater))
        for rater in (0, 1)
    ]


@pytest.mark.parametrize("name", published.UNITIZING)
def test_alpha_for_unitising_of_krippendorffs_four_studies(name):
    """The paper prints the limit of ever finer tokens, with a small slip in one expected disagreement."""
    _, observed, alpha = published.UNITIZING[name]
    found, expected = unitising_disagreement(units_of(name, 50_000), 24 * 50_000)
    assert found == pytest.approx(observed, abs=1e-5)
    assert 1 - found / expected == pytest.approx(alpha, abs=0.02)


def test_tokens_of_krippendorffs_first_study():
    spans = [(0, rater, begin, begin + long) for begin, long, rater in published.UNITIZING["A"][0]]
    found = span_agreement(Spans.of([24], [(0, 0), (0, 1)], spans))
    assert round(found.alpha.value, 3) == 0.329
    # Alice marked 14 tokens and Bob 6, all of them Alice's.
    assert found.f1.value == pytest.approx(2 * 6 / 20)


def random_spans(seed, n_texts=6):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(5, 30, n_texts)
    judged = [(text, rater) for text in range(n_texts) for rater in range(3) if rng.random() < 0.8]
    marks = []
    for text, rater in judged:
        for _ in range(rng.integers(0, 3)):
            start = int(rng.integers(0, lengths[text] - 1))
            marks.append((text, rater, start, int(rng.integers(start + 1, lengths[text] + 1))))
    return Spans.of(lengths, judged, marks)


def tokens_of(spans):
    """(text, token) by rater, as a dictionary of lists of 0 and 1."""
    said = {(text, rater): [0] * spans.lengths[text] for text, rater in map(tuple, spans.judged.tolist())}
    for text, rater, start, end in spans.marks.tolist():
        said[text, rater][start:end] = [1] * (end - start)
    return said


@given(st.integers(0, 10_000))
def test_tokens_as_by_hand(seed):
    """Alpha is nominal alpha with tokens as units, and F1 for two raters is that of scikit-learn."""
    spans = random_spans(seed)
    said = tokens_of(spans)
    offset = np.cumsum(spans.lengths) - spans.lengths
    rows = [
        (offset[text] + place, rater, label)
        for (text, rater), labels in said.items()
        for place, label in enumerate(labels)
    ]
    ratings = from_codes(*np.array(rows, dtype=int).reshape(-1, 3).T, scores=[0, 1])
    found = span_agreement(spans)
    if found.alpha.reason is None:
        assert found.alpha.value == pytest.approx(krippendorff_alpha(ratings, level="nominal").value)
    both = [text for text in range(len(spans.lengths)) if (text, 0) in said and (text, 1) in said]
    only_two = Spans.of(
        spans.lengths,
        [(text, rater) for text in both for rater in (0, 1)],
        [mark for mark in spans.marks.tolist() if mark[0] in both and mark[1] < 2],
    )
    f1 = span_agreement(only_two).f1
    if f1.defined:
        alice, bob = (np.concatenate([said[text, rater] for text in both]) for rater in (0, 1))
        assert f1.value == pytest.approx(f1_score(alice, bob, zero_division=0))


@given(st.integers(0, 10_000))
def test_alpha_for_unitising_needs_no_order_of_raters_and_never_exceeds_one(seed):
    spans = random_spans(seed)
    swapped = Spans.of(
        spans.lengths,
        [(text, 2 - rater) for text, rater in spans.judged.tolist()],
        [(text, 2 - rater, start, end) for text, rater, start, end in spans.marks.tolist()],
    )
    first, second = span_agreement(spans).alpha_u, span_agreement(swapped).alpha_u
    assert first.reason == second.reason
    if first.defined:
        assert first.value == pytest.approx(second.value)
        assert first.value <= 1


def test_a_rater_who_marks_nothing_has_judged_all_the_same():
    """Alice marks four of ten tokens, Bob none."""
    found = span_agreement(Spans.of([10], [(0, 0), (0, 1)], [(0, 0, 3, 7)]))
    assert found.f1.value == 0.0
    assert found.alpha.value < 0
    # Her unit lies wholly in his gap: 4^2 both ways round, over 2 * 10^2.
    assert unitising_disagreement([np.array([[3.0, 7.0]]), np.zeros((0, 2))], 10.0)[0] == pytest.approx(32 / 200)


def test_overlapping_spans_of_one_rater_are_one():
    apart = span_agreement(Spans.of([20], [(0, 0), (0, 1)], [(0, 0, 2, 8), (0, 0, 5, 11), (0, 1, 2, 10)]))
    joined = span_agreement(Spans.of([20], [(0, 0), (0, 1)], [(0, 0, 2, 11), (0, 1, 2, 10)]))
    assert apart == joined


def test_kinds_are_compared_one_at_a_time():
    spans = Spans.of([20], [(0, 0), (0, 1)], [(0, 0, 0, 5), (0, 1, 0, 5), (0, 0, 10, 12)], kinds=[1, 1, 2])
    assert span_agreement(spans.of_kind(1)).f1.value == 1.0
    assert span_agreement(spans.of_kind(2)).f1.value == 0.0


def test_intervals_draw_whole_texts():
    found = span_agreement(random_spans(3, n_texts=40), bootstrap=Bootstrap())
    for estimate in (found.alpha, found.f1, found.alpha_u):
        assert estimate.low < estimate.value < estimate.high
        assert "over texts" in estimate.method
        assert estimate.n_units <= 40


def test_what_is_not_defined_says_why():
    cases = {
        Reason.NO_RATINGS: Spans.of([5], [], []),
        Reason.ONE_RATER: Spans.of([5, 5], [(0, 0), (1, 0)], [(0, 0, 1, 2)]),
        Reason.NO_PAIRS: Spans.of([5, 5], [(0, 0), (1, 1)], [(0, 0, 1, 2)]),
        Reason.NOTHING_MARKED: Spans.of([5], [(0, 0), (0, 1)], []),
    }
    for reason, spans in cases.items():
        found = span_agreement(spans, bootstrap=Bootstrap())
        assert {found.alpha.reason, found.f1.reason, found.alpha_u.reason} == {reason}
    everything = span_agreement(Spans.of([3], [(0, 0), (0, 1)], [(0, 0, 0, 3), (0, 1, 0, 3)]))
    assert (everything.alpha.reason, everything.f1.value) == (Reason.NO_VARIATION, 1.0)


def test_spans_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="does not lie"):
        Spans.of([5], [(0, 0)], [(0, 0, 3, 6)])
    with pytest.raises(ValueError, match="did not judge"):
        Spans.of([5], [(0, 0)], [(0, 1, 1, 2)])
