"""Quotas by source: the shares hold of what leaves, and no more is left out than that needs."""

from hypothesis import given
from hypothesis import strategies as st

from goldsets.stats.quotas import within_quotas


def test_a_share_is_of_what_leaves_and_not_of_what_there_was():
    # With 60 others, x / (60 + x) <= 0.25 gives x = 20.
    assert within_quotas({"synthetic": 40, "expert": 60}, {"synthetic": 0.25}) == {"synthetic": 20, "expert": 60}


def test_nothing_is_left_out_where_shares_hold():
    assert within_quotas({"synthetic": 29, "expert": 71}, {"synthetic": 0.29}) == {"synthetic": 29, "expert": 71}


def test_a_share_of_nothing_lets_nothing_leave():
    assert within_quotas({"synthetic": 5, "expert": 7}, {"synthetic": 0}) == {"synthetic": 0, "expert": 7}


def test_shares_that_cannot_make_a_whole_leave_nothing():
    assert within_quotas({"a": 10, "b": 10}, {"a": 0.4, "b": 0.4}) == {"a": 0, "b": 0}


SOURCES = st.dictionaries(st.sampled_from("abcd"), st.integers(0, 300), min_size=1)
SHARES = st.dictionaries(st.sampled_from("abcd"), st.floats(0, 1), max_size=3)


@given(SOURCES, SHARES)
def test_every_share_holds_and_no_source_grows(counts, shares):
    fit = within_quotas(counts, shares)
    total = sum(fit.values())
    for source, n in fit.items():
        assert 0 <= n <= counts[source]
        assert n <= shares.get(source, 1) * total + 1e-6
        assert source in shares or n == counts[source]
