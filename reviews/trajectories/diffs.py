"""Changes as HTML: the text of a diff or a patch, and an old text beside the new one, each character in its place.

Lines that go and the lines that come in their place stand together in a `change`, so that a page can show them below
each other or side by side. Of two lines that answer each other, what differs in them is `<b>`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from html import escape
from itertools import groupby, pairwise

# Arguments that name a text and what takes its place.
PAIRS = (
    ("old_str", "new_str"),
    ("old_string", "new_string"),
    ("oldString", "newString"),
    ("old_text", "new_text"),
    ("oldText", "newText"),
    ("old_content", "new_content"),
    ("old_code", "new_code"),
    ("search", "replace"),
    ("find", "replace"),
    ("old", "new"),
)
HUNK = re.compile(r"^@@ -\d|^\*\*\* (?:Begin Patch|Update File:|Add File:|Delete File:)", re.MULTILINE)
MOST_LINES = 120  # of each text of a pair
LONGEST = 8_000
LEAST_IN_COMMON = 0.3  # of two lines, for the rest to be marked


def is_diff(text: str) -> bool:
    """Whether a text is, or holds, a unified diff or a patch."""
    return HUNK.search(text) is not None


def diff_html(text: str) -> str:
    """The text of a diff. Only lines inside its hunks are changes: a list with dashes before it is none."""
    lines = _lines(text)
    out: list[str] = []
    for css, group in groupby(zip(_kinds(lines), lines, strict=True), key=lambda pair: pair[0] in ("del", "add")):
        if css:
            out.append(_change(list(group)))
        else:
            out += [f'<span class="{kind}">{_safe(line)}</span>' if kind else _safe(line) for kind, line in group]
    return "".join(out)


def _kinds(lines: list[str]) -> Iterator[str]:
    """What each line of a diff is: file, hunk, del, add, or "" for what stays and what is around."""
    names = {
        place + beside
        for place, (one, other) in enumerate(pairwise(lines))
        if one.startswith("--- ") and other.startswith("+++ ")
        for beside in (0, 1)
    }
    inside = False
    for place, line in enumerate(lines):
        if place in names or line.startswith(("diff --git ", "*** ")):
            inside = line.startswith(("*** Update File", "*** Add File"))
            yield "file"
        elif line.startswith("@@"):
            inside = True
            yield "hunk"
        elif inside and line[:1] in "+-":
            yield "del" if line.startswith("-") else "add"
        else:
            inside = inside and (not line.strip() or line[:1] in " \\")
            yield "same" if inside and line.startswith(" ") else ""


def _change(rows: list[tuple[str, str]]) -> str:
    """Runs of lines that go, each with the lines that come for it."""
    out: list[str] = []
    gone: list[str] = []
    come: list[str] = []
    for kind, line in [*rows, ("del", "")]:
        if kind == "del" and (come or not line):
            out.append(_both(gone, come))
            gone, come = [], []
        (gone if kind == "del" else come).append(line)
    return "".join(out)


def _both(gone: Sequence[str], come: Sequence[str]) -> str:
    old, new = _marked(gone, come, margin=1)
    lines = [f'<span class="del">{line}</span>' for line in old] + [f'<span class="add">{line}</span>' for line in new]
    return f'<span class="change">{"".join(lines)}</span>' if lines else ""


def _marked(gone: Sequence[str], come: Sequence[str], margin: int = 0) -> tuple[list[str], list[str]]:
    """The lines as HTML; where they answer each other one by one, with what differs in them marked."""
    if len(gone) != len(come):
        return [_safe(line) for line in gone], [_safe(line) for line in come]
    pairs = [_line_pair(one, other, margin) for one, other in zip(gone, come, strict=True)]
    return [old for old, _ in pairs], [new for _, new in pairs]


def _line_pair(one: str, other: str, margin: int) -> tuple[str, str]:
    length = min(len(one), len(other))
    start = margin
    while start < length and one[start] == other[start]:
        start += 1
    end = 0
    while end < length - start and one[-1 - end] == other[-1 - end]:
        end += 1
    if start - margin + end < LEAST_IN_COMMON * max(len(one), len(other)):
        return _safe(one), _safe(other)
    return _bold(one, start, len(one) - end), _bold(other, start, len(other) - end)


def _bold(line: str, start: int, end: int) -> str:
    middle = f"<b>{_safe(line[start:end])}</b>" if start < end else ""
    return f"{_safe(line[:start])}{middle}{_safe(line[end:])}"


def _safe(text: str) -> str:
    return escape(text, quote=False)


# --- An old text and the new one --------------------------------------------------------------------------------------
def pair_html(old: str, new: str) -> tuple[str, str] | None:
    """Both texts in chunks: the first of one answers the first of the other. None where they are too long for it."""
    if max(len(old), len(new)) > LONGEST or max(old.count("\n"), new.count("\n")) >= MOST_LINES:
        return None
    one, other = _lines(old), _lines(new)
    left: list[str] = []
    right: list[str] = []
    for kind, from_one, to_one, from_other, to_other in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        gone, come = one[from_one:to_one], other[from_other:to_other]
        if kind == "equal":
            left.append(_chunk("same", map(_safe, gone)))
            right.append(_chunk("same", map(_safe, come)))
        else:
            marked = _marked(gone, come)
            left.append(_chunk("del" if gone else "none", marked[0]))
            right.append(_chunk("add" if come else "none", marked[1]))
    return "".join(left), "".join(right)


def _lines(text: str) -> list[str]:
    """The lines, each with its end."""
    *whole, last = text.split("\n")
    return [f"{line}\n" for line in whole] + ([last] if last else [])


def _chunk(css: str, lines: Iterator[str] | Sequence[str]) -> str:
    return f'<span class="chunk {css}">{"".join(lines)}</span>'
