"""Replaces what should not be read by the raters of a project: addresses, numbers, keys, and what it names itself.

Each find becomes a mark such as ⟦e-mail 1⟧; the same value in one run is always the same mark, so that a reader can
still follow who is who. JSON inside a text (arguments, results) is replaced value by value: what is JSON stays JSON,
and an address behind an escape is found. A project's own expressions are run by RE2, in time linear in the text,
whatever they are; what RE2 cannot promise that for, it refuses.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec
import phonenumbers
import re2
from msgspec.structs import replace

from reviews.trajectories import jsontext
from reviews.trajectories.schema import Attachment, Run, RunOutcome, Step

EMAIL, PHONE, CARD, KEY = "e-mail", "phone", "card", "key"
KINDS = (EMAIL, PHONE, CARD, KEY)
MAX_PATTERN_LENGTH = 500
MAX_NAME_LENGTH = 30
REGIONS = phonenumbers.SUPPORTED_REGIONS

_EMAIL = re.compile(r"[\w.+'-]{1,64}(?:@|%40)(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}")
_NUMBER = re.compile(r"(?<![\w])(?:\+|00)?\(?\d(?:[ ()./-]{0,2}\d){6,17}(?![\w])")
_DATE = re.compile(r"(?<!\d)\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?!\d)")
_DIGITS = re.compile(r"\d+")
_KEY = re.compile(
    r"(?<![\w-])(?:"
    r"sk-[\w-]{16,250}"
    r"|(?:AKIA|ASIA)[0-9A-Z]{16}"
    r"|gh[pousr]_[0-9A-Za-z]{20,255}"
    r"|github_pat_\w{20,255}"
    r"|glpat-[\w-]{20,100}"
    r"|xox[abprs]-[0-9A-Za-z-]{10,250}"
    r"|AIza[\w-]{35}"
    r"|eyJ[\w-]{10,4000}\.eyJ[\w-]{10,4000}\.[\w-]{10,4000}"
    r")(?![\w-])"
    r"|(?<=[Bb]earer )[\w.~+/=-]{16,4000}"
    r"|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?:[\s\w+/=\\]|-(?!----)){0,10000}-----END [A-Z ]{0,30}PRIVATE KEY-----"
)
# The literals of a JSON text: what stands between them is punctuation and white space.
_LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*')
_CARD_STARTS = re.compile(r"4|5[1-5]|2[2-7]|3[0689]|3[47]|6")
_CARD_LENGTHS = range(13, 20)


class Rules(msgspec.Struct, frozen=True):
    """What to replace: kinds from `KINDS`, and a project's own as (name, pattern). `region` is for phone numbers."""

    kinds: tuple[str, ...] = ()
    own: tuple[tuple[str, str], ...] = ()
    region: str = ""

    def __bool__(self) -> bool:
        return bool(self.kinds or self.own)


class Find(NamedTuple):
    """A place in a text, what it is, and the value that tells it from others of its kind."""

    start: int
    end: int
    kind: str
    value: str


def problem_with(pattern: str) -> str:
    """Why this cannot be a project's own expression, or ""."""
    if not 0 < len(pattern) <= MAX_PATTERN_LENGTH:
        return f"An expression has 1 to {MAX_PATTERN_LENGTH} characters."
    try:
        compiled = _compiled(pattern)
    except re2.error as error:
        said = error.args[0] if error.args else ""
        words = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
        return f"It cannot be run in linear time, or is no expression: {words}."
    return "It fits where there is nothing." if compiled.search("") else ""


def redact(run: Run, rules: Rules) -> tuple[Run, dict[str, int]]:
    """The run with marks in its steps, context, titles, policy, tools and outcome data; and how many of each kind."""
    marks = _Marks(rules)
    redacted = replace(
        run,
        title=marks.text(run.title),
        context=marks.value(run.context),
        policy_title=marks.text(run.policy_title),
        policy_text=marks.text(run.policy_text),
        steps=tuple(marks.step(step) for step in run.steps),
        tools=marks.value(run.tools),
        outcome=_outcome(run.outcome, marks),
        source_ref=marks.text(run.source_ref),
        criteria=None if run.criteria is None else marks.value(run.criteria),
    )
    return redacted, dict(marks.counts)


def redact_text(text: str, rules: Rules) -> str:
    """One text alone."""
    return _Marks(rules).text(text)


def _outcome(outcome: RunOutcome, marks: _Marks) -> RunOutcome:
    return replace(outcome, data=marks.value(outcome.data))


