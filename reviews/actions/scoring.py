"""Takes scores that graders and users give to runs which are in already, and lets the rules on arrival see them."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from json import dumps
from typing import Any

from django.db import transaction

from reviews.actions.events import record
from reviews.actions.routing import route_scored
from reviews.enums import Verb
from reviews.errors import Invalid
from reviews.models import Item, Project, RunScore
from reviews.queries.arrivals import redaction_rules
from reviews.queries.items import items_by_source_id
from reviews.queries.listings import items_by_uid
from reviews.rules import check
from reviews.trajectories import jsontext
from reviews.trajectories.feedback import MOST_CHARACTERS, Said
from reviews.trajectories.redaction import redact_text

MOST_SCORES = 500
LONGEST_NAME = 200
CREATED, ALREADY_THERE, REFUSED = STATUSES = ("created", "already_there", "refused")


@dataclass(frozen=True)
class ScoreReceipt:
    """What became of one score. `rules` are those on arrival that put its item into queues because of it."""

    status: str
    item: Item | None = None
    reason: str = ""
    rules: tuple[Any, ...] = ()


def post_scores(*, actor: Any, project: Project, scores: list[dict[str, Any]]) -> list[ScoreReceipt]:
    """Store scores, each {"item": uid} or {"run": the source's id of it}, grader, value, explanation and evidence.

    One receipt for each, in order. The same score again is there already and changes nothing. Raises Forbidden, or
    Invalid where there are too many.
    """
    check(actor, "import", project)
    if not 0 < len(scores) <= MOST_SCORES:
        raise Invalid({"scores": f"Send 1 to {MOST_SCORES} scores at a time."})
    items = items_by_uid(project, [score["item"] for score in scores if score.get("item")])
    given: list[tuple[Item | None, Said]] = []
    for score in scores:
        cited = tuple(score.get("evidence", ()))
        said = Said(str(score.get("run", "")), score["grader"], score["value"], score.get("explanation", ""), cited)
        given.append((items.get(score.get("item")), said))
    with transaction.atomic():
        receipts = store_scores(actor=actor, project=project, scores=given)
        counts = {status: sum(each.status == status for each in receipts) for status in STATUSES}
        record(project=project, actor=actor, verb=Verb.SCORES_POSTED, target=project, **counts)
    return receipts


def store_scores(*, actor: Any, project: Project, scores: Sequence[tuple[Item | None, Said]]) -> list[ScoreReceipt]:
    """Store scores inside the caller's transaction, each for its item or else for the run that it names."""
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    named = items_by_source_id(project, {said.run for item, said in scores if item is None and said.run})
    rules = redaction_rules(project)
    rows: list[RunScore | None] = []
    items: list[Item | None] = []
    for given, said in scores:
        item = given or named.get(said.run)
        items.append(item)
        rows.append(_row(item, said, rules) if item and not _problem(said, item) else None)
    there = _there([row for row in rows if row])
    receipts: list[ScoreReceipt] = []
    new: list[RunScore] = []
    for (_, said), item, row in zip(scores, items, rows, strict=True):
        if row is None:
            receipts.append(ScoreReceipt(REFUSED, reason=_problem(said, item) or _nobody(said)))
        elif (row.trajectory_id, row.content_hash) in there:
            receipts.append(ScoreReceipt(ALREADY_THERE, item))
        else:
            there.add((row.trajectory_id, row.content_hash))
            new.append(row)
            receipts.append(ScoreReceipt(CREATED, item))
    RunScore.objects.bulk_create(new)
    return _routed(actor, project, receipts, [said for _, said in scores])


def _routed(actor: Any, project: Project, receipts: list[ScoreReceipt], said: list[Said]) -> list[ScoreReceipt]:
    """The receipts with the rules that now fit."""
    scored: dict[Item, set[str]] = {}
    for receipt, score in zip(receipts, said, strict=True):
        if receipt.status == CREATED and receipt.item:
            scored.setdefault(receipt.item, set()).add(score.grader)
    routed = route_scored(actor=actor, project=project, scored=scored)
    return [
        ScoreReceipt(each.status, each.item, each.reason, tuple(routed.get(each.item.pk, ())))
        if each.status == CREATED and each.item
        else each
        for each in receipts
    ]


def _row(item: Item, said: Said, rules: Any) -> RunScore:
    value = redact_text(jsontext.clean(said.value), rules) if isinstance(said.value, str) else said.value
    explanation = redact_text(jsontext.clean(said.explanation), rules)
    evidence = [{**cited, "quote": redact_text(jsontext.clean(cited["quote"]), rules)} for cited in said.evidence]
    content = dumps([said.grader, value, explanation, *([evidence] if evidence else [])])
    return RunScore(
        trajectory=item.run,
        grader=said.grader,
        value=value,
        explanation=explanation,
        evidence=evidence,
        content_hash=hashlib.sha256(content.encode()).hexdigest(),
    )


def _there(rows: list[RunScore]) -> set[tuple[int, str]]:
    known = RunScore.objects.filter(
        trajectory__in={row.trajectory_id for row in rows}, content_hash__in={row.content_hash for row in rows}
    )
    return set(known.values_list("trajectory_id", "content_hash"))


def _problem(said: Said, item: Item | None) -> str:
    """Why this cannot be a score, or ""."""
    if not 0 < len(said.grader) <= LONGEST_NAME:
        return f"The grader has a name of 1 to {LONGEST_NAME} characters."
    if not isinstance(said.value, str | int | float) or (isinstance(said.value, float) and said.value != said.value):
        return "The value is a number, true or false, or a text."
    if max(len(str(said.value)) if isinstance(said.value, str) else 0, len(said.explanation)) > MOST_CHARACTERS:
        return f"Value and explanation have at most {MOST_CHARACTERS:,} characters each."
    if item and any(not 1 <= cited["step"] <= item.longest for cited in said.evidence):
        return f"The evidence cites a step that is not there: the run has steps 1 to {item.longest}."
    return ""


def _nobody(said: Said) -> str:
    return f"The project has no run that its source calls {said.run[:80]}." if said.run else "There is no such item."
