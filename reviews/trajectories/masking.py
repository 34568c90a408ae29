"""Hides words from raters while they read: each character of what a rule finds is shown as ▮.

A mask never changes a stored run, and never how long a text is, so places in it are the same for everybody. Line
breaks stay, so that texts fold alike. Expressions are run by RE2, in time linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from html import escape
from typing import Any, NamedTuple

import msgspec
import re2
from msgspec.structs import replace

from reviews.trajectories import jsontext
from reviews.trajectories.marks import mark_places
from reviews.trajectories.outline import Outline
from reviews.trajectories.render import Field, fields, locate, misplaced
from reviews.trajectories.schema import Attachment, Step

HIDDEN = "▮"
HIDDEN_WORDS = "hidden from raters"
MAX_WORD_LENGTH = 100

# Between the parts of a name people write a space, a dot, nothing: "claude-3-5", "Claude 3.5", "claude35".
_PARTS = re.compile(r"[^\W_]+")
_BETWEEN = r"[\s_.:/\-]*"
_DATED = re.compile(r"[-@:_](?:20\d{6}|20\d\d-\d\d-\d\d|\d{4}|latest|preview|instruct|chat|exp|it)$", re.IGNORECASE)
# Who makes a model is told as much by the name of the family as by its maker's.
_FAMILIES = {
    "claude": ("Anthropic",),
    "gpt": ("OpenAI", "ChatGPT"),
    "o1": ("OpenAI", "ChatGPT"),
    "o3": ("OpenAI", "ChatGPT"),
    "o4": ("OpenAI", "ChatGPT"),
    "gemini": ("Google", "DeepMind"),
    "gemma": ("Google", "DeepMind"),
    "llama": ("Meta AI",),
    "mistral": ("Mistral AI",),
    "mixtral": ("Mistral AI", "Mistral"),
    "qwen": ("Alibaba", "Tongyi"),
    "deepseek": (),
    "grok": ("xAI",),
    "kimi": ("Moonshot",),
    "glm": ("Zhipu", "ChatGLM"),
}


class MaskRules(msgspec.Struct, frozen=True):
    """What a project hides: words whatever their case, expressions, and the name of the model that made a run."""

    words: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    own_model: bool = False

    def __bool__(self) -> bool:
        return bool(self.words or self.patterns or self.own_model)


class Place(NamedTuple):
    """Where something is hidden, in code points."""

    start: int
    end: int


class Mask:
    """The rules of a project for one run.

    With `reveal`, for those who may read all, texts stand as they are, and what raters do not see is marked.
    """

    def __init__(self, rules: MaskRules, *, model: str = "", reveal: bool = False) -> None:
        words = [*rules.words, *(variants_of(model) if rules.own_model else ())]
        self.words = [_of_word(word) for word in words if _PARTS.search(word)]
        self.patterns = [_compiled(pattern) for pattern in rules.patterns]
        self.reveal = reveal

    def __bool__(self) -> bool:
        return bool(self.words or self.patterns)

    def places(self, text: str) -> list[Place]:
        """What is hidden in a text, in its order, places that touch as one."""
        if not self or not text:
            return []
        readable = jsontext.clean(text)  # RE2 takes no half surrogates; places stay the same
        found = [found.span() for pattern in self.patterns for found in pattern.finditer(readable)]
        for word in self.words:
            found += [span for span in (each.span() for each in word.finditer(readable)) if _stands_alone(text, *span)]
        joined: list[Place] = []
        for start, end in sorted(span for span in found if span[0] < span[1]):
            if joined and start <= joined[-1].end:
                joined[-1] = Place(joined[-1].start, max(end, joined[-1].end))
            else:
                joined.append(Place(start, end))
        return joined

    def text(self, text: str) -> str:
        """The text as raters read it, or, where all is revealed, as it stands."""
        return text if self.reveal else self.hidden(text)

    def hidden(self, text: str) -> str:
        pieces, done = [], 0
        for start, end in self.places(text):
            covered = "".join("\n" if character == "\n" else HIDDEN for character in text[start:end])
            pieces += [text[done:start], covered]
            done = end
        return "".join([*pieces, text[done:]]) if pieces else text

    def value(self, value: Any) -> Any:
        """The same for every text in a JSON value; names that become alike are told apart by a number."""
        if self.reveal or not self:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return dict(zip(_apart(self.text(name) for name in value), map(self.value, value.values()), strict=True))
        if isinstance(value, list | tuple):
            return [self.value(child) for child in value]
        return value

    def fields(self, step: Step) -> list[Field]:
        """The citable fields of a step as they are read. Paths hide what names of arguments give away."""
        whole = fields(step)
        if self.reveal or not self:
            return whole
        paths = _apart(self.text(field.path) for field in whole)
        return [
            Field(path, self.text(field.label), self.text(field.text)) for path, field in zip(paths, whole, strict=True)
        ]

    def cited(self, step: Step, path: str, start: int, end: int, quote: str) -> tuple[str, str, str | None]:
        """Path and quote as the step has them, and the reason where the quote does not stand at its place.

        What is hidden is not compared: a quote taken before the rules stands, and nobody learns by guessing.
        """
        path = self.path_of(step, path)
        text = next((field.text for field in fields(step) if field.path == path), None)
        if text is None or not 0 <= start < end <= len(text) or len(quote) != end - start:
            return (
                path,
                quote,
                locate(step, path, start, end, quote)
                if text is None
                else misplaced(self.hidden(text), start, end, quote),
            )
        hidden = self.hidden(text)
        reason = None if agrees(quote, hidden[start:end]) else misplaced(hidden, start, end, quote)
        return path, text[start:end], reason

    def path_of(self, step: Step, path: str) -> str:
        """The path that a field has in the step itself, from the one that a rater saw; of no field, what was given."""
        whole = fields(step)
        if any(field.path == path for field in whole):
            return path
        return next(
            (field.path for field, seen in zip(whole, self.fields(step), strict=True) if seen.path == path), path
        )

    def attachments(self, attachments: Sequence[Attachment]) -> tuple[Attachment, ...]:
        return tuple(
            replace(each, kind=self.text(each.kind), note=self.text(each.note), raw=self.text(each.raw))
            for each in attachments
        )

    def outline(self, outline: Outline) -> Outline:
        return replace(outline, names=tuple(map(self.text, outline.names))) if self else outline

    def marked(self, html: str, text: str, start: int = 0) -> str:
        """The HTML of a text with what raters do not see in marks, where all is revealed."""
        places = self.places(text) if self.reveal else []
        return mark_places(html, places, f'<mark class="masked" title="{escape(HIDDEN_WORDS)}">') if places else html


NOTHING = Mask(MaskRules())


def variants_of(model: str) -> list[str]:
    """How a text may name a model: in full, without its provider or date, by its family, or by its maker."""
    whole = model.strip()
    if not whole:
        return []
    names, name = [whole], whole.rpartition("/")[2]
    names.append(name)
    while shorter := _DATED.sub("", name):
        if shorter == name:
            break
        names.append(name := shorter)
    parts = [part.casefold() for part in re.findall(r"[^\W\d_]+\d?|\d+", whole)]
    for family, makers in _FAMILIES.items():
        if any(part == family or part.rstrip("0123456789") == family for part in parts):
            names += [family, *makers]
    return list(dict.fromkeys(name for name in names if len(name) > 1))


def agrees(quote: str, seen: str) -> bool:
    """Whether a quotation is what a rater sees, whatever it says where something is hidden."""
    pairs = zip(quote, seen, strict=False)
    return len(quote) == len(seen) and all(there in (HIDDEN, said) for said, there in pairs)


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a find is no piece of a longer word or number: "o1" is one in "foo1" and in "o12", not in "o1mini"."""
    return not (start and _alike(text[start - 1 : start + 1])) and not _alike(text[end - 1 : end + 1])


def _alike(pair: str) -> bool:
    return len(pair) == 2 and (pair.isalpha() or pair.isdigit())


def _apart(names: Iterable[str]) -> list[str]:
    """The names in their order, those that come again with a number."""
    taken: list[str] = []
    for name in names:
        number, unlike = 2, name
        while unlike in taken:
            unlike, number = f"{name} {number}", number + 1
        taken.append(unlike)
    return taken


@lru_cache(maxsize=500)
def _of_word(word: str) -> Any:
    """A word, or several, however they are joined and whatever their case."""
    return _compiled("(?i)" + _BETWEEN.join(re2.escape(part) for part in _PARTS.findall(word)))


@lru_cache(maxsize=500)
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)
