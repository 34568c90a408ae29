"""A message's Markdown as HTML in which every character of the source stands in its place.

Evidence points into the source by code points, so nothing is taken out and nothing is put in: what only marks is inside
`<i>`, which a page hides and the raw view shows. Links are text with their address, pictures are never fetched, raw
HTML is text. Every pass goes through the text once, so the cost grows with its length and no further.

Less is Markdown here than elsewhere, because what a reader cites must look like what stands there: no underscores
(`__init__`), no stars inside words (`3*4*5`), no indented code, no escapes taken away.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from html import escape

from reviews.trajectories.diffs import diff_html, is_diff
from reviews.trajectories.highlight import highlighted

DEEPEST_LIST = 5

FENCE = re.compile(r"[ \t]*(?P<ticks>`{3,}|~{3,})(?P<info>[^`\n]*)\n?")
HEADING = re.compile(r"[ ]{0,3}(?P<marks>#{1,6})[ \t]+(?=\S)")
RULE = re.compile(r"[ ]{0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*\n?$")
ITEM = re.compile(r"(?P<margin>[ \t]*)(?:(?P<bullet>[-*+])|(?P<number>\d{1,9}[.)]))(?P<space>[ \t]+)(?=\S)")
QUOTE = re.compile(r"[ ]{0,3}>[ \t]?")
MARGIN = re.compile(r"[ \t]+")
CELL_END = re.compile(r"\\.|`[^`\n]*`|\|")

# What may begin something inside a line.
MARK = re.compile(
    r"(?P<escape>\\[\\`*~\[\]])|(?P<ticks>`+)|(?P<stars>\*+|~+)"
    r"|(?P<picture>!?)\[(?P<words>[^\[\]\n]{0,1000})\]"
    r"\((?P<address>[^()\s]{1,2000})(?P<title>[ \t]+\"[^\"\n]{0,300}\")?\)"
)
TICKS = re.compile("`+")
# Whether there is anything to do at all.
MARKUP = re.compile(r"[*`~|\[]|^[ \t]*(?:#{1,6}[ \t]|>|[-+][ \t]|\d{1,9}[.)][ \t]|[-_]{3})", re.MULTILINE)
TAGS = {"*": "em", "**": "b", "~~": "s"}


def markdown(text: str, *, fence: str = "") -> str:
    """The text with its blocks and marks; `fence` is what opened a block of code that the text begins in."""
    if not fence and not MARKUP.search(text):
        return _safe(text)
    return "".join(_Blocks(_lines(text)).html(fence))


def fence_at(text: str) -> str:
    """What opened the block of code in which the text ends, or ""."""
    fence = ""
    for line in text.split("\n"):
        found = FENCE.fullmatch(line)
        if not found:
            continue
        if not fence:
            fence = found.group()
        elif _closes(line, fence):
            fence = ""
    return fence


def _lines(text: str) -> list[str]:
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return [line for line in lines if line]


def _safe(text: str) -> str:
    return escape(text, quote=False)


def _hidden(text: str) -> str:
    return f"<i>{_safe(text)}</i>" if text else ""


def _closes(line: str, fence: str) -> bool:
    """Whether a line ends the block of code that `fence` began."""
    ticks = fence.strip()
    begun = re.match(r"`{3,}|~{3,}", ticks)
    ends = line.strip()
    return bool(begun) and set(ends) == {ticks[0]} and len(ends) >= len(begun.group())  # type: ignore[union-attr]


class _Blocks:
    """Goes through the lines and tells headings, lists, quotes, tables, code and plain text apart."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.at = 0
        self.margins: list[int] = []  # of the list items around this line

    def html(self, fence: str) -> Iterator[str]:
        if fence:
            yield self._code(fence, "")
        while self.at < len(self.lines):
            yield self._block()

    def _block(self) -> str:
        line = self.lines[self.at]
        if not line.strip():
            self.at += 1
            return _safe(line)
        if found := FENCE.fullmatch(line):
            self.at += 1
            return self._code(line, self._opening(found))
        if found := HEADING.match(line):
            self._leave_lists()
            self.at += 1
            return (
                f'<div class="head h{len(found["marks"])}">{_hidden(found.group())}{inline(line[found.end() :])}</div>'
            )
        if RULE.match(line):
            self.at += 1
            return f'<div class="rule">{_hidden(line)}</div>'
        if ITEM.match(line):
            return self._item()
        if QUOTE.match(line):
            self._leave_lists()
            return self._gathered("quote", lambda other: bool(QUOTE.match(other)), QUOTE)
        if self._is_table():
            self._leave_lists()
            return self._table()
        return self._paragraph()

    def _leave_lists(self) -> None:
        self.margins.clear()

    # --- code ---
    def _opening(self, found: re.Match[str]) -> str:
        """The line that opens a block of code: its ticks hidden, its language told."""
        line, info = found.group(), found["info"]
        if not info.strip():
            return _hidden(line)
        start = found.start("info")
        return f'{_hidden(line[:start])}<span class="lang">{_safe(line[start:])}</span>'

    def _code(self, fence: str, opening: str) -> str:
        begin = self.at
        while self.at < len(self.lines) and not _closes(self.lines[self.at], fence):
            self.at += 1
        code = "".join(self.lines[begin : self.at])
        closing = self.lines[self.at] if self.at < len(self.lines) else ""
        self.at += bool(closing)
        words = fence.strip().lstrip("`~").split()
        language = words[0].lower() if words else ""
        body = diff_html(code) if is_diff(code) else highlighted(code, language)
        return f'<div class="block">{opening}{body}{_hidden(closing)}</div>'

    # --- lists ---
    def _item(self) -> str:
        line = self.lines[self.at]
        found = ITEM.match(line)
        assert found  # noqa: S101 - the caller has looked
        margin = len(found["margin"].expandtabs(4))
        while self.margins and margin < self.margins[-1]:
            self.margins.pop()
        if not self.margins or margin > self.margins[-1] + 1:
            self.margins.append(margin)
        number = found["number"]
        if number:
            mark = f'{_hidden(found["margin"])}<span class="no">{_safe(number + found["space"])}</span>'
        else:
            mark = _hidden(found.group())
        rest = [line[found.end() :], *self._rest_of_item()]
        css = "item numbered" if number else "item"
        return f'<div class="{css} deep{self._depth()}">{mark}{inline("".join(rest), MARGIN)}</div>'

    def _rest_of_item(self) -> Iterator[str]:
        """The lines that go on with an item: indented, and beginning nothing of their own."""
        self.at += 1
        while self.at < len(self.lines) and self._goes_on(self.lines[self.at]):
            yield self.lines[self.at]
            self.at += 1

    def _goes_on(self, line: str) -> bool:
        return bool(line[:1] in " \t" and line.strip()) and not self._begins(line)

    def _begins(self, line: str) -> bool:
        return any(begin.match(line) for begin in (HEADING, ITEM, QUOTE, RULE)) or bool(FENCE.fullmatch(line))

    def _depth(self) -> int:
        return min(len(self.margins), DEEPEST_LIST)

    # --- quotes, tables, plain text ---
    def _gathered(self, css: str, belongs: Callable[[str], bool], margin: re.Pattern[str]) -> str:
        begin = self.at
        while self.at < len(self.lines) and belongs(self.lines[self.at]):
            self.at += 1
        return f'<div class="{css}">{inline("".join(self.lines[begin : self.at]), margin)}</div>'

    def _paragraph(self) -> str:
        line = self.lines[self.at]
        if self.margins and line[:1] in " \t":
            return self._gathered(f"item more-of deep{self._depth()}", self._goes_on, MARGIN)
        self._leave_lists()
        begin = self.at
        self.at += 1
        while self.at < len(self.lines) and self.lines[self.at].strip() and not self._begins(self.lines[self.at]):
            if self._is_table():
                break
            self.at += 1
        return inline("".join(self.lines[begin : self.at]))

    def _is_table(self) -> bool:
        """Whether a row of names stands here, above a row of dashes."""
        if self.at + 1 >= len(self.lines) or "|" not in self.lines[self.at]:
            return False
        below = self.lines[self.at + 1].strip()
        return "-" in below and "|" in below and set(below) <= set("|:- \t")

    def _table(self) -> str:
        head, dashes = self.lines[self.at : self.at + 2]
        self.at += 2
        rows = []
        while self.at < len(self.lines) and "|" in self.lines[self.at]:
            rows.append(_row(self.lines[self.at], "td"))
            self.at += 1
        body = f"<tbody>{''.join(rows)}</tbody>" if rows else ""
        table = f"<table><thead>{_row(head, 'th', dashes)}</thead>{body}</table>"
        return f'<div class="table-wrap" role="group" aria-label="Table" tabindex="0">{table}</div>'


