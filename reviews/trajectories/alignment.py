"""Two runs side by side: which step of one answers which step of the other, where they part, and what differs.

Steps are told apart by their fingerprints: what a reader sees of them decides whether they are the same; role, tool and
words decide how alike they are. The pairs are those with the greatest likeness in all, found by dynamic programming
inside a band around the steps that only the two runs have in common, so the cost grows with the length of the runs
and not with its square. Whichever run is named first, the pairs are the same.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from enum import StrEnum
from hashlib import blake2b
from itertools import pairwise
from zlib import crc32

import msgspec

from reviews.trajectories.render import Field, fields
from reviews.trajectories.schema import Step

BAND = 40  # how far from its expected place a step may find its like in the other run
SAME = 2.0  # two steps that are the same are worth more than any two that are alike
SAME_TOOL = 0.3  # two calls of one tool are alike, whatever they are given
LEAST_LIKENESS = 0.1  # messages that share fewer of their words have nothing to do with each other
WORDS_OF_A_FIELD = 60
WORD_BITS = 4_096
CHARACTERS_OF_A_FIELD = 2_000

MOST_CHARACTERS_BY_WORD = 20_000  # longer texts are compared line by line
MOST_TOKENS = 5_000  # and where even these are too many, what lies between the first and the last change is marked

_UNSPACED = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef"  # scripts without spaces: each character counts as a word
_MARKS = "\u2010-\u2027\u2030-\u205e"  # dashes, quotation marks and the like
_WORD = rf"(?:[^\W{_UNSPACED}]|[^\x00-\xbf\s{_UNSPACED}{_MARKS}])+"  # with accents, vowel signs and joined emoji
_words = re.compile(rf"{_WORD}|[{_UNSPACED}]")
_tokens = re.compile(rf"{_WORD}|\S")
_lines = re.compile(r"\S[^\n]*")


class Relation(StrEnum):
    """How the two sides of a row stand to each other."""

    SAME = "same"
    DIFFERS = "differs"
    ONLY_LEFT = "only_left"
    ONLY_RIGHT = "only_right"


class Row(msgspec.Struct, frozen=True):
    """A step beside the one that answers it, by their numbers from 1; None where there is none."""

    left: int | None
    right: int | None
    relation: Relation


class Alignment(msgspec.Struct, frozen=True):
    """Both runs in rows. `diverges` is the place in `rows`, from 0, of the first that is not the same in both."""

    rows: tuple[Row, ...]
    diverges: int | None


class Span(msgspec.Struct, frozen=True):
    """Characters of a field's reading text that changed, in code points."""

    start: int
    end: int


class Change(msgspec.Struct, frozen=True):
    """What differs in one part of two steps.

    `path` is that of a field, or error, attachments or note, which have no text to point into. Where a side lacks the
    field, or only the other side has more words, that side has no spans.
    """

    path: str
    label: str
    left: tuple[Span, ...] = ()
    right: tuple[Span, ...] = ()


class Fingerprint(msgspec.Struct, frozen=True):
    """As much of a step as aligning needs: `key` is equal where a reader sees no difference.

    `words` has a bit for each word, so that what two steps have in common is counted in one operation.
    """

    key: bytes
    kind: tuple[str, ...]
    words: int


# --- Steps ------------------------------------------------------------------------------------------------------------
def align(left: Iterable[Step], right: Iterable[Step]) -> Alignment:
    """The two runs in rows. Steps are taken one by one, so neither run need be in memory as a whole."""
    one, other = [fingerprint(step) for step in left], [fingerprint(step) for step in right]
    return _in_rows(_pairs(one, other), one, other)


def fingerprint(step: Step) -> Fingerprint:
    parts = fields(step)
    name = step.call.name if step.call else ""
    kind = (step.role, name, "call" if step.call else "")
    seen = (kind, [(part.path, part.text) for part in parts], [value for _path, _label, value in _besides(step)])
    words = 0
    for part in parts:
        for word in _first_words(part.text):
            words |= 1 << crc32(f"{part.path} {word}".encode()) % WORD_BITS
    return Fingerprint(
        key=blake2b(msgspec.json.encode(seen), digest_size=16).digest(),
        kind=kind,
        words=words,
    )


def _besides(step: Step) -> list[tuple[str, str, object]]:
    """What a reader sees of a step beside its fields: path, label, value."""
    attachments = [(attachment.kind, attachment.note, attachment.raw) for attachment in step.attachments]
    return [
        ("error", "error", step.result is not None and step.result.error),
        ("attachments", "attachments", attachments),
        ("note", "note", step.note),
    ]


