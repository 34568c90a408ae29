"""Rubrics and guidelines: each change is a new version, and a version never changes."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max

from reviews.actions.criteria import read_criteria, read_marks, read_step_labels
from reviews.actions.events import record
from reviews.actions.questions import fold
from reviews.enums import CorrectionRule, CriterionKind, ItemKind, Scope, Verb
from reviews.errors import Conflict, Invalid
from reviews.models import Criterion, Guideline, Principle, Project, Rubric
from reviews.rules import check

FILE_FORMAT = "assay-rubric/1"
FILE_FIELDS = (
    "format",
    "version",
    "name",
    "item_kind",
    "unsure_allowed",
    "step_labels",
    "marks",
    "correction",
    "audits",
    "criteria",
)


@transaction.atomic
def write_guideline(*, actor: Any, project: Project, name: str, text: str, notes: Sequence[Any] = ()) -> Guideline:
    """The guideline's next version. `text` is Markdown of up to 100,000 characters.

    `notes` are the ids of the notes on earlier versions that have gone into the text.
    """
    check(actor, "write_rubric", project)
    name, errors = name.strip(), {}
    if not name or len(name) > 80:
        errors["name"] = "Give the guideline a name of 1 to 80 characters."
    if not text.strip() or len(text) > 100_000:
        errors["text"] = "Write the guideline, in 1 to 100,000 characters."
    if errors:
        raise Invalid(errors)
    try:
        with transaction.atomic():
            guideline = Guideline.objects.create(
                project=project,
                name=name,
                version=_next_version(Guideline, project, name),
                text=text,
                created_by=actor,
            )
    except IntegrityError:
        raise Conflict("Somebody saved this guideline at the same moment. Look at their version first.") from None
    record(project=project, actor=actor, verb=Verb.GUIDELINE_CREATED, target=guideline, version=guideline.version)
    if notes:
        fold(actor=actor, notes=notes, guideline=guideline)
    return guideline


@transaction.atomic
def write_principle(*, actor: Any, project: Project, name: str, text: str) -> Principle:
    """The principle's next version. Criteria go on referring to the version they were written with."""
    check(actor, "write_rubric", project)
    name, text, errors = name.strip(), text.strip(), {}
    if not name or len(name) > 80:
        errors["name"] = "Give the principle a name of 1 to 80 characters."
    if not text or len(text) > 1000:
        errors["text"] = "Write the principle, in 1 to 1,000 characters."
    if errors:
        raise Invalid(errors)
    try:
        with transaction.atomic():
            version = _next_version(Principle, project, name)
            made = Principle.objects.create(project=project, name=name, version=version, text=text, created_by=actor)
    except IntegrityError:
        raise Conflict("Somebody saved this principle at the same moment. Look at their version first.") from None
    record(project=project, actor=actor, verb=Verb.PRINCIPLE_CREATED, target=made, version=made.version)
    return made


@transaction.atomic
def write_rubric(
    *,
    actor: Any,
    project: Project,
    name: str,
    criteria: Sequence[Mapping[str, Any]],
    unsure_allowed: bool = False,
    item_kind: str = ItemKind.TRAJECTORY,
    step_labels: Mapping[str, Any] | None = None,
    correction: str = CorrectionRule.NEVER,
    marks: Sequence[Mapping[str, Any]] = (),
    audits: bool = False,
) -> Rubric:
    """The rubric's next version.

    Each criterion has the fields of `Criterion`; gates come first whatever their order here. `step_labels` and
    `marks` are as in `Rubric`. Raises Invalid with a sentence per field, named like "criteria.2.levels".
    """
    check(actor, "write_rubric", project)
    given: dict[str, Any] = {
        "name": name,
        "item_kind": item_kind,
        "unsure_allowed": unsure_allowed,
        "step_labels": step_labels,
    }
    given |= {"correction": correction, "marks": marks, "audits": audits}
    fields, rows, errors = read_rubric({**given, "criteria": criteria})
    _find_principles(project, rows, errors)
    if errors:
        raise Invalid(errors)
    try:
        with transaction.atomic():
            rubric = Rubric.objects.create(
                project=project,
                version=_next_version(Rubric, project, fields["name"]),
                created_by=actor,
                **fields,
            )
    except IntegrityError:
        raise Conflict("Somebody saved this rubric at the same moment. Look at their version first.") from None
    rows.sort(key=lambda row: row["kind"] != CriterionKind.GATE)
    Criterion.objects.bulk_create(Criterion(rubric=rubric, position=n, **row) for n, row in enumerate(rows, start=1))
    record(project=project, actor=actor, verb=Verb.RUBRIC_CREATED, target=rubric, version=rubric.version)
    return rubric


