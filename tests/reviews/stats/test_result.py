"""An estimate says its value or why there is none."""

from reviews.stats.result import WORDS, Estimate, Reason, refuse_below


def test_every_reason_has_words():
    assert set(WORDS) == set(Reason)


def test_below_the_floor_the_value_is_refused_and_the_number_stays():
    refused = refuse_below(Estimate("alpha", 0.8, 0.2, 1.0, n_units=7), floor=10)
    assert (refused.value, refused.low, refused.high, refused.n_units) == (None, None, None, 7)
    assert refused.reason == Reason.BELOW_FLOOR
    assert refused.words == "Too few to say: 7 of the 10 items needed with two or more ratings, 3 missing."


def test_at_the_floor_the_value_stands():
    estimate = Estimate("alpha", 0.8, 0.2, 1.0, n_units=10)
    assert refuse_below(estimate, floor=10) == estimate


def test_what_is_undefined_keeps_its_own_reason():
    estimate = Estimate("alpha", None, reason=Reason.NO_PAIRS)
    assert refuse_below(estimate, floor=10).reason == Reason.NO_PAIRS


def test_as_dict_has_plain_types():
    assert Estimate("alpha", None, n_units=2, method="m", reason=Reason.NO_VARIATION, words="w").as_dict() == {
        "statistic": "alpha",
        "value": None,
        "low": None,
        "high": None,
        "n_units": 2,
        "n_pairs": 0,
        "n_raters": 0,
        "method": "m",
        "reason": "no_variation",
        "words": "w",
    }
    assert type(Estimate("alpha", None, reason=Reason.NO_VARIATION).as_dict()["reason"]) is str