def _first_words(text: str) -> list[str]:
    """Words, and words with their neighbours: these say more than that both texts have "the" in them."""
    words = [word.casefold() for word in _words.findall(text[:CHARACTERS_OF_A_FIELD])[:WORDS_OF_A_FIELD]]
    return words + [f"{word} {neighbour}" for word, neighbour in pairwise(words)]


def _likeness(one: Fingerprint, other: Fingerprint) -> float:
    """How well two steps stand beside each other; 0 where they should not."""
    if one.key == other.key:
        return SAME
    if one.kind != other.kind:
        return 0.0
    share = (one.words & other.words).bit_count() / max(1, (one.words | other.words).bit_count())
    if one.kind[1]:
        return SAME_TOOL + (1 - SAME_TOOL) * share
    return share if share >= LEAST_LIKENESS else 0.0


def _pairs(left: list[Fingerprint], right: list[Fingerprint]) -> list[tuple[int, int]]:
    """The places, from 0, of the steps that stand beside each other, in order."""
    # Ties are broken by the order of the two runs, so that order must not depend on which is named first.
    if _order(right) < _order(left):
        return [(place, answer) for answer, place in _pairs(right, left)]
    before = _common_start(left, right)
    after = _common_start(left[before:][::-1], right[before:][::-1])
    middle = _best_pairs(left[before : len(left) - after], right[before : len(right) - after])
    return [
        *((place, place) for place in range(before)),
        *((before + place, before + answer) for place, answer in middle),
        *((len(left) - place, len(right) - place) for place in range(after, 0, -1)),
    ]


def _order(run: list[Fingerprint]) -> tuple[int, list[bytes]]:
    return len(run), [step.key for step in run]


def _common_start(left: Sequence[Fingerprint], right: Sequence[Fingerprint]) -> int:
    shorter = min(len(left), len(right))
    return next((place for place in range(shorter) if left[place].key != right[place].key), shorter)


STEP_LEFT, STEP_RIGHT, STEP_BOTH = 1, 2, 3


def _best_pairs(left: list[Fingerprint], right: list[Fingerprint]) -> list[tuple[int, int]]:
    """The pairs, in order and without crossing, whose likeness is the greatest in all."""
    bounds = _band(left, right)
    ways: list[bytearray] = []  # how each cell of the band was best reached
    above: list[float] = []
    above_first = 0
    for place, (first, last) in enumerate(bounds):
        sums: list[float] = []
        way = bytearray()
        for answer in range(first, last + 1):
            best, step = (sums[-1], STEP_RIGHT) if sums else (0.0, 0)
            column = answer - above_first
            if place and column < len(above) and (not step or above[column] >= best):
                best, step = above[column], STEP_LEFT
            if place and 0 < column <= len(above):
                alike = _likeness(left[place - 1], right[answer - 1])
                if alike and above[column - 1] + alike >= best:
                    best, step = above[column - 1] + alike, STEP_BOTH
            sums.append(best)
            way.append(step)
        ways.append(way)
        above, above_first = sums, first
    return _walk_back(ways, bounds, len(left), len(right))


def _walk_back(ways: list[bytearray], bounds: list[tuple[int, int]], place: int, answer: int) -> list[tuple[int, int]]:
    pairs = []
    while step := ways[place][answer - bounds[place][0]]:
        if step == STEP_BOTH:
            pairs.append((place - 1, answer - 1))
        place -= step in (STEP_LEFT, STEP_BOTH)
        answer -= step in (STEP_RIGHT, STEP_BOTH)
    return pairs[::-1]


