"""Takes the scores of a grader's version: posted, in a file, or what came in with runs under its source's name."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import IO, Any

from django.db import transaction

from goldsets.actions.reading_scores import LONGEST_TEXT, Given, read_score, rows_of, value_on
from goldsets.enums import GoldVerb
from goldsets.models import GraderScore, GraderVersion, JudgeSetup
from goldsets.queries.graders import FROM_RUNS, criterion_keys, longest_of, own_criterion_keys, said_under
from reviews.actions.events import record
from reviews.errors import Conflict, Invalid
from reviews.models import Item, Project
from reviews.queries.arrivals import redaction_rules
from reviews.queries.items import items_by_source_id
from reviews.queries.listings import items_by_uid
from reviews.rules import check
from reviews.trajectories.redaction import redact_text

MOST_SCORES = 1000
MAX_BYTES = 10 * 1024 * 1024
MOST_REFUSALS = 500
CREATED, ALREADY_THERE, REFUSED = STATUSES = ("created", "already_there", "refused")
# What makes a score the same as one that is there.
CONTENT = ("value", "parts", "explanation", "evidence", "cost", "seconds", "tokens", "meta")


@dataclass(frozen=True)
class ScoreReceipt:
    """What became of one score."""

    status: str
    item: Item | None = None
    reason: str = ""


@dataclass
class ScoresReceipt:
    """What became of many: how many of each, and the first refusals with their places."""

    created: int = 0
    already_there: int = 0
    refused: int = 0
    refusals: list[tuple[str, str]] = field(default_factory=list)

    def add(self, place: str, receipt: ScoreReceipt) -> None:
        setattr(self, receipt.status, getattr(self, receipt.status) + 1)
        if receipt.status == REFUSED and len(self.refusals) < MOST_REFUSALS:
            self.refusals.append((place, receipt.reason))

    @property
    def counts(self) -> dict[str, int]:
        return {status: getattr(self, status) for status in STATUSES}


@transaction.atomic
def post_scores(*, actor: Any, version: GraderVersion, scores: Sequence[Given]) -> list[ScoreReceipt]:
    """Keep scores; one receipt for each, in order. The same score again is there already and changes nothing.

    Raises Forbidden, or Invalid where there are too many.
    """
    _check_takes(actor, version)
    if not 0 < len(scores) <= MOST_SCORES:
        raise Invalid({"scores": f"Send 1 to {MOST_SCORES:,} scores at a time."})
    receipts = keep_scores(version=version, scores=scores)
    total = ScoresReceipt()
    for receipt in receipts:
        total.add("", receipt)
    _record(actor, version, "api", total)
    return receipts


@transaction.atomic
def import_scores(*, actor: Any, version: GraderVersion, file: IO[bytes], name: str) -> ScoresReceipt:
    """Keep the scores of a file, JSON lines or CSV; a bad row is refused alone, with its line.

    All of it is one transaction, so that a file is in as far as it can be, or not at all. Raises Forbidden, or Invalid
    where the file as a whole cannot be read.
    """
    _check_takes(actor, version)
    total = _keep_all(version, rows_of(file, name))
    if not any(total.counts.values()):
        raise Invalid({"file": "The file holds no scores."})
    _record(actor, version, name[:200], total)
    return total


@transaction.atomic
def adopt_scores(*, actor: Any, version: GraderVersion) -> ScoresReceipt:
    """Keep what runs of the project brought along, or what was said of them later, under the version's source's name.

    Of several scores of one run each is an attempt, in the order in which they came in. Runs that crashed are left
    out: nothing that they were given says anything of the agent. Raises Forbidden, or Conflict without a source.
    """
    _check_takes(actor, version)
    if not version.source:
        raise Conflict("This version names no source, so no score that came in with runs is its own.")
    total = _keep_all(version, _adopted(version))
    _record(actor, version, FROM_RUNS, total)
    return total


def _check_takes(actor: Any, version: GraderVersion) -> None:
    """Nobody can write down what a judge said that is asked from here: it may come to decide about items."""
    check(actor, "manage_graders", version.grader.project)
    if JudgeSetup.objects.filter(version=version).exists():
        raise Conflict("This version is a judge that is asked from here. Its scores come from its own runs.")


def _adopted(version: GraderVersion) -> Iterable[tuple[str, Given | str]]:
    for item, attempt, said in said_under(version.grader.project, version.source):
        place, explanation = f"item {item}", said.get("explanation")
        row = {"item": item, "value": said.get("value"), "attempt": attempt, "evidence": said.get("evidence")}
        try:
            yield place, read_score(row | {"explanation": str(explanation or "")[:LONGEST_TEXT]})
        except Invalid as error:
            yield place, error.message


def _record(actor: Any, version: GraderVersion, origin: str, total: ScoresReceipt) -> None:
    grader = version.grader
    named = {"name": grader.name, "number": version.number, "origin": origin}
    verb = GoldVerb.GRADER_SCORED
    record(project=grader.project_id, actor=actor, verb=verb, target=version, **named, **total.counts)


def _keep_all(version: GraderVersion, rows: Iterable[tuple[str, Given | str]]) -> ScoresReceipt:
    total, rest = ScoresReceipt(), iter(rows)
    while batch := list(islice(rest, MOST_SCORES)):
        receipts = iter(keep_scores(version=version, scores=[given for _, given in batch if isinstance(given, Given)]))
        for place, given in batch:
            total.add(place, ScoreReceipt(REFUSED, reason=given) if isinstance(given, str) else next(receipts))
    return total


def keep_scores(*, version: GraderVersion, scores: Sequence[Given]) -> list[ScoreReceipt]:
    """Keep scores inside the caller's transaction, a receipt for each."""
    if not scores:
        return []
    # One after the other, so that the same score sent twice at once is kept once.
    version = (
        GraderVersion.objects.select_related("grader__project")
        .select_for_update(no_key=True, of=("self",))
        .get(pk=version.pk)
    )
    intake = _Intake(version, scores)
    return intake.keep()


