"""How a step is read: fields, quotes at their places, and HTML that can do no harm."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviews.trajectories.render import Field, Size, fields, locate, markdown_html, size_of, window
from reviews.trajectories.schema import Step, ToolCall, ToolResult

ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<iframe src='javascript:alert(1)'></iframe>",
    "<a href='javascript:alert(1)'>x</a>",
    "[x](javascript:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](vbscript:x)",
    "![x](https://evil.example/pixel.png)",
    "![x](javascript:alert(1))",
    "<style>body{display:none}</style>",
    "<form action=https://evil.example><input name=a></form>",
    "</div></main><h1>Submit</h1>",
    '[a](https://x.example "onmouseover=alert(1)")',
    "`<script>`\n\n```html\n<script>alert(1)</script>\n```",
    "<math><mtext></mtext><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "[x]: javascript:alert(1)\n\n[x]",
    "<javascript:alert(1)>",
    "[x]()",
    "[x](/accounts/logout/)",
    "[x](//evil.example)",
    "[x](#submit)",
    "\u202e<script>\u2066",
]
SAFE_TAGS = {*"p br hr strong em s code pre blockquote ul ol li a table thead tbody tr th td".split()}  # noqa: SIM905


def tool(arguments="", result=None):
    return Step(
        role="tool",
        call=ToolCall(id="c", name="f", arguments_text=arguments),
        result=None if result is None else ToolResult(text=result),
    )


def read(step):
    return [(field.path, field.text) for field in fields(step)]


def test_text_and_reasoning_are_fields():
    step = Step(role="agent", text="Hello", reasoning="Hm")
    assert fields(step) == [Field("text", "Text", "Hello"), Field("reasoning", "Reasoning", "Hm")]


def test_each_argument_is_a_field_and_numbers_keep_their_digits():
    step = tool('{"account_id": "A-5071", "amount": 64.20, "tags": ["é", 1e3], "note": "", "ok": true, "none": null}')
    assert read(step) == [
        ("arguments/account_id", "A-5071"),
        ("arguments/amount", "64.20"),
        ("arguments/tags", '[\n  "é",\n  1e3\n]'),
        ("arguments/note", ""),
        ("arguments/ok", "true"),
        ("arguments/none", "null"),
    ]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("", []),
        ("{}", []),
        ('{"x": ', [("arguments", '{"x": ')]),
        ("plain words", [("arguments", "plain words")]),
        ("[1,2]", [("arguments", "[\n  1,\n  2\n]")]),
        ('{"a": 1, "a": 2}', [("arguments", '{"a": 1, "a": 2}')]),
        ('{"": 1}', [("arguments", '{\n  "": 1\n}')]),
        ("[" * 5000, [("arguments", "[" * 5000)]),
    ],
)
def test_arguments_that_are_no_plain_object_are_one_text(arguments, expected):
    assert read(tool(arguments)) == expected


def test_the_texts_of_several_replacements_are_fields_of_their_own():
    arguments = (
        '{"path": "a.py", "edits": [{"search": "x", "replace": "y", "count": 1.50}, {"search": "z", "replace": ""}]}'
    )
    assert read(tool(arguments)) == [
        ("arguments/path", "a.py"),
        ("arguments/edits/0/search", "x"),
        ("arguments/edits/0/replace", "y"),
        ("arguments/edits/0/count", "1.50"),
        ("arguments/edits/1/search", "z"),
        ("arguments/edits/1/replace", ""),
    ]
    assert [field.label for field in fields(tool(arguments))][1:3] == ["search 1", "replace 1"]
    assert [path for path, _ in read(tool('{"edits": [{"search": "x", "replace": "y"}, 5]}'))] == ["arguments/edits"]


def test_a_flat_result_is_a_table_and_a_deep_one_is_indented():
    assert read(tool(result='{"status": "refunded", "n": 1.0}')) == [("result/status", "refunded"), ("result/n", "1.0")]
    assert read(tool(result='{"a": {"b": [1, {}]}}')) == [
        ("result", '{\n  "a": {\n    "b": [\n      1,\n      {}\n    ]\n  }\n}')
    ]
    assert read(tool(result="Error: no such order")) == [("result", "Error: no such order")]
    assert read(tool(result="")) == [("result", "")]


def test_an_object_with_very_many_members_is_one_text():
    many = "{" + ", ".join(f'"k{n}": {n}' for n in range(60)) + "}"
    assert [path for path, _ in read(tool(result=many))] == ["result"]


def test_reading_text_is_what_a_browser_gives_back():
    assert read(Step(role="user", text="a\r\nb\rc")) == [("text", "a\nb\nc")]
    assert read(tool('{"a\\u0000": "x\\u0000\\ud800"}')) == [("arguments/a␀", "x␀�")]


def test_a_quote_is_found_at_its_place_in_code_points():
    step = Step(role="user", text="😀 שלום é👨‍👩‍👧 end")
    text = fields(step)[0].text
    for quote in ("😀", "שלום", "👨‍👩‍👧", "end"):
        start = text.index(quote)
        assert locate(step, "text", start, start + len(quote), quote) is None
    assert locate(step, "text", 2, 6, "שלום") is None


@pytest.mark.parametrize(
    ("field", "start", "end", "quote", "reason"),
    [
        ("arguments/account", 0, 1, "A", "The step has no field “arguments/account”."),
        ("text", 0, 1, "A", "The step has no field “text”."),
        ("arguments/id", 0, 6, "A-5017", "The field has “A-5071” there, not “A-5017”."),
        ("arguments/id", 0, 7, "A-5071 ", "The quote ends at 7, behind the end of the field (6)."),
        ("arguments/id", 3, 3, "", "The quote is empty or its places are in the wrong order."),
        ("arguments/id", -6, -1, "A-507", "The quote is empty or its places are in the wrong order."),
        ("arguments/id", 4, 2, "", "The quote is empty or its places are in the wrong order."),
    ],
)
def test_a_quote_that_does_not_stand_there_is_refused_with_the_reason(field, start, end, quote, reason):
    assert locate(tool('{"id": "A-5071"}'), field, start, end, quote) == reason


@given(st.text(min_size=1), st.data())
def test_every_part_of_a_field_can_be_cited(text, data):
    step = Step(role="agent", text=text)
    reading = fields(step)[0].text
    start = data.draw(st.integers(0, len(reading) - 1))
    end = data.draw(st.integers(start + 1, len(reading)))
    assert locate(step, "text", start, end, reading[start:end]) is None


@pytest.mark.parametrize(
    ("text", "size", "words"),
    [
        ("", Size(0, 0), "0 lines, 0 characters"),
        ("a", Size(1, 1), "1 line, 1 character"),
        ("a\nb\n", Size(2, 4), "2 lines, 4 characters"),
        ("x" * 9120, Size(1, 9120), "1 line, 9,120 characters"),
    ],
)
def test_sizes_are_said_in_words(text, size, words):
    assert size_of(text) == size
    assert str(size) == words


def test_a_long_output_is_cut_after_forty_lines_or_four_thousand_characters():
    lines = "".join(f"line {n}\n" for n in range(1, 215))
    cut = window(lines)
    assert cut.head.endswith("line 40\n")
    assert cut.rest.startswith("line 41\n")
    assert cut.size == Size(214, len(lines))
    assert len(window("x" * 10_000).head) == 4_000
    assert window("short").rest == ""
    assert window("a\n" * 40).rest == ""


@given(st.text())
def test_head_and_rest_are_the_whole_text(text):
    cut = window(text, lines=2, characters=5)
    assert cut.head + cut.rest == text


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))


def check_harmless(html):
    parser = Tags()
    parser.feed(html)
    for tag, attributes in parser.seen:
        assert tag in SAFE_TAGS
        assert set(attributes) <= {"href", "title", "rel", "start"}
        assert re.match(r"(https?://|mailto:)", attributes.get("href", "https://"))
        if tag == "a" and "href" in attributes:
            assert attributes["rel"] == "noopener nofollow noreferrer"


@pytest.mark.parametrize("attack", ATTACKS)
def test_attacks_become_text(attack):
    check_harmless(markdown_html(attack))
    check_harmless(markdown_html(f"* {attack}\n\n> {attack}\n\n# {attack}"))


@given(st.lists(st.sampled_from([*ATTACKS, "*", "`", "\n", "[", "](", ")", "<", ">", "|", "#", " ", "a"])).map("".join))
def test_nothing_made_of_attacks_and_marks_does_harm(text):
    check_harmless(markdown_html(text))


def test_markdown_is_shown_as_people_mean_it():
    html = markdown_html(
        "# Your order\n\n1. **sent**\n2. [track](https://example.com)\n\n![map](https://x.example/m.png)"
    )
    assert html == (
        "<p><strong>Your order</strong></p>\n<ol>\n<li><strong>sent</strong></li>\n"
        '<li><a href="https://example.com" rel="noopener nofollow noreferrer">track</a></li>\n</ol>\n'
        "<p>[image: map https://x.example/m.png]</p>\n"
    )


def test_very_long_text_is_shown_as_it_is():
    html = markdown_html("<b>*x*" * 10_000)
    assert html.startswith("<pre>\n&lt;b&gt;*x*")
