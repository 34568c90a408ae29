"""Texts are grouped by what they are about, and find the line of the guideline that they speak of."""

import pytest

from reviews.stats.texts import MOST_TEXTS, text_groups

REFUND = ["The refund was late but was paid.", "Is a late refund a failure?", "A refund paid late, by two days."]
CONSENT = ["Nobody asked for consent to close the account.", "Consent to the account closing came afterwards."]
LINES = ["Count a refund as done once it is paid.", "Ask for consent before an account is closed.", "Be polite."]


def test_what_is_about_one_thing_stands_together_and_finds_its_line():
    refund, consent = text_groups([*REFUND, *CONSENT], LINES)
    assert (refund.members, refund.line) == ((0, 1, 2), 0)
    assert (consent.members, consent.line) == ((3, 4), 1)
    assert "refund" in refund.terms
    assert "consent" in consent.terms


def test_half_of_a_denial_is_no_word():
    (group,) = text_groups(["The refund doesn't arrive.", "The refund doesn\u2019t arrive."])
    assert group.terms == ("arrive", "refund")


def test_the_same_texts_in_another_order_give_the_same_groups():
    texts = [*CONSENT, *REFUND]
    assert [{texts[place] for place in group.members} for group in text_groups(texts)] == [set(REFUND), set(CONSENT)]


def test_a_text_near_no_line_names_none():
    (group,) = text_groups(["The printer jammed."], LINES)
    assert (group.line, group.similarity) == (None, 0.0)


def test_no_texts_and_texts_without_words_are_no_error():
    assert text_groups([]) == []
    assert [group.members for group in text_groups(["12", "!"])] == [(0,), (1,)]


def test_more_than_can_be_compared_is_refused():
    with pytest.raises(ValueError, match="At most"):
        text_groups(["a word"] * (MOST_TEXTS + 1))