def _row(line: str, tag: str, dashes: str = "") -> str:
    """One row of a table: bars, the space around words and the row of dashes are hidden inside the cells."""
    ends = [found.start() for found in CELL_END.finditer(line) if found.group() == "|"]
    begin = len(line) - len(line.lstrip())
    before = line[:begin]
    if ends and ends[0] == begin:
        before, begin, ends = line[: begin + 1], begin + 1, ends[1:]
    bounds = [*ends, len(line)] if not ends or line[ends[-1] + 1 :].strip() else ends
    cells = []
    for place, end in enumerate(bounds):
        last = place == len(bounds) - 1
        words, behind = line[begin:end], line[end:] if last else line[end : end + 1]
        inner = words.strip()
        lead = words[: len(words) - len(words.lstrip())] if inner else words
        trail = words[len(lead) + len(inner) :]
        kind = tag if inner else "td"
        shown = f"{_hidden(before + lead)}{inline(inner)}{_hidden(trail + behind + (dashes if last else ''))}"
        cells.append(f"<{kind}>{shown}</{kind}>")
        before, begin = "", end + 1
    return f"<tr>{''.join(cells)}</tr>"


# --- Inside lines -----------------------------------------------------------------------------------------------------
def inline(text: str, margin: re.Pattern[str] | None = None) -> str:
    """Code, weight and links; `margin` is what each line begins with that only says where the line belongs."""
    return _Inline(text, margin).html()