class _Marks:
    """The marks of one run: which value has which number, and how many were set."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.own = [(name, _compiled(pattern)) for name, pattern in rules.own]
        self.numbers: dict[tuple[str, str], int] = {}
        self.last: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()

    def step(self, step: Step) -> Step:
        call, result = step.call, step.result
        if call:
            call = replace(call, id=self.plain(call.id), name=self.plain(call.name))
            text = self.text(call.arguments_text)
            if text != call.arguments_text:
                parsed = None if call.arguments is None else jsontext.clean_value(jsontext.parse_text(text))
                call = replace(call, arguments_text=text, arguments=parsed)
        if result:
            result = replace(result, text=self.text(result.text))
        return replace(
            step,
            text=self.text(step.text),
            reasoning=self.text(step.reasoning),
            call=call,
            result=result,
            attachments=tuple(self.attachment(each) for each in step.attachments),
            note=self.plain(step.note),
        )

    def attachment(self, attachment: Attachment) -> Attachment:
        return replace(attachment, note=self.text(attachment.note), raw=self.text(attachment.raw))

    def value(self, value: Any) -> Any:
        """The same for every text, and every number long enough to be one of a person, inside a value."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(name): self.value(child) for name, child in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(child) for child in value]
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**6:
            marked = self.plain(str(value))
            return value if marked == str(value) else marked
        return value

    def text(self, text: str) -> str:
        if text.lstrip()[:1] in ("{", "[") and _is_json(text):
            return _LITERAL.sub(self._literal, text)
        return self.plain(text)

    def _literal(self, found: re.Match[str]) -> str:
        """A JSON string or number: as it stands, or as a string with marks."""
        literal = found.group()
        if not literal.startswith('"'):
            marked = self.plain(literal)
            return literal if marked == literal else jsontext.dump(marked)
        said = json.loads(literal)
        marked = self.text(said)
        return literal if marked == said else jsontext.dump(jsontext.clean(marked))

    def plain(self, text: str) -> str:
        pieces, done = [], 0
        for find in _apart(self._finds(text)):
            pieces += [text[done : find.start], self._mark(find)]
            done = find.end
        return "".join([*pieces, text[done:]]) if pieces else text

    def _mark(self, find: Find) -> str:
        if (find.kind, find.value) not in self.numbers:
            self.last[find.kind] += 1
            self.numbers[find.kind, find.value] = self.last[find.kind]
        self.counts[find.kind] += 1
        return f"⟦{find.kind} {self.numbers[find.kind, find.value]}⟧"

    def _finds(self, text: str) -> Iterator[Find]:
        """Every find, the surer kinds first."""
        readable = jsontext.clean(text) if self.own else text  # RE2 takes no half surrogates; places stay the same
        for name, pattern in self.own:
            for found in pattern.finditer(readable):
                if found.end() > found.start():
                    yield Find(found.start(), found.end(), name, text[found.start() : found.end()])
        kinds = self.rules.kinds
        if KEY in kinds:
            yield from (Find(found.start(), found.end(), KEY, found.group()) for found in _KEY.finditer(text))
        if EMAIL in kinds and ("@" in text or "%40" in text):
            for found in _EMAIL.finditer(text):
                yield Find(found.start(), found.end(), EMAIL, found.group().replace("%40", "@").casefold())
        if CARD in kinds:
            yield from _cards(text)
        if PHONE in kinds:
            yield from _phones(text, self.rules.region)


def _apart(finds: Iterable[Find]) -> list[Find]:
    """Finds that do not overlap, in the order of the text. Of those with one start the surer, given first, counts."""
    taken: list[Find] = []
    for find in sorted(finds, key=lambda find: find.start):
        if not taken or find.start >= taken[-1].end:
            taken.append(find)
        elif find.end > taken[-1].end:
            # What one find leaves over of another is no less private: the mark covers both.
            taken[-1] = taken[-1]._replace(end=find.end)
    return taken


def _cards(text: str) -> Iterator[Find]:
    """Card numbers: 13 to 19 digits, together or in groups, that a card may begin with and whose check digit is right.

    A longer string of digits is no card, whatever can be found inside it.
    """
    groups = [found.span() for found in _DIGITS.finditer(text)]
    place = 0
    while place < len(groups):
        end = _card_end(text, groups, place)
        if end is None:
            place += 1
            continue
        start, stop = groups[place][0], groups[end][1]
        yield Find(start, stop, CARD, "".join(_DIGITS.findall(text[start:stop])))
        place = end + 1


def _card_end(text: str, groups: list[tuple[int, int]], first: int) -> int | None:
    """The last group of the longest card number that begins with this group."""
    digits, best = "", None
    for place in range(first, len(groups)):
        start, stop = groups[place]
        if place > first and (start - groups[place - 1][1] != 1 or text[start - 1] not in " -"):
            break
        digits += text[start:stop]
        if len(digits) > _CARD_LENGTHS[-1]:
            break
        if len(digits) in _CARD_LENGTHS and _CARD_STARTS.match(digits) and _luhn(digits):
            best = place
    return best


def _luhn(digits: str) -> bool:
    total = 0
    for place, digit in enumerate(reversed(digits)):
        number = int(digit) * (1 + place % 2)
        total += number - 9 if number > 9 else number
    return total % 10 == 0


def _phones(text: str, region: str) -> Iterator[Find]:
    """Phone numbers that exist in their country's plan: with the country's prefix, or as the region writes them."""
    for found in _NUMBER.finditer(text):
        said = found.group()
        said = f"+{said[2:]}" if said.startswith("00") else said
        if _DATE.match(said) or not (region or said.startswith("+")):
            continue
        try:
            number = phonenumbers.parse(said, region or None)
        except phonenumbers.NumberParseException:
            continue
        if phonenumbers.is_valid_number(number):
            value = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
            yield Find(found.start(), found.end(), PHONE, value)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)
