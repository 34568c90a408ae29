"""Finds what a text for everybody gives away of one run: its words, its names and numbers, its steps."""

import re
from collections.abc import Iterable, Iterator

# So many words in a row are a quotation; fewer are how people speak.
WORDS = 6
WORD = re.compile(r"[^\W_]+")
# An address, or a mark of letters and digits such as an order's; a number alone when it is long.
MARK = re.compile(r"\S+@\S+\.\S+|(?=[\w-]*\d)(?=[\w-]*[^\W\d_])[\w-]{4,}|\d{5,}")
STEP = re.compile(r"\bsteps?\s+\d+", re.IGNORECASE)


def quoted(text: str, run: Iterable[str], known: Iterable[str]) -> str:
    """The first words of the text that are of this run alone, or "". `known` may be repeated, such as the policy."""
    known = list(known)
    for step in STEP.findall(text):
        if not any(step in other for other in known):
            return str(step)
    phrases, marks = dict(_phrases(text)), _marks(text)
    for other in known:
        for phrase, _words in _phrases(other):
            phrases.pop(phrase, None)
        marks -= _marks(other)
    for part in run:
        if not phrases and not marks:
            break
        if found := marks & _marks(part):
            return min(found)
        for phrase, _words in _phrases(part):
            if phrase in phrases:
                return phrases[phrase]
    return ""


def _phrases(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every few words in a row, as they are compared and as they stand."""
    words = list(WORD.finditer(text))
    folded = [word[0].casefold() for word in words]
    for first in range(len(words) - WORDS + 1):
        last = first + WORDS - 1
        yield tuple(folded[first : last + 1]), text[words[first].start() : words[last].end()]


def _marks(text: str) -> set[str]:
    return {mark.rstrip(".,;:!?)").casefold() for mark in MARK.findall(text)}
