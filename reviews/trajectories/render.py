"""How a step is read: the fields one can cite, where a quote stands, and safe HTML.

The *reading text* of a field is what a page shows and what evidence points into, with offsets in code points. It is
made from the step alone and never from how it is displayed. Stored evidence depends on it: a change here moves quotes.
A page must show it exactly, with white space kept; note that HTML drops a line break right after `<pre>`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import Any

import msgspec
import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from reviews.trajectories import jsontext
from reviews.trajectories.diffs import PAIRS
from reviews.trajectories.schema import RowError, Step

MAX_ARGUMENTS = 50  # more, or longer names than this, are read as one JSON text
MAX_NAME_LENGTH = 100
MAX_EDIT_NAME_LENGTH = 40
MAX_PRETTY_LENGTH = 1_000_000
WINDOW_LINES = 40
WINDOW_CHARACTERS = 4_000
MAX_MARKDOWN_LENGTH = 20_000
MAX_MARKDOWN_MARKS = 5_000  # of those that the parser looks for partners of


class Field(msgspec.Struct, frozen=True):
    """A citable part of a step: `path` names it in evidence, `label` for a reader, `text` is its reading text."""

    path: str
    label: str
    text: str


class Size(msgspec.Struct, frozen=True):
    """How long a text is."""

    lines: int
    characters: int

    def __str__(self) -> str:
        return f"{_counted(self.lines, 'line')}, {_counted(self.characters, 'character')}"


class Window(msgspec.Struct, frozen=True):
    """A text cut for the first look: `head` is shown, `rest` is folded. head + rest is the whole text."""

    head: str
    rest: str
    size: Size


class _Number(str):
    """A number as the source writes it, so that no digit of it changes."""

    __slots__ = ()


def fields(step: Step) -> list[Field]:
    """The citable fields of a step, in reading order."""
    found = [Field("text", "Text", step.text)] if step.text else []
    if step.reasoning:
        found.append(Field("reasoning", "Reasoning", step.reasoning))
    if step.call and step.call.arguments_text:
        found += _parts("arguments", "Arguments", step.call.arguments_text, flat_only=False)
    if step.result:
        found += _parts("result", "Result", step.result.text, flat_only=True)
    return [Field(*(_readable(part) for part in (field.path, field.label, field.text))) for field in found]


def locate(step: Step, field: str, start: int, end: int, quote: str) -> str | None:
    """None when the quote stands at its place, otherwise the reason why not."""
    text = next((found.text for found in fields(step) if found.path == field), None)
    if text is None:
        return f"The step has no field “{field[:MAX_NAME_LENGTH]}”."
    return misplaced(text, start, end, quote)


def misplaced(text: str, start: int, end: int, quote: str) -> str | None:
    """None when the quote stands at its place in a field's text, otherwise the reason why not."""
    if not 0 <= start < end:
        return "The quote is empty or its places are in the wrong order."
    if end > len(text):
        return f"The quote ends at {end}, behind the end of the field ({len(text)})."
    if text[start:end] != quote:
        return f"The field has “{_shortened(text[start:end])}” there, not “{_shortened(quote)}”."
    return None


def size_of(text: str) -> Size:
    """Lines and characters of a text."""
    return Size(lines=text.count("\n") + (not text.endswith("\n")) if text else 0, characters=len(text))


def window(text: str, lines: int = WINDOW_LINES, characters: int = WINDOW_CHARACTERS) -> Window:
    """The text cut after so many lines or characters, whichever comes first, if it is longer."""
    cut = 0
    for _ in range(lines):
        found = text.find("\n", cut)
        if found < 0:
            cut = len(text)
            break
        cut = found + 1
    cut = min(cut, characters)
    return Window(head=text[:cut], rest=text[cut:], size=size_of(text))


def pretty_json(value: Any) -> str:
    """A JSON value over several lines, as results and arguments are read."""
    return _readable(_pretty(value))


def markdown_html(text: str) -> str:
    """Markdown of a message as safe HTML: no raw HTML, no images from outside, links that give nothing away."""
    if len(text) > MAX_MARKDOWN_LENGTH or sum(map(text.count, "[*_`!~")) > MAX_MARKDOWN_MARKS:
        return f"<pre>\n{escape(text)}</pre>"
    return clean_html(markdown.render(text))


