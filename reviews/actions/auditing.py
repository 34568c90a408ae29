"""Raters check what graders said of a run: shown after their own answer, which stays as it is from then on.

Payload: {"verdicts": [{"grader": name, "right": bool, "evidence": [bool, …], "note": text}]}, every verdict that was
shown once, and for each piece of its evidence, in order, whether it is valid.
"""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from reviews.actions.dealing import own_assignment
from reviews.actions.events import record
from reviews.actions.judging import SUBMITTED
from reviews.actions.payloads import read_text
from reviews.enums import Verb
from reviews.errors import Conflict, Invalid, NotFound
from reviews.models import VerdictAudit, VerdictsShown
from reviews.queries.auditing import latest_audits, verdicts_on

FIELDS = {"grader", "right", "evidence", "note"}


@transaction.atomic
def show_verdicts(*, actor: Any, uid: Any) -> VerdictsShown:
    """What graders said until now of a run that the actor has judged; from the first time on it stays the same.

    Raises NotFound where there is nothing to check, Conflict before the rater's own answer.
    """
    assignment = own_assignment(actor=actor, uid=uid, lock=True)
    if not assignment.queue.rubric.audits:
        raise NotFound("In this queue nothing that graders said is checked.")
    if assignment.state not in SUBMITTED:
        raise Conflict("Judge the run first. What graders said of it comes after.")
    before = VerdictsShown.objects.filter(assignment=assignment).first()
    if before:
        return before
    verdicts = verdicts_on(assignment, until=timezone.now())
    if not verdicts:
        raise NotFound("No grader has said anything of this run.")
    judgment = assignment.judgments.latest("revision")
    shown = VerdictsShown.objects.create(assignment=assignment, judgment=judgment, verdicts=verdicts)
    record(project=assignment.queue.project, actor=actor, verb=Verb.VERDICTS_SHOWN, target=judgment)
    return shown


@transaction.atomic
def audit_verdicts(*, actor: Any, uid: Any, payload: Any) -> list[VerdictAudit]:
    """Keep what the rater found, as further revisions where they said something else before. The same again is once.

    Raises Conflict before the verdicts were shown, Invalid with a sentence per field.
    """
    assignment = own_assignment(actor=actor, uid=uid, lock=True)
    shown = VerdictsShown.objects.filter(assignment=assignment).first()
    if shown is None:
        raise Conflict("Read what graders said of this run first.")
    found = _read(payload, shown)
    before = {audit.grader: audit for audit in latest_audits(shown)}
    new = [
        VerdictAudit(shown=shown, revision=before[grader].revision + 1 if grader in before else 1, **row)
        for grader, row in found.items()
        if grader not in before or any(getattr(before[grader], name) != value for name, value in row.items())
    ]
    VerdictAudit.objects.bulk_create(new)
    if new:
        record(project=assignment.queue.project, actor=actor, verb=Verb.VERDICTS_AUDITED, target=shown.judgment)
    return latest_audits(shown)


def _read(payload: Any, shown: VerdictsShown) -> dict[str, dict[str, Any]]:
    """What was found of each verdict, by grader."""
    rows = payload.get("verdicts") if isinstance(payload, Mapping) else None
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise Invalid({"verdicts": "Send a list with what you found of each verdict."})
    verdicts = {verdict["grader"]: verdict for verdict in shown.verdicts}
    errors: dict[str, str] = {}
    found: dict[str, dict[str, Any]] = {}
    for number, row in enumerate(rows):
        grader, name = row.get("grader"), f"verdicts.{number}"
        errors |= {f"{name}.{str(key)[:60]}": "A verdict has no such field." for key in set(row) - FIELDS}
        if not isinstance(grader, str) or grader not in verdicts or grader in found:
            errors[f"{name}.grader"] = "Name each grader whose verdict you were shown, once."
            continue
        right, valid = row.get("right"), row.get("evidence", [])
        if not isinstance(right, bool):
            errors[f"{name}.right"] = f"Say whether “{grader[:80]}” is right."
        cited = len(verdicts[grader]["evidence"])
        if not isinstance(valid, list) or len(valid) != cited or not all(isinstance(one, bool) for one in valid):
            errors[f"{name}.evidence"] = f"Say of each of the {cited} places it cites whether it is valid."
        note = read_text(row.get("note"), f"{name}.note", errors)
        found[grader] = {"grader": grader, "right": right, "evidence": valid, "note": note}
    if missing := [grader for grader in verdicts if grader not in found and not errors]:
        errors["verdicts"] = f"Check every verdict: “{missing[0][:80]}” is missing."
    if errors:
        raise Invalid(errors)
    return found
