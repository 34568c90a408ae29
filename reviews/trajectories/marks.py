"""Marks citations in a step's reading text that has become HTML, without changing a character of the text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

# A tag, an entity, or one character of text.
TOKEN = re.compile(r"<[^>]*>|&[a-zA-Z0-9#]+;|.", re.DOTALL)
# The elements that a page hides, as `display` and `prose` write them.
HIDING = ("<i>", '<span class="esc">')


@dataclass(frozen=True)
class Span:
    """A citation of the characters from `start` to `end`: `id` is its anchor, `back` the anchor of who cites it."""

    start: int
    end: int
    css: str
    id: str
    name: str
    back: str
    words: str


def mark_spans(html: str, spans: tuple[Span, ...]) -> str:
    """The HTML with each span in <mark>s and its name behind it. Marks never cross a tag: they end and begin again."""
    return _Marking(spans).html(html) if spans else html


class _Marking:
    """Goes through the HTML once. Anchors and names stand where they are seen, not inside what a page hides."""

    def __init__(self, spans: tuple[Span, ...]) -> None:
        self.out: list[str] = []
        self.spans = sorted(spans, key=lambda span: (span.start, -span.end, span.id))
        self.to_begin = list(self.spans)
        self.to_end = list(self.spans)
        self.opened: list[Span] = []
        self.hidden = False
        self.place = 0

    def html(self, html: str) -> str:
        for match in TOKEN.finditer(html):
            token = match.group()
            if token.startswith("<") and len(token) > 1:
                self._tag(token)
            else:
                self._character(token)
        self._switch([])
        self.out.extend(_note(span) for span in self.to_end)
        return "".join(self.out)

    def _tag(self, tag: str) -> None:
        self._switch([])
        self.out.append(tag)
        if tag in HIDING:
            self.hidden = True
        elif self.hidden:  # what hides holds no other element, so this is its end
            self.hidden = False
            self._end()

    def _character(self, character: str) -> None:
        if not self.hidden:
            self._begin()
        self._switch([span for span in self.spans if span.start <= self.place < span.end])
        self.out.append(character)
        self.place += 1
        if not self.hidden:
            self._end()

    def _begin(self) -> None:
        """The anchors of what begins here, or began while nothing was seen."""
        while self.to_begin and self.to_begin[0].start <= self.place:
            self._switch([])
            self.out.append(f'<span class="cited-at" id="{escape(self.to_begin.pop(0).id)}"></span>')

    def _end(self) -> None:
        """The names of what ends here, or ended while nothing was seen."""
        ending = [span for span in self.to_end if span.end <= self.place]
        if ending:
            self._switch([])
            self.out.extend(_note(span) for span in ending)
            self.to_end = [span for span in self.to_end if span not in ending]

    def _switch(self, active: list[Span]) -> None:
        if active != self.opened:
            self.out.append("</mark>" * len(self.opened))
            self.out.extend(f'<mark class="{escape(span.css)}">' for span in active)
            self.opened = active


def _note(span: Span) -> str:
    link = f'<a href="#{escape(span.back)}" aria-label="{escape(span.words)}">{escape(span.name)}</a>'
    return f'<sup class="cited-by">{link}</sup>'


def mark_places(html: str, places: Sequence[tuple[int, int]], opening: str) -> str:
    """The HTML with these places of its text, in order and apart, inside marks that never cross a tag."""
    out: list[str] = []
    at, place, opened = 0, 0, False
    for match in TOKEN.finditer(html):
        token = match.group()
        is_tag = token.startswith("<") and len(token) > 1
        while at < len(places) and places[at][1] <= place:
            at += 1
        inside = not is_tag and at < len(places) and places[at][0] <= place
        if inside != opened:
            out.append(opening if inside else "</mark>")
            opened = inside
        out.append(token)
        place += not is_tag
    return "".join([*out, "</mark>"] if opened else out)
