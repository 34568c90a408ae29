"""Each format is made from the labels that its form says, and from no others."""

import pytest

from goldsets.enums import DatasetFormat
from goldsets.writers.catalogue import FORMATS
from goldsets.writers.examples import Reading
from tests.goldsets.writers.making import SAFE, WORDS, comparison, document, prefers, value

LABELS = {
    "single runs with gates": document([value()]),
    "labels of steps": document([], steps=[(2, 1, "unanimous"), (4, -1, "unanimous")]),
    "comparisons": comparison(prefers(1, 2), value(SAFE, 1, 1), value(SAFE, 1, 2)),
}


@pytest.mark.parametrize("form", DatasetFormat)
def test_a_format_is_filled_by_what_it_is_said_to_be_made_from(form):
    filled_by = {words for words, label in LABELS.items() if list(FORMATS[form].rows(label, Reading(WORDS)))}
    if form.made_from:
        assert filled_by == {form.made_from.removesuffix(" and corrections")}
    else:
        assert filled_by == set(LABELS)


def test_a_label_that_compares_nothing_is_in_the_reviewers_bundle_and_not_called_left_out():
    reading = Reading(WORDS)
    assert [row["record"] for row in FORMATS["reviewer"].rows(LABELS["single runs with gates"], reading)] == ["label"]
    assert not reading.left_out
