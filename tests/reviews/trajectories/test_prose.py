"""Markdown is shown as its writers mean it, and every character of it stays where evidence may point."""

import re
import sys
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviews.trajectories.highlight import highlighted
from reviews.trajectories.prose import fence_at, markdown


def text_of(html):
    return unescape(re.sub(r"<[^>]*>", "", html))


def test_plain_words_are_only_escaped():
    assert markdown("Is 2 < 3?\n\nYes & no, __init__.") == "Is 2 &lt; 3?\n\nYes &amp; no, __init__."


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("**bold**", "<i>**</i><b>bold</b><i>**</i>"),
        ("*it* and ~~no~~", "<i>*</i><em>it</em><i>*</i> and <i>~~</i><s>no</s><i>~~</i>"),
        (
            "***both***",
            "<i>**</i><b><i>*</i><em>both</em><i>*</i></b><i>**</i>",
        ),
        ("**a *b* c**", "<i>**</i><b>a <i>*</i><em>b</em><i>*</i> c</b><i>**</i>"),
        ("`x < y`", '<i>`</i><span class="code">x &lt; y</span><i>`</i>'),
        ("`` a`b ``", '<i>``</i><span class="code"> a`b </span><i>``</i>'),
        ("`**no**`", '<i>`</i><span class="code">**no**</span><i>`</i>'),
        ("中文**粗体**中文", "中文<i>**</i><b>粗体</b><i>**</i>中文"),
        ("## Plan\n", '<div class="head h2"><i>## </i>Plan\n</div>'),
        ("> said\n> so", '<div class="quote"><i>&gt; </i>said\n<i>&gt; </i>so</div>'),
        ("---\n", '<div class="rule"><i>---\n</i></div>'),
    ],
)
def test_marks_give_weight_and_are_hidden(text, html):
    assert markdown(text) == html


@pytest.mark.parametrize(
    "text",
    [
        "3*4*5 = 60",
        "2**3**4",
        "a * b * c",
        "__init__.py",
        "_private",
        "\\*no\\*",
        "**open",
        "a **** b",
        "a~b~c",
        "# ",
        "#!/bin/sh",
    ],
)
def test_what_only_looks_like_a_mark_is_shown_as_it_is(text):
    assert markdown(text) == text


def test_lists_are_set_in_by_their_depth_and_go_on_over_lines():
    html = markdown("1. One\n   more\n2. Two\n   - deep\n- flat\n")
    assert html == (
        '<div class="item numbered deep1"><span class="no">1. </span>One\n<i>   </i>more\n</div>'
        '<div class="item numbered deep1"><span class="no">2. </span>Two\n</div>'
        '<div class="item deep2"><i>   - </i>deep\n</div>'
        '<div class="item deep1"><i>- </i>flat\n</div>'
    )


def test_a_table_is_a_table_and_its_bars_are_hidden_in_the_cells():
    text = "| id | state |\n|----|:-----:|\n| 1 | `a|b` |\n"
    html = markdown(text)
    assert "<th><i>| </i>id<i> |</i></th>" in html
    assert '<td><i> </i><i>`</i><span class="code">a|b</span><i>`</i><i> |\n</i></td>' in html
    assert re.sub(r"<i>[^<]*</i>|<(?!/?t[dh])[^>]*>", "", html).count("<td>") == 2
    assert text_of(html) == text


def test_code_stands_in_a_block_with_its_language_and_colours():
    html = markdown('Do:\n```python\nreturn "x"  # so\n```\nDone')
    assert html == (
        'Do:\n<div class="block"><i>```</i><span class="lang">python\n</span><span class="keyword">return</span> '
        '<span class="string">"x"</span>  <span class="comment"># so</span>\n<i>```\n</i></div>Done'
    )


def test_a_diff_in_a_block_is_a_diff():
    assert '<span class="add">+<b>ask</b>()\n</span>' in markdown("```diff\n@@ -1 +1 @@\n-refund()\n+ask()\n```")


def test_a_text_that_begins_inside_a_block_of_code_goes_on_in_it():
    whole = "```python\nx = 1\ny = 2\n```\n**end**"
    place = whole.index("y = 2")
    assert fence_at(whole[:place]) == "```python"
    html = markdown(whole[place:], fence=fence_at(whole[:place]))
    assert html.startswith('<div class="block">y = <span class="number">2</span>')
    assert "<b>end</b>" in html
    assert fence_at(whole) == ""


def test_links_tell_their_address_and_pictures_are_not_fetched():
    html = markdown("[Click](javascript:x) ![p](https://evil.example/p.png)")
    assert html == (
        '<i>[</i><span class="link-to">Click</span><i>]</i><span class="address">(javascript:x)</span> '
        '<i>![</i><span class="picture-of">p</span><i>]</i><span class="address">(https://evil.example/p.png)</span>'
    )


@pytest.mark.parametrize(
    ("code", "language"),
    [
        ("<b>", "html"),
        ("select 1 -- x", "sql"),
        ("let x = `${y}`", "ts"),
        ("a: 1 # b", "yaml"),
        ("x", "nonsense"),
        ('"open', "c"),
    ],
)
def test_colour_changes_no_character(code, language):
    assert text_of(highlighted(code, language)) == code


PIECES = [
    *("*", "**", "***", "~~", "`", "``", "```\n", "```py\n", "# ", "- ", "1. ", "> ", "|", "|-|\n", "\n", "\n\n", "  "),
    *("\t", "[a](b)", "![", "](", "<b>", "&amp;", "é", "漢", "👩🏽‍🚀", "\u202e", "a", "x_y", "\\", "---\n", "@@ -1\n"),
    "+a\n",
]


@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join), st.sampled_from(["", "```", "~~~~py"]))
def test_every_character_stays_in_its_order_whatever_is_written(text, fence):
    html = markdown(text, fence=fence)
    assert text_of(html) == text
    for tag in ("i", "b", "em", "s", "div", "span", "table", "tr", "td", "th"):
        assert len(re.findall(rf"<{tag}[ >]", html)) == html.count(f"</{tag}>")
    assert not re.search(r"<i>[^<]*<(?!/i>)", html)


@pytest.mark.parametrize(
    "piece", ["[", "[a](", "*a **b ", "***a", "`a``b", "> ", "- ", "|a", "- a\n", "```\n", "![a", "~~a", "<!--", '"""']
)
def test_twice_the_text_costs_about_twice_the_work(piece):
    """Counted in calls of the interpreter, which do not depend on the machine."""
    few, many = (calls_of(piece * number) for number in (500, 1_000))
    assert many < 2.5 * few + 200


def calls_of(text):
    count = 0

    def counted(*_args):
        nonlocal count
        count += 1

    sys.setprofile(counted)
    try:
        markdown(text)
        markdown(f"```html\n{text}")
    finally:
        sys.setprofile(None)
    return count