class _Intake:
    """Some scores on their way in, with everything they are checked against. Seven queries however many they are."""

    def __init__(self, version: GraderVersion, scores: Sequence[Given]) -> None:
        self.version, self.scores = version, scores
        self.project: Project = version.grader.project
        by_uid = items_by_uid(self.project, [given.item for given in scores if given.item])
        by_name = items_by_source_id(self.project, {given.run for given in scores if not given.item and given.run})
        self.items = [by_uid.get(given.item) if given.item else by_name.get(given.run) for given in scores]
        found = {item.pk for item in self.items if item}
        self.keys = criterion_keys(self.project) if any(given.criterion for given in scores) else set()
        self.own_keys = own_criterion_keys(found) if any(given.criterion for given in scores) else set()
        cited = {item.pk for item, given in zip(self.items, scores, strict=True) if item and given.evidence}
        self.longest = longest_of(cited)
        self.rules = redaction_rules(self.project)
        self.there = self._there(found)

    def keep(self) -> list[ScoreReceipt]:
        receipts, new = [], []
        for item, given in zip(self.items, self.scores, strict=True):
            try:
                row = self._row(item, given)
            except Invalid as error:
                receipts.append(ScoreReceipt(REFUSED, item, error.message))
                continue
            key = (row.item_id, row.criterion, row.attempt, row.order)
            before = self.there.setdefault(key, row)
            if before is row:
                new.append(row)
                receipts.append(ScoreReceipt(CREATED, item))
            elif all(getattr(before, name) == getattr(row, name) for name in CONTENT):
                receipts.append(ScoreReceipt(ALREADY_THERE, item))
            else:
                words = f"Attempt {row.attempt} at this item has another score. Send what it said next as attempt "
                receipts.append(ScoreReceipt(REFUSED, item, f"{words}{row.attempt + 1}."))
        GraderScore.objects.bulk_create(new)
        return receipts

    def _there(self, items: set[int]) -> dict[tuple[int, str, int, str], GraderScore]:
        attempts = {given.attempt for given in self.scores}
        rows = GraderScore.objects.filter(version=self.version, item__in=items, attempt__in=attempts)
        return {(row.item_id, row.criterion, row.attempt, row.order): row for row in rows}

    def _row(self, item: Item | None, given: Given) -> GraderScore:
        if item is None:
            named = f"The project has no run that its source calls {given.run[:80]}."
            raise Invalid({"item": "There is no such item." if given.item else named})
        cap = self.version.attempts_cap
        if cap is not None and given.attempt > cap:
            raise Invalid({"attempt": f"This version may be asked {cap} time{'' if cap == 1 else 's'} of an item."})
        return GraderScore(
            version=self.version,
            item=item,
            criterion=self._criterion(item, given.criterion),
            attempt=given.attempt,
            order=given.order,
            value=value_on(self.version, given.value),
            parts=given.parts,
            explanation=redact_text(given.explanation, self.rules),
            evidence=self._evidence(item, given),
            cost=given.cost,
            seconds=given.seconds,
            tokens=given.tokens,
            meta=given.meta,
        )

    def _criterion(self, item: Item, key: str | None) -> str:
        judged = self.version.grader.criterion
        if key is None or key == judged:
            return judged
        if judged:
            raise Invalid({"criterion": f"This grader judges {judged} alone."})
        if key not in self.keys and (item.pk, key) not in self.own_keys:
            raise Invalid({"criterion": f"No rubric of this project has a criterion {key[:60]}."})
        return key

    def _evidence(self, item: Item, given: Given) -> list[dict[str, Any]]:
        kept = []
        for place in given.evidence:
            longest = self.longest.get((item.pk, place.get("candidate", 0)), 0)
            if not 1 <= place["step"] <= longest:
                where = f"has steps 1 to {longest}" if longest else "is not of this item, which says which of several"
                raise Invalid({"evidence": f"The evidence cites a step that is not there: the run {where}."})
            kept.append({**place, "quote": redact_text(place["quote"], self.rules)})
        return kept
