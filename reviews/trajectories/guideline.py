"""A guideline's Markdown by lines: each paragraph and each list item is one that can be asked about and noted at.

The lines are those of the rendered text, so that a number means the same in the page, in the API and in a note.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from itertools import pairwise

from markdown_it.token import Token

from reviews.trajectories.render import MAX_MARKDOWN_LENGTH, clean_html, markdown

# Private characters that stand where a line ends while its HTML is cleaned; a text's own are taken out before.
OPEN, CLOSE = "\ue000", "\ue001"
MARK = re.compile(f"{OPEN}(\\d+){CLOSE}")


@dataclass(frozen=True)
class GuidelineLine:
    """`text` is the line's Markdown, `words` what one reads; `after` is how many source lines come before its end."""

    number: int
    text: str
    words: str
    after: int


@lru_cache(maxsize=64)
def guideline_lines(text: str) -> tuple[GuidelineLine, ...]:
    """The lines of a guideline, numbered from 1; none where it is too long to be shown as Markdown."""
    return tuple(line for line, _inline in _lines(_tokens(text)))


def guideline_html(text: str, at_end: Callable[[int], str]) -> str:
    """The guideline as safe HTML; `at_end` gives the HTML, safe by itself, that stands at the end of a line."""
    if len(text) > MAX_MARKDOWN_LENGTH:
        return f"<pre>\n{escape(text)}</pre>"
    tokens = _tokens(text)
    for line, inline in _lines(tokens):
        inline.children = [*(inline.children or []), Token("text", "", 0, content=f"{OPEN}{line.number}{CLOSE}")]
    html = clean_html(markdown.renderer.render(tokens, markdown.options, {}))
    return MARK.sub(lambda mark: at_end(int(mark[1])), html)


def with_notes(text: str, at_lines: Iterable[tuple[int, str]], elsewhere: Iterable[str] = ()) -> str:
    """The guideline's text with each note at the end of its line, and those from elsewhere under a heading below."""
    source = text.replace("\r\n", "\n").split("\n")
    ends = {line.number: line.after for line in guideline_lines(text)}
    placed = sorted(((ends.get(number, len(source)), note) for number, note in at_lines), key=lambda pair: pair[0])
    for after, note in reversed(placed):
        indent = re.match(r"\s*", source[after - 1])[0] if after else ""  # type: ignore[index]
        source.insert(after, f"{indent}Note: {note}")
    rest = list(elsewhere)
    if rest:
        source += ["", "# On the policy", "", *(f"- {note}" for note in rest)]
    return "\n".join(source)


def _tokens(text: str) -> list[Token]:
    if len(text) > MAX_MARKDOWN_LENGTH:
        return []
    return markdown.parse(text.replace(OPEN, "").replace(CLOSE, ""))


def _lines(tokens: list[Token]) -> list[tuple[GuidelineLine, Token]]:
    """Each line with the token that holds its words."""
    found: list[tuple[GuidelineLine, Token]] = []
    for opening, inline in pairwise(tokens):
        if opening.type == "paragraph_open" and opening.map:
            text = inline.content.replace("\n", " ")
            line = GuidelineLine(len(found) + 1, text, _words(inline), opening.map[1])
            found.append((line, inline))
    return found


def _words(inline: Token) -> str:
    """What is read of a line: its text without the marks of emphasis, code and links."""
    return "".join(child.content or " " * child.type.endswith("break") for child in inline.children or ())