class _Inline:
    """Reads marks from left to right; what opens waits on a stack until its like closes it."""

    def __init__(self, text: str, margin: re.Pattern[str] | None) -> None:
        self.text = text
        self.out: list[str] = []
        self.opened: list[tuple[str, int]] = []  # the mark and its place in `out`
        self.waiting: Counter[str] = Counter()
        self.margins = self._margins(margin) if margin else []
        self.next_margin = 0
        self.ticks: defaultdict[int, list[int]] = defaultdict(list)
        for found in TICKS.finditer(text):
            self.ticks[len(found.group())].append(found.start())

    def _margins(self, margin: re.Pattern[str]) -> list[tuple[int, int]]:
        """Where the margins of the lines begin and end; the first line's counts where it has one."""
        found, place = [], 0
        while place >= 0:
            if here := margin.match(self.text, place):
                found.append(here.span())
            place = self.text.find("\n", place) + 1 or -1
        return found

    def html(self) -> str:
        place = 0
        while found := MARK.search(self.text, place):
            self._say(place, found.start())
            place = self._mark(found)
        self._say(place, len(self.text))
        return "".join(self.out)

    def _mark(self, found: re.Match[str]) -> int:
        """What a mark becomes, and the place behind it."""
        if found["ticks"]:
            return self._code(found)
        if found["stars"]:
            self._stars(found)
        elif found["address"]:
            self._link(found)
        else:
            self._say(*found.span())
        return found.end()

    def _say(self, start: int, end: int) -> None:
        """Plain text, with the margins of lines inside it hidden."""
        while self.next_margin < len(self.margins) and self.margins[self.next_margin][0] < end:
            begin, stop = self.margins[self.next_margin]
            if begin < start or stop > end:  # cannot be told apart from what is around it
                self.next_margin += 1
                continue
            self.out.append(_safe(self.text[start:begin]) + _hidden(self.text[begin:stop]))
            start = stop
            self.next_margin += 1
        self.out.append(_safe(self.text[start:end]))

    def _code(self, found: re.Match[str]) -> int:
        ticks = found.group()
        places = self.ticks[len(ticks)]
        next_one = bisect_right(places, found.start())
        if next_one == len(places):
            self._say(*found.span())
            return found.end()
        end = places[next_one]
        self.out.append(
            f'{_hidden(ticks)}<span class="code">{_safe(self.text[found.end() : end])}</span>{_hidden(ticks)}'
        )
        return end + len(ticks)

    def _link(self, found: re.Match[str]) -> None:
        """Its words, and its address behind them, so that nobody has to follow it to know where it leads."""
        before = f"{found['picture']}["
        css = "picture-of" if found["picture"] else "link-to"
        address = _safe(f"({found['address']}{found['title'] or ''})")
        words = _safe(found["words"])
        self.out.append(
            f'{_hidden(before)}<span class="{css}">{words}</span>{_hidden("]")}<span class="address">{address}</span>'
        )

    def _stars(self, found: re.Match[str]) -> None:
        run = found.group()
        before, after = self.text[found.start() - 1 : found.start()], self.text[found.end() : found.end() + 1]
        known = len(run) <= 3 if run[0] == "*" else len(run) == 2
        if not known:
            self._say(*found.span())
            return
        if before.strip() and not _joins(after):
            run = self._close(run)
        if after.strip() and not _joins(before):
            self._open(run)
        elif run:
            self.out.append(_safe(run))

    def _open(self, run: str) -> None:
        for mark in ("**", "*") if run == "***" else (run,) if run else ():
            self.opened.append((mark, len(self.out)))
            self.waiting[mark] += 1
            self.out.append(mark)

    def _close(self, run: str) -> str:
        """Close what the run closes, innermost first; what is left of it."""
        while run and (mark := self._innermost(run)):
            while True:
                opened, place = self.opened.pop()
                self.waiting[opened] -= 1
                if opened == mark:
                    break
            tag = TAGS[mark]
            self.out[place] = f"{_hidden(mark)}<{tag}>"
            self.out.append(f"</{tag}>{_hidden(mark)}")
            run = run[len(mark) :]
        return run

    def _innermost(self, run: str) -> str:
        """The mark, opened last, that the run can close."""
        fitting = [
            mark for mark in ("**", "*", "~~") if mark[0] == run[0] and len(mark) <= len(run) and self.waiting[mark]
        ]
        if len(fitting) < 2:
            return fitting[0] if fitting else ""
        return next(mark for mark, _ in reversed(self.opened) if mark in fitting)


def _joins(character: str) -> bool:
    """Whether a star beside it stands inside a word or a sum."""
    return character.isascii() and character.isalnum()
