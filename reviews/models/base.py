"""What several models share: a public random id, and the triggers that make a table append-only.

A foreign key says `db_index=False` where a constraint or index of its table begins with it: a second index would serve
no question and cost every insert.
"""

import uuid
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.db import models

from reviews.enums import CriterionKind, GateAnswer, Tie

State = TypeVar("State", bound=models.TextChoices)


class PublicModel(models.Model):
    """A row that pages and the API name by a random id, so that nothing can be read off its order."""

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)

    class Meta:
        abstract = True


# What of an answer can be compared with another's.
Said = tuple[Any, ...]


class AnyValue(models.Model):
    """What was answered to one criterion, of one candidate (by its position) where it is asked of each.

    Its kind says which column holds it: `value` has a gate's answer (1 pass, 0 fail, -1 unsure), a level, an option,
    1 or 0 for yes or no; `number` and `text` what they say; `choices` the options chosen, ascending. Of a preference,
    `ranks` has each candidate's rank by position (1 is best, equal ranks tie), `tie` why two are level, `choices` the
    reasons, and `value` the strength where two are compared: below zero the first is better, 0 neither, empty where a
    gate decided.
    """

    candidate = models.PositiveSmallIntegerField(null=True, blank=True)
    value = models.SmallIntegerField(null=True, blank=True)
    number = models.FloatField(null=True, blank=True)
    text = models.TextField(blank=True, default="", db_default="")
    choices = ArrayField(models.SmallIntegerField(), null=True, blank=True)
    ranks = ArrayField(models.PositiveSmallIntegerField(), null=True, blank=True)
    tie = models.CharField(max_length=12, choices=Tie, blank=True, default="", db_default="")

    class Meta:
        abstract = True

    @property
    def said(self) -> Said:
        return what_was_said(self)

    @property
    def words(self) -> str:
        """The value as a person reads it. Candidates are letters in the order of the item."""
        return in_words(self)


def what_was_said(row: Any) -> Said:
    """The part of an answer on which two raters can be the same: all of it but text, and a preference's reasons."""
    choices = None if row.criterion.kind == CriterionKind.PREFERENCE or row.choices is None else tuple(row.choices)
    return (row.value, row.number, choices, None if row.ranks is None else tuple(row.ranks), row.tie)


def in_words(row: Any) -> str:
    criterion = row.criterion
    if criterion.kind == CriterionKind.PREFERENCE:
        return _preference_in_words(row)
    if criterion.kind == CriterionKind.GATE:
        return str(GateAnswer(row.value).label)
    if criterion.kind == CriterionKind.BINARY:
        return "Yes" if row.value else "No"
    if criterion.kind == CriterionKind.MULTI_CHOICE:
        return ", ".join(criterion.level_name(option) for option in row.choices or ()) or "None"
    if criterion.kind == CriterionKind.NUMBER:
        return f"{row.number:g} {criterion.settings.get('unit', '')}".strip()
    if criterion.kind == CriterionKind.TEXT:
        return str(row.text)
    name = criterion.level_name(row.value)
    return name if criterion.kind == CriterionKind.CHOICE else f"{row.value} {name}"


def _preference_in_words(row: Any) -> str:
    """Like "A, by 2", "Equally good" or "B > A = C"."""
    if row.tie:
        return str(Tie(row.tie).label)
    letters: dict[int, list[str]] = {}
    for place, rank in enumerate(row.ranks or ()):
        letters.setdefault(rank, []).append(chr(ord("A") + place))
    if len(row.ranks or ()) == 2 and row.value:
        return f"{letters[1][0]}, by {abs(row.value)}"
    return " > ".join(" = ".join(letters[rank]) for rank in sorted(letters))


def append_only() -> list[pgtrigger.Trigger]:
    """Triggers by which Postgres refuses to change or delete a row, whoever asks."""
    return [pgtrigger.Protect(name="append_only", operation=pgtrigger.Update | pgtrigger.Delete)]


def never_deleted() -> pgtrigger.Trigger:
    """The trigger by which Postgres refuses to delete a row, whoever asks."""
    return pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete)


def states_follow(moves: Mapping[State, Iterable[State]], name: str = "state_follows_its_order") -> pgtrigger.Trigger:
    """The trigger by which Postgres refuses any move of `state` but these: each state with those that may follow."""
    transitions = sorted((before.value, after.value) for before, following in moves.items() for after in following)
    return pgtrigger.FSM(name=name, field="state", transitions=transitions)