def clean_html(html: str) -> str:
    """What Markdown may become, and nothing else."""
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes={"a": {"href", "title"}, "ol": {"start"}},
        url_schemes={"http", "https", "mailto"},
        url_relative="deny",  # a run may not lead to pages of ours
        link_rel="noopener nofollow noreferrer",
    )


def _parts(path: str, label: str, text: str, *, flat_only: bool) -> list[Field]:
    """One field per member of a JSON object, or one field for the whole text."""
    value = _parse(text)
    if _splits(value, flat_only):
        found: list[Field] = []
        for name, child in value.items():
            edits = [] if flat_only else _edits(f"{path}/{name}", child)
            found += edits or [Field(f"{path}/{name}", name, _value_text(child))]
        return found
    if value == {} and path == "arguments":
        return []
    return [Field(path, label, _pretty(value) if isinstance(value, dict | list) else text)]


def _edits(path: str, value: Any) -> list[Field]:
    """The members of each of several replacements of one text by another, as tools that edit files take them; [] for
    any other value."""
    if not isinstance(value, list) or not 0 < len(value) <= MAX_ARGUMENTS or not all(map(_is_edit, value)):
        return []
    return [
        Field(f"{path}/{place}/{name}", f"{name} {place + 1}", _value_text(child))
        for place, edit in enumerate(value)
        for name, child in edit.items()
    ]


def _is_edit(value: Any) -> bool:
    if not isinstance(value, dict) or any(not 0 < len(name) <= MAX_EDIT_NAME_LENGTH for name in value):
        return False
    return any(isinstance(value.get(old), str) and isinstance(value.get(new), str) for old, new in PAIRS)


def _splits(value: Any, flat_only: bool) -> bool:
    if not isinstance(value, dict) or not 0 < len(value) <= MAX_ARGUMENTS:
        return False
    if any(not 0 < len(name) <= MAX_NAME_LENGTH for name in value):
        return False
    return not flat_only or not any(isinstance(child, dict | list) for child in value.values())


def _parse(text: str) -> Any:
    """JSON with its numbers as written; None where showing the text as it is says more (no JSON, a key twice)."""
    if len(text) > MAX_PRETTY_LENGTH or not text.lstrip().startswith(("{", "[")):
        return None
    try:
        value = json.loads(
            text, parse_int=_Number, parse_float=_Number, parse_constant=_Number, object_pairs_hook=_members
        )
        jsontext.check_depth(value)
    except (ValueError, RecursionError, RowError):
        return None
    return value


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key is given twice")
    return members


def _value_text(value: Any) -> str:
    if isinstance(value, str):
        return str(value)
    return _pretty(value)


def _pretty(value: Any, margin: str = "") -> str:
    inner = margin + "  "
    if isinstance(value, dict) and value:
        rows = [f"{inner}{jsontext.dump(name)}: {_pretty(child, inner)}" for name, child in value.items()]
        return "{\n" + ",\n".join(rows) + f"\n{margin}}}"
    if isinstance(value, list) and value:
        rows = [f"{inner}{_pretty(child, inner)}" for child in value]
        return "[\n" + ",\n".join(rows) + f"\n{margin}]"
    return str(value) if isinstance(value, _Number) else jsontext.dump(value)


def _readable(text: str) -> str:
    """The text as a browser gives it back: every line break a line feed, nothing that cannot be stored."""
    return jsontext.clean(text.replace("\r\n", "\n").replace("\r", "\n"))


def _shortened(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


_TAGS = {"p", "br", "hr", "strong", "em", "s", "code", "pre", "blockquote", "ul", "ol", "li", "a"} | {
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
}


class _Renderer(RendererHTML):
    """Markdown for a message inside a page: headings are bold lines (the page has its own outline), images are text."""

    def heading_open(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
        return "<p><strong>"

    def heading_close(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
        return "</strong></p>\n"

    def image(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
        source = str(tokens[index].attrs.get("src", ""))
        label = tokens[index].content
        return escape(f"[image: {label} {_shortened(source)}]" if label else f"[image: {_shortened(source)}]")


markdown = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable(["table", "strikethrough"])
