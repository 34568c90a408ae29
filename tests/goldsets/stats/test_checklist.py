"""The checks of a release: intervals count against what is claimed, and what is not known does not pass."""

import pytest

from goldsets.stats.checklist import (
    TERMS,
    at_least,
    complete,
    in_words,
    lower_end,
    share_at_least,
    share_at_most,
    upper_end,
    wrong_terms,
)
from goldsets.stats.proportion import clopper_pearson, wilson


def test_few_right_answers_do_not_pass_for_many():
    # Wilson, 10 of 10: lower end 0.72; 100 of 100: 0.96.
    assert lower_end("gold", "Right", wilson(10, 10), 0.8).passed is False
    assert lower_end("gold", "Right", wilson(100, 100), 0.8).passed is True


def test_no_false_positive_in_few_is_no_proof():
    # Clopper and Pearson, 0 of 5: upper end 0.52; 0 of 100: 0.036.
    assert upper_end("fp", "False positives", clopper_pearson(0, 5), 0.2).passed is False
    assert upper_end("fp", "False positives", clopper_pearson(0, 100), 0.2).passed is True


def test_what_is_not_known_does_not_pass():
    check = lower_end("gold", "Right", wilson(0, 0), 0)
    assert (check.passed, check.said) == (False, "Nothing to count yet.")
    assert upper_end("fp", "False positives", clopper_pearson(0, 0), 1).passed is False
    assert share_at_least("e", "Evidence", 0, 0, 0.5, "labels").passed is False


def test_counts_and_shares():
    assert at_least("rows", "Labels", 100, 100, "100 labels").passed
    assert not share_at_least("e", "Evidence", 49, 100, 0.5, "labels").passed
    assert share_at_most("s", "Synthetic", 50, 100, 0.5, "labels").passed
    assert in_words(wilson(9, 10)) == "0.90 [0.60, 0.98], n 10, 95% Wilson"


def test_terms_are_completed_and_wrong_ones_named():
    said = complete({"min_rows": 5})
    assert said.keys() == TERMS.keys()
    assert (said["min_rows"], said["max_synthetic"]) == (5, 0.5)
    assert wrong_terms({"min_rows": 5, "max_synthetic": 0}) == {}
    wrong = wrong_terms({"min_rows": "many", "max_synthetic": 2, "min_luck": 1, "min_evidence": True})
    assert wrong.keys() == {"min_rows", "max_synthetic", "min_luck", "min_evidence"}


@pytest.mark.parametrize("name", list(TERMS))
def test_every_default_lies_within_its_bounds(name):
    _title, default, low, high = TERMS[name]
    assert low <= default <= high
