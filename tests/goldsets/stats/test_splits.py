"""Families dealt to splits: by seed and name alone, near the shares, and the same on every machine."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldsets.stats.splits import deal, place_of

SHARES = {"train": 70, "calibration": 15, "held_out": 15}


def test_a_place_is_the_first_eight_bytes_of_the_hash():
    digest = hashlib.sha256(b"autumn\nrefunds").hexdigest()
    assert place_of("refunds", seed="autumn") == int(digest[:16], 16) / 2**64


@given(st.text(), st.text())
def test_whoever_has_all_of_the_share_has_every_family(family, seed):
    assert deal(family, seed=seed, shares={"train": 0, "calibration": 100, "held_out": 0}) == "calibration"


@given(st.text(), st.text(), st.integers(0, 100))
def test_a_larger_share_of_training_never_takes_a_family_from_it(family, seed, share):
    small = {"train": share // 2, "held_out": 100 - share // 2}
    large = {"train": share, "held_out": 100 - share}
    if deal(family, seed=seed, shares=small) == "train":
        assert deal(family, seed=seed, shares=large) == "train"


def test_many_families_fall_as_the_shares_say():
    dealt = [deal(f"family {n}", seed="autumn", shares=SHARES) for n in range(10_000)]
    # Four standard deviations of a binomial share: sqrt(.7 * .3 / 10,000) = .0046.
    assert dealt.count("train") / 10_000 == pytest.approx(0.70, abs=0.0184)
    assert dealt.count("held_out") / 10_000 == pytest.approx(0.15, abs=0.0143)


@pytest.mark.parametrize("shares", [{"train": 70}, {"train": 120, "held_out": -20}, {}])
def test_shares_that_are_none_are_refused(shares):
    with pytest.raises(ValueError, match="100"):
        deal("refunds", seed="", shares=shares)
