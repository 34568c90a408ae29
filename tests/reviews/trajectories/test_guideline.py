"""A guideline by lines: numbered as it is rendered, noted at their ends, safe whatever it says."""

import re

from hypothesis import given
from hypothesis import strategies as st

from reviews.trajectories.guideline import guideline_html, guideline_lines, with_notes

TEXT = """# Refunds

Judge what was done,
not the *tone*.

- First rule
- Second

  more of it
  - nested

> quoted

| a | b |
|---|---|
| 1 | 2 |

1. one"""


def mark(number):
    return f"[{number}]"


def test_paragraphs_and_list_items_are_lines_and_headings_tables_and_code_are_not():
    assert [(line.number, line.text) for line in guideline_lines(TEXT)] == [
        (1, "Judge what was done, not the *tone*."),
        (2, "First rule"),
        (3, "Second"),
        (4, "more of it"),
        (5, "nested"),
        (6, "quoted"),
        (7, "one"),
    ]


def test_a_line_is_read_without_its_marks():
    (line,) = guideline_lines("- *Consent.* Find the `yes` before [each](https://a.example) change\n  of **money**.")
    assert line.words == "Consent. Find the yes before each change of money."


def test_what_stands_at_a_line_stands_at_its_end():
    html = guideline_html(TEXT, mark)
    assert "not the <em>tone</em>.[1]</p>" in html
    assert "<li>nested[5]</li>" in html
    assert re.findall(r"\[(\d)\]", html) == list("1234567")


def test_a_note_in_the_text_belongs_to_its_line():
    text = with_notes(TEXT, [(5, "N5"), (1, "N1"), (6, "N6"), (1, "N1b")], ["Policy, line 2: a yes in writing counts."])
    lines = {line.number: line.text for line in guideline_lines(text)}
    assert lines[1] == "Judge what was done, not the *tone*. Note: N1 Note: N1b"
    assert lines[5] == "nested Note: N5"
    assert lines[6] == "quoted Note: N6"
    assert lines[8] == "Policy, line 2: a yes in writing counts."


def test_a_guideline_cannot_forge_a_mark_or_bring_script():
    html = guideline_html("one \ue0007\ue001 <script>alert(1)</script>", mark)
    assert html == "<p>one 7 &lt;script&gt;alert(1)&lt;/script&gt;[1]</p>\n"


def test_one_that_is_too_long_for_markdown_is_shown_as_it_is():
    text = "- rule\n" * 3000
    assert guideline_lines(text) == ()
    assert guideline_html(text, mark).startswith("<pre>\n- rule")


@given(st.text(st.characters(codec="utf-8", exclude_characters="[]"), max_size=200))
def test_every_line_gets_its_mark_once_whatever_the_text(text):
    numbers = [line.number for line in guideline_lines(text)]
    assert [int(number) for number in re.findall(r"\[(\d+)\]", guideline_html(text, mark))] == numbers
