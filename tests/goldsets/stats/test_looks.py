"""Marks of formatting are counted, and a model's family is read off its name."""

import pytest

from goldsets.stats.looks import family, formatting


def test_marks_of_formatting_are_counted_one_by_one():
    text = "# Done\n- paid **$5**\n2. told\n| a | b |\n```\nx = `1`\n```\nIt costs 3 * 4 = 12."
    # A heading, a list item, bold, a numbered item, a table row, two fences, a piece of code.
    assert formatting(text) == 8
    assert formatting("It is on its way. Call 555-0100, or write -- whichever.") == 0


@pytest.mark.parametrize(
    ("model", "word"),
    [("openai/gpt-4o-mini", "gpt"), ("Harrier-2", "harrier"), ("tern-large", "tern"), ("", ""), ("4711", "")],
)
def test_a_family_goes_by_the_first_word_of_its_models(model, word):
    assert family(model) == word
