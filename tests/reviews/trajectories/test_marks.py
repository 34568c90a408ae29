"""Citations are marked in a text without changing a character of it."""

import re
from html import unescape

from hypothesis import given
from hypothesis import strategies as st

from reviews.trajectories.display import prose_html
from reviews.trajectories.marks import Span, mark_spans


def span(start, end, name="A1"):
    return Span(
        start, end, css=f"by-{name[0].lower()}", id=name.lower(), name=name, back=f"chip-{name.lower()}", words=name
    )


def text_of(html):
    """The characters a reader sees, without the names of citations."""
    return unescape(re.sub(r"<[^>]*>", "", re.sub(r"<sup.*?</sup>", "", html, flags=re.DOTALL)))


def test_a_span_stands_in_a_mark_with_its_name_behind_it():
    html = mark_spans("Yes, give it.", (span(0, 3),))
    assert html == (
        '<span class="cited-at" id="a1"></span><mark class="by-a">Yes</mark>'
        '<sup class="cited-by"><a href="#chip-a1" aria-label="A1">A1</a></sup>, give it.'
    )


def test_an_entity_is_one_character():
    html = mark_spans("a &amp; b", (span(2, 3),))
    assert '<mark class="by-a">&amp;</mark>' in html


def test_marks_end_before_a_tag_and_begin_again_behind_it():
    html = mark_spans("one <b>two</b> three", (span(2, 9),))
    assert '<mark class="by-a">e </mark><b><mark class="by-a">two</mark></b><mark class="by-a"> t</mark>' in html


def test_where_two_raters_cite_the_same_words_both_marks_stand():
    html = mark_spans("abcdef", (span(0, 4, "A1"), span(2, 6, "B1")))
    assert '<mark class="by-a"><mark class="by-b">cd</mark></mark>' in html


def test_no_span_leaves_the_text_as_it_is():
    assert mark_spans("<b>as it is</b>", ()) == "<b>as it is</b>"


def test_a_span_beyond_what_is_shown_does_no_harm():
    assert text_of(mark_spans("short", (span(3, 400),))) == "short"


def test_the_name_of_a_citation_stands_where_it_is_seen_and_not_in_hidden_marks():
    html = mark_spans("a <i>**</i><b>bold</b><i>**</i> z", (span(2, 10),))
    anchor, note = html.index('<span class="cited-at"'), html.index("<sup")
    assert html.index("<b>") < anchor < html.index("bold")
    assert note > html.rindex("</i>")
    assert text_of(html) == "a **bold** z"


@given(
    text=st.text(st.sampled_from('ab*`<&"#\n é🙂'), max_size=60),
    places=st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)), max_size=5),
)
def test_every_character_keeps_its_place(text, places):
    spans = tuple(span(start, start + size, f"A{number}") for number, (start, size) in enumerate(places, start=1))
    html = mark_spans(prose_html(text), spans)
    assert text_of(html) == text
    assert html.count("<mark") == html.count("</mark>")
