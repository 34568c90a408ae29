"""Graders are registered, and get versions: what scored, by which prompt or code, in which environment."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max

from goldsets.enums import GoldVerb, GraderKind, GraderScale
from goldsets.models import Grader, GraderVersion
from goldsets.models.grader import OVERALL
from goldsets.queries.graders import criterion_keys
from reviews.actions.events import record
from reviews.actions.payloads import storable
from reviews.errors import Conflict, Invalid
from reviews.models import Project
from reviews.rules import check
from reviews.trajectories import jsontext

LENGTHS = {"name": 120, "note": 5000}
VERSION_LENGTHS = {"label": 120, "fingerprint": 128, "model": 200, "environment": 200, "source": 200}
LONGEST_PARAMETERS = 20_000
MOST_ATTEMPTS = 1_000_000
# Beyond these a float no longer holds every whole number.
FURTHEST = 2.0**53


@transaction.atomic
def register_grader(
    *, actor: Any, project: Project, name: str, kind: str, criterion: str = OVERALL, note: str = ""
) -> Grader:
    """A grader without a version yet. Raises Forbidden, Invalid with every field at fault, or Conflict for a name."""
    check(actor, "manage_graders", project)
    name, criterion, note = name.strip(), criterion.strip(), note.strip()
    errors = _too_long({"name": name, "note": note}, LENGTHS)
    if not name:
        errors["name"] = "Give the grader a name."
    if kind not in GraderKind.values:
        errors["kind"] = f"A grader is one of {', '.join(GraderKind.values)}."
    if criterion and criterion not in (keys := criterion_keys(project)):
        known = ", ".join(sorted(keys)[:20])
        errors["criterion"] = "No rubric of this project has such a criterion" + (
            f". They have {known}." if known else "."
        )
    if errors:
        raise Invalid(errors)
    try:
        with transaction.atomic():
            grader = Grader.objects.create(
                project=project, name=name, kind=kind, criterion=criterion, note=note, created_by=actor
            )
    except IntegrityError:
        raise Conflict(f"This project has a grader called “{name}” already.", field="name") from None
    record(project=project, actor=actor, verb=GoldVerb.GRADER_REGISTERED, target=grader, name=name, kind=kind)
    return grader


@transaction.atomic
def add_version(
    *,
    actor: Any,
    grader: Grader,
    label: str = "",
    fingerprint: str = "",
    model: str = "",
    parameters: Mapping[str, Any] | None = None,
    environment: str = "",
    scale: str = GraderScale.BINARY,
    lowest: float = 0,
    highest: float = 1,
    threshold: float | None = None,
    attempts_cap: int | None = None,
    source: str = "",
) -> GraderVersion:
    """The next version of a grader. Raises Forbidden, or Invalid with every field at fault."""
    check(actor, "manage_graders", grader.project)
    texts = {"label": label, "fingerprint": fingerprint, "model": model, "environment": environment, "source": source}
    texts = {name: text.strip() for name, text in texts.items()}
    errors = _too_long(texts, VERSION_LENGTHS)
    if scale not in GraderScale.values:
        errors["scale"] = f"A scale is one of {', '.join(GraderScale.values)}."
    errors |= _wrong_ends(lowest, highest) or _wrong_threshold(threshold, lowest, highest)
    errors |= _wrong_cap(attempts_cap)
    parameters = dict(parameters or {})
    if len(jsontext.dump(parameters)) > LONGEST_PARAMETERS:
        errors["parameters"] = f"The parameters take more than {LONGEST_PARAMETERS:,} characters."
    if errors:
        raise Invalid(errors)
    # Numbers are given out one by one.
    Grader.objects.select_for_update(no_key=True).get(pk=grader.pk)
    last = grader.versions.aggregate(last=Max("number"))["last"] or 0
    version = GraderVersion.objects.create(
        grader=grader,
        number=last + 1,
        parameters=jsontext.clean_value(parameters),
        scale=scale,
        lowest=lowest,
        highest=highest,
        threshold=threshold,
        attempts_cap=attempts_cap,
        created_by=actor,
        **texts,
    )
    record(
        project=grader.project_id,
        actor=actor,
        verb=GoldVerb.GRADER_VERSION_ADDED,
        target=version,
        name=grader.name,
        number=version.number,
    )
    return version


@transaction.atomic
def set_version(
    *, actor: Any, version: GraderVersion, threshold: float | None, attempts_cap: int | None
) -> GraderVersion:
    """From which score on the version passes, and how often it may be asked of one item. Both None where undecided.

    Raises Forbidden, Invalid, or Conflict where somebody else set them meanwhile.
    """
    grader = version.grader
    check(actor, "manage_graders", grader.project)
    errors = _wrong_threshold(threshold, version.lowest, version.highest) | _wrong_cap(attempts_cap)
    if errors:
        raise Invalid(errors)
    before = {"threshold": version.threshold, "attempts_cap": version.attempts_cap}
    after = {"threshold": threshold, "attempts_cap": attempts_cap}
    if before == after:
        return version
    if not GraderVersion.objects.filter(pk=version.pk, **_as_read(before)).update(**after):
        raise Conflict("Somebody else changed this version meanwhile. Look at it again.")
    version.refresh_from_db()
    record(
        project=grader.project_id,
        actor=actor,
        verb=GoldVerb.GRADER_VERSION_SET,
        target=version,
        name=grader.name,
        number=version.number,
        before=before,
        after=after,
    )
    return version


def _as_read(values: Mapping[str, Any]) -> dict[str, Any]:
    """The filter for a row that still has these values."""
    return {
        (f"{name}__isnull" if value is None else name): (True if value is None else value)
        for name, value in values.items()
    }


def _too_long(texts: Mapping[str, str], lengths: Mapping[str, int]) -> dict[str, str]:
    return {
        name: f"This is text of at most {lengths[name]:,} characters that can be stored."
        for name, text in texts.items()
        if len(text) > lengths[name] or not storable(text)
    }


def _wrong_ends(lowest: Any, highest: Any) -> dict[str, str]:
    if not _is_number(lowest):
        return {"lowest": "The lowest value is a number."}
    if not _is_number(highest) or highest <= lowest:
        return {"highest": "The highest value is a number above the lowest."}
    return {}


def _wrong_threshold(threshold: Any, lowest: float, highest: float) -> dict[str, str]:
    if threshold is None or (_is_number(threshold) and lowest <= threshold <= highest):
        return {}
    return {"threshold": f"It passes from a value on its scale, {lowest:g} to {highest:g}."}


def _wrong_cap(cap: Any) -> dict[str, str]:
    if cap is None or (type(cap) is int and 1 <= cap <= MOST_ATTEMPTS):
        return {}
    return {"attempts_cap": "It may be asked once or more of an item."}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) and abs(value) <= FURTHEST