def _band(left: list[Fingerprint], right: list[Fingerprint]) -> list[tuple[int, int]]:
    """For each number of steps taken of the left run, how many of the right may have been taken (first, last)."""
    stops = [(0, 0), *_anchors(left, right), (len(left), len(right))]
    centres: list[int] = []
    for (place, answer), (next_place, next_answer) in pairwise(stops):
        length = next_place - place
        centres += [answer + (next_answer - answer) * taken // length for taken in range(length)]
    centres += [len(right)] * 2
    return [
        (max(0, centre - BAND) if place else 0, min(len(right), following + BAND))
        for place, (centre, following) in enumerate(pairwise(centres))
    ]


def _anchors(left: list[Fingerprint], right: list[Fingerprint]) -> list[tuple[int, int]]:
    """Steps that both runs have once: the longest series of them that is in order in both."""
    often = Counter(step.key for step in left), Counter(step.key for step in right)
    answers = {step.key: answer for answer, step in enumerate(right) if often[1][step.key] == 1}
    lowest: list[int] = []  # the lowest answer with which a series of each length can end
    ends: list[tuple[int, int]] = []
    earlier: dict[tuple[int, int], tuple[int, int] | None] = {}
    for place, step in enumerate(left):
        answer = answers.get(step.key)
        if answer is None or often[0][step.key] > 1:
            continue
        length = bisect_left(lowest, answer)
        earlier[place, answer] = ends[length - 1] if length else None
        lowest[length : length + 1] = [answer]
        ends[length : length + 1] = [(place, answer)]
    series = []
    stop = ends[-1] if ends else None
    while stop:
        series.append(stop)
        stop = earlier[stop]
    return series[::-1]


def _in_rows(pairs: list[tuple[int, int]], left: list[Fingerprint], right: list[Fingerprint]) -> Alignment:
    """Every step of both in its row; between two pairs, steps of the left run come first."""
    rows: list[Row] = []
    taken, answered = 0, 0
    for place, answer in [*pairs, (len(left), len(right))]:
        rows += [Row(number + 1, None, Relation.ONLY_LEFT) for number in range(taken, place)]
        rows += [Row(None, number + 1, Relation.ONLY_RIGHT) for number in range(answered, answer)]
        taken, answered = place + 1, answer + 1
        if place < len(left):
            same = left[place].key == right[answer].key
            rows.append(Row(place + 1, answer + 1, Relation.SAME if same else Relation.DIFFERS))
    diverges = next((place for place, row in enumerate(rows) if row.relation != Relation.SAME), None)
    return Alignment(tuple(rows), diverges)


def shared_start(runs: Sequence[Sequence[Fingerprint]]) -> int:
    """How many first steps all these runs have in common."""
    return min((_common_start(runs[0], run) for run in runs[1:]), default=len(runs[0]) if runs else 0)


# --- What differs in a step -------------------------------------------------------------------------------------------
def changes(left: Step, right: Step) -> list[Change]:
    """What differs between two steps, in the order in which they are read."""
    ours, theirs = ({part.path: part for part in fields(step)} for step in (left, right))
    found = []
    for path, part in (ours | theirs).items():
        one, other = _text(ours.get(path)), _text(theirs.get(path))
        if one != other or (path in ours) != (path in theirs):
            found.append(Change(path, part.label, *changed_spans(one, other)))
    for (path, label, value), (_path, _label, answer) in zip(_besides(left), _besides(right), strict=True):
        if value != answer:
            found.append(Change(path, label))
    return found


def _text(part: Field | None) -> str:
    return part.text if part else ""


def changed_spans(left: str, right: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Whole words that changed. What no span covers is the same text on both sides."""
    if right < left:
        swapped = changed_spans(right, left)
        return swapped[1], swapped[0]
    ours: list[Span] = []
    theirs: list[Span] = []
    kept = _kept_tokens(left, right)
    bounds = [((0, 0), (0, 0)), *kept, ((len(left), len(left)), (len(right), len(right)))]
    for ((_, end), (_, other_end)), ((start, _), (other_start, _)) in pairwise(bounds):
        one, other = left[end:start], right[other_end:other_start]
        if one == other:
            continue
        before = _common_space(one, other)
        after = _common_space(one[before:][::-1], other[before:][::-1])
        ours.append(Span(end + before, start - after))
        theirs.append(Span(other_end + before, other_start - after))
    return _filled(ours), _filled(theirs)


def _filled(spans: list[Span]) -> tuple[Span, ...]:
    return tuple(span for span in spans if span.start < span.end)


def _common_space(one: str, other: str) -> int:
    length = 0
    for character, answer in zip(one, other, strict=False):
        if character != answer or not character.isspace():
            break
        length += 1
    return length


Place = tuple[int, int]


def _kept_tokens(left: str, right: str) -> list[tuple[Place, Place]]:
    """Where the words stand that both texts have, in order."""
    token = _tokens if max(len(left), len(right)) <= MOST_CHARACTERS_BY_WORD else _lines
    ours, theirs = ([(match.group(), match.span()) for match in token.finditer(text)] for text in (left, right))
    words, answers = [word for word, _ in ours], [word for word, _ in theirs]
    shorter = min(len(words), len(answers))
    start = next((place for place in range(shorter) if words[place] != answers[place]), shorter)
    stop = next(
        (place for place in range(shorter - start) if words[-1 - place] != answers[-1 - place]), shorter - start
    )
    middle = words[start : len(words) - stop], answers[start : len(answers) - stop]
    kept = [(place, place) for place in range(start)]
    if max(map(len, middle)) <= MOST_TOKENS:
        for block in SequenceMatcher(None, *middle).get_matching_blocks():
            kept += [(start + block.a + place, start + block.b + place) for place in range(block.size)]
    kept += [(len(words) - place, len(answers) - place) for place in range(stop, 0, -1)]
    return [(ours[place][1], theirs[answer][1]) for place, answer in kept]