def read_rubric(written: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, str]]:
    """The fields of a rubric and of its criteria, and what is wrong with any of them, named by field."""
    name, item_kind = written.get("name"), written.get("item_kind", ItemKind.TRAJECTORY)
    unsure_allowed = written.get("unsure_allowed", False)
    errors: dict[str, str] = {}
    name = name.strip() if isinstance(name, str) else ""
    if not 0 < len(name) <= 80:
        errors["name"] = "Give the rubric a name of 1 to 80 characters."
    if item_kind not in ItemKind.values:
        errors["item_kind"] = f"The kind of item is one of {', '.join(ItemKind.values)}."
    if not isinstance(unsure_allowed, bool):
        errors["unsure_allowed"] = "This is true or false."
    rows = read_criteria(written.get("criteria"), errors)
    labels = read_step_labels(written.get("step_labels"), errors)
    marks = read_marks(written.get("marks"), errors)
    correction = written.get("correction", CorrectionRule.NEVER)
    if correction not in CorrectionRule.values:
        errors["correction"] = f"Corrections are one of {', '.join(CorrectionRule.values)}."
    elif correction != CorrectionRule.NEVER and item_kind != ItemKind.TRAJECTORY:
        errors["correction"] = "Corrections are written where one run is judged."
    audits = written.get("audits", False)
    if not isinstance(audits, bool):
        errors["audits"] = "This is true or false."
    elif audits and item_kind != ItemKind.TRAJECTORY:
        errors["audits"] = "What graders said is checked where one run is judged."
    if marks and item_kind != ItemKind.TASK:
        errors["marks"] = "Places in the text are marked where a task is reviewed."
    _check_kind(item_kind, rows, labels, errors)
    fields: dict[str, Any] = {
        "name": name,
        "item_kind": item_kind,
        "unsure_allowed": unsure_allowed,
        "step_labels": labels,
    }
    fields |= {"correction": correction, "marks": marks, "audits": audits}
    return fields, rows, errors


def read_rubric_file(text: str) -> dict[str, Any]:
    """The rubric that a file holds, complete and valid, as `write_rubric` takes it. It writes nothing.

    Raises Invalid with a sentence per field at fault, also for one that there is none of.
    """
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Invalid({"file": f"This is no JSON: {error}."}) from None
    if not isinstance(given, dict):
        raise Invalid({"file": "A rubric is one JSON object with a name and criteria."})
    if given.get("format", FILE_FORMAT) != FILE_FORMAT:
        raise Invalid({"format": f"The format is “{FILE_FORMAT}”."})
    errors = {key[:60]: "A rubric has no such field." for key in given if key not in FILE_FIELDS}
    fields, rows, mistakes = read_rubric(given)
    for number, row in enumerate(given["criteria"] if rows else ()):
        unknown = [key for key in row if key not in rows[number]] if isinstance(row, dict) else []
        errors |= {f"criteria.{number}.{key[:60]}": "A criterion has no such field." for key in unknown}
    if errors | mistakes:
        raise Invalid(errors | mistakes)
    return {**fields, "criteria": rows}


def _find_principles(project: Project, rows: Sequence[dict[str, Any]], errors: dict[str, str]) -> None:
    """Put in place of each principle's name and version the principle itself."""
    named = [row["principle"]["name"] for row in rows if row["principle"]]
    known = Principle.objects.filter(project=project, name__in=named) if named else ()
    there = {(principle.name, principle.version): principle for principle in known}
    for number, row in enumerate(rows):
        if asked := row["principle"]:
            row["principle"] = there.get((asked["name"], asked["version"]))
            if row["principle"] is None:
                words = f"There is no principle “{asked['name'][:80]}” in version {asked['version']} in this project."
                errors[f"criteria.{number}.principle"] = words


def _check_kind(
    item_kind: str, rows: Sequence[Mapping[str, Any]], labels: Mapping[str, Any], errors: dict[str, str]
) -> None:
    """Candidates and preferences are of items that have several runs, labels of steps of those that are one."""
    if labels and item_kind != ItemKind.TRAJECTORY:
        errors["step_labels"] = "Steps are labelled where one run is judged."
    for number, row in enumerate(rows):
        if row["scope"] == Scope.CANDIDATE and item_kind == ItemKind.TRAJECTORY:
            errors[f"criteria.{number}.scope"] = "One run is judged here, and there are no candidates to ask of."
        if row["kind"] == CriterionKind.PREFERENCE and item_kind != ItemKind.COMPARISON:
            errors[f"criteria.{number}.kind"] = "A preference is asked where candidates are compared."
        if row["kind"] == CriterionKind.PREFERENCE and row["scope"] == Scope.CANDIDATE:
            errors[f"criteria.{number}.scope"] = "A preference is asked of the item, not of each candidate."


def _next_version(model: type[Rubric] | type[Guideline] | type[Principle], project: Project, name: str) -> int:
    latest = model.objects.filter(project=project, name=name).aggregate(latest=Max("version"))["latest"]
    return (latest or 0) + 1
