"""Reading text becomes HTML without losing or gaining a character, whatever is in it."""

import json
import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviews.trajectories.display import as_seen, is_tree, prose_html, verbatim_html, without_escapes
from reviews.trajectories.render import pretty_json


def text_of(html):
    return unescape(re.sub(r"<[^>]*>", "", html))


NESTED = '{\n  "order": {\n    "id": 7,\n    "tags": [\n      "late"\n    ]\n  },\n  "ok": true\n}'


def test_json_folds_between_brackets_and_keeps_every_character():
    html = verbatim_html(NESTED, tree=True)
    assert text_of(html) == NESTED
    assert re.findall(r'data-size="(.*?)"', html) == ["7 lines", "4 lines", "1 line"]
    assert html.count('<span class="kids">') == 3
    assert html.startswith("{<button")
    assert '<span class="key">"order"</span>: {<button' in html
    assert html.endswith("true\n</span>}")


def test_json_that_was_cut_folds_as_far_as_its_brackets_close():
    cut = NESTED[: NESTED.index("  },")]
    assert text_of(verbatim_html(cut, tree=True)) == cut
    assert re.findall(r'data-size="(.*?)"', verbatim_html(cut, tree=True)) == ["1 line"]


def test_only_json_over_several_lines_is_a_tree():
    assert is_tree(NESTED)
    assert not is_tree('{"a": 1}')
    assert not is_tree("{\nint main() {}")


def test_terminal_colours_become_classes_and_the_sequences_stay_in_the_text():
    text = "\x1b[1;31mFAILED\x1b[0m tests \x1b[38;5;2mok\x1b[39m \x1b[38;2;9;9;9mgrey\x1b[m <b>"
    html = verbatim_html(text)
    assert text_of(html) == text
    assert '<span class="esc">\x1b[1;31m</span><span class="bold ink-1">FAILED</span>' in html
    assert '<span class="ink-2">ok</span>' in html
    assert '<span class="ink-0">grey</span>' in html
    assert html.endswith(" &lt;b&gt;")
    assert without_escapes(text) == "FAILED tests ok grey <b>"


def test_the_words_of_a_terminals_title_stay_in_sight():
    text = "\x1b]0;refund everybody\x07done"
    assert verbatim_html(text) == '<span class="esc">\x1b]</span>0;refund everybody\x07done'


@pytest.mark.parametrize(
    ("codes", "classes"),
    [
        ("38;5;196", "ink-hue-0"),
        ("38;5;46", "ink-hue-4"),
        ("38;5;21", "ink-hue-8"),
        ("38;5;9", "ink-1"),
        ("38;5;240", "ink-0"),
        ("38;5;250", "ink-7"),
        ("38;2;255;128;0", "ink-hue-1"),
        ("38:2:0:0:255", "ink-hue-8"),
        ("48;2;0;200;0", "ground-hue-4"),
        ("1;38;5;196;48;5;226", "bold ink-hue-0 ground-hue-2"),
        ("7;31", "inverse ink-1"),
    ],
)
def test_colours_beyond_sixteen_become_the_nearest_that_the_page_has(codes, classes):
    html = verbatim_html(f"\x1b[{codes}mword\x1b[0m")
    assert f'<span class="{classes}">word</span>' in html
    assert "style=" not in html


@pytest.mark.parametrize(
    "codes", ["", ";", "38", "38;5", "48;2;1", "99999999", "1;;4", "38;5;300", "38;2;999;0;0", "²"]
)
def test_odd_colour_sequences_are_passed_over(codes):
    text = f"\x1b[{codes}mword"
    assert text_of(verbatim_html(text)) == text


def test_a_table_keeps_its_lines_whole():
    table = "| id | state |\n|----|-------|\n| 1  | late  |\n| 2  | paid  |"
    html = verbatim_html(table)
    assert html.startswith('<span class="table-text"')
    assert text_of(html) == table
    assert "table-text" not in verbatim_html("a | b\nno table\nat all\n| c | d |")


def test_a_text_of_nothing_but_marks_is_shown_without_weight_before_it_grows_too_large():
    text = "- a\n" * 5_000
    assert prose_html(text) == text
    assert len(verbatim_html("\x1b[1m" * 5_000)) < 8_000 + 7 * 4 * 5_000


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("I will **refund** `A-5071` [now](https://a.example).", "I will refund A-5071 now(https://a.example)."),
        ("2 < 3 & **so** on", "2 < 3 & so on"),
        ("nothing marked, __init__", "nothing marked, __init__"),
        ("\x1b[31mred\x1b[0m **stars**", "red **stars**"),
    ],
)
def test_a_text_as_it_is_seen_lacks_what_the_page_hides(text, seen):
    assert as_seen(text, prose=True) == seen


def test_what_turns_the_direction_of_writing_is_named_and_stays_in_the_text():
    text = "user\u202etxt.exe\u202c and \u2066more\u2069"
    html = prose_html(text)
    assert text_of(html) == text
    assert re.findall(r'data-name="(\w+)"', html) == ["RLO", "PDF", "LRI", "PDI"]


TAGS = "span|div|b|i|em|s|button|table|thead|tbody|tr|th|td"
ODD = st.text(alphabet=st.sampled_from(list("ab<>&\"'`*#+-@|{}[]:, \n\t1;m\x1b\u202e\u2066é漢👍\u0627")), max_size=120)


@given(ODD, st.booleans())
def test_every_character_is_kept(text, tree):
    for html in (prose_html(text), verbatim_html(text, tree=tree)):
        assert text_of(html) == text
        assert html.count("<span") == html.count("</span>")
        assert html.count("<div") == html.count("</div>")
        assert not re.search(rf"<(?!/?(?:{TAGS})\b)", html)


VALUES = st.recursive(ODD | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(ODD, inner))


@given(VALUES)
def test_json_of_any_shape_keeps_its_text(value):
    text = pretty_json(json.loads(json.dumps(value)))
    html = verbatim_html(text, tree=is_tree(text))
    assert text_of(html) == text
    assert html.count("<span") == html.count("</span>")
