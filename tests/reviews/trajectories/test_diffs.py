"""Changes are told apart line by line and keep every character in its place."""

import re
from html import unescape

from hypothesis import given
from hypothesis import strategies as st

from reviews.trajectories.diffs import diff_html, is_diff, pair_html


def text_of(html):
    return unescape(re.sub(r"<[^>]*>", "", html))


UNIFIED = (
    "- first of a list\n--- a/desk.py\n+++ b/desk.py\n@@ -1,3 +1,3 @@\n-refund(x)\n+ask(x)\n same\n--- x\n"
    "That was it:\n- no change\n"
)
PATCH = (
    "*** Begin Patch\n*** Update File: desk.py\n@@ def f\n-    a = 1\n+    a = 2\n"
    "*** Add File: new.py\n+hello\n*** End Patch"
)


def test_only_lines_inside_hunks_are_changes():
    assert diff_html(UNIFIED) == (
        '- first of a list\n<span class="file">--- a/desk.py\n</span><span class="file">+++ b/desk.py\n</span>'
        '<span class="hunk">@@ -1,3 +1,3 @@\n</span>'
        '<span class="change"><span class="del">-<b>refund</b>(x)\n</span>'
        '<span class="add">+<b>ask</b>(x)\n</span></span>'
        '<span class="same"> same\n</span><span class="change"><span class="del">--- x\n</span></span>'
        "That was it:\n- no change\n"
    )


def test_a_patch_is_read_like_a_diff():
    html = diff_html(PATCH)
    assert text_of(html) == PATCH
    assert html.count('class="file"') == 4
    assert '<span class="del">-    a = <b>1</b>\n</span><span class="add">+    a = <b>2</b>\n</span>' in html
    assert '<span class="add">+hello\n</span>' in html


def test_lines_that_go_stand_with_those_that_come_for_them():
    html = diff_html("@@ -1 +1 @@\n-a\n+b\n-c\n+d\n")
    assert html.count('<span class="change">') == 2


def test_a_diff_is_known_by_its_hunks_or_its_patch():
    assert is_diff(UNIFIED)
    assert is_diff(PATCH)
    assert not is_diff("- a list\n+ of two")


def test_an_old_text_and_a_new_one_have_the_same_chunks():
    old, new = pair_html("def f():\n    return 1\nend\n", "def f():\n    return 2\nend\nmore\n")
    assert old == (
        '<span class="chunk same">def f():\n</span><span class="chunk del">    return <b>1</b>\n</span>'
        '<span class="chunk same">end\n</span><span class="chunk none"></span>'
    )
    assert new == (
        '<span class="chunk same">def f():\n</span><span class="chunk add">    return <b>2</b>\n</span>'
        '<span class="chunk same">end\n</span><span class="chunk add">more\n</span>'
    )


def test_texts_too_long_to_be_read_beside_each_other_are_no_pair():
    assert pair_html("a\n" * 200, "b") is None
    assert pair_html("x" * 9_000, "b") is None


LINES = st.lists(
    st.sampled_from(["+a", "-b", " c", "", "@@ -1", "--- a", "+++ b", "*** Update File: x", "<i>&", "é👍"])
)


@given(LINES.map("\n".join), LINES.map("\n".join))
def test_every_character_is_kept(one, other):
    assert text_of(diff_html(one)) == one
    pair = pair_html(one, other)
    assert tuple(map(text_of, pair)) == (one, other)
    assert pair[0].count("<span") == pair[1].count("<span")
