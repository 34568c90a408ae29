"""Shows what an import would bring before any run is written: the format and why, the first run, what is refused."""

from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice
from typing import Any

from django.utils import timezone

from reviews.actions.importing import cancel_import, options_of, start_import
from reviews.actions.own_criteria import mistakes_in
from reviews.enums import ImportState
from reviews.errors import AssayError, Conflict
from reviews.models import ImportJob, Project
from reviews.queries.arrivals import redaction_rules
from reviews.queries.items import content_known
from reviews.rules import check
from reviews.trajectories import jsontext
from reviews.trajectories.detect import AUTO, FORMATS, detect
from reviews.trajectories.preparing import read_row, scores_in
from reviews.trajectories.reading import BadRow, RawRow, RunFile
from reviews.trajectories.redaction import redact
from reviews.trajectories.schema import RowError, Run

ROWS_LOOKED_AT = 50
BYTES_LOOKED_AT = 16 * 1024 * 1024
REFUSALS_SHOWN = 10
# A preview that nobody confirms is forgotten with its file, at the next preview in the project.
KEPT_FOR = timedelta(days=1)


@dataclass
class Preview:
    """What the beginning of a file is. `run` is the first that could be read, as the project would store it."""

    job: ImportJob
    format: str = ""
    reason: str = ""
    run: Run | None = None
    place: str = ""
    already_there: bool = False
    rows: int = 0
    runs: int = 0
    scores: int = 0
    refused: int = 0
    refusals: list[BadRow] = field(default_factory=list)
    redactions: dict[str, int] = field(default_factory=dict)
    whole: bool = True
    problem: str = ""

    @property
    def format_title(self) -> str:
        return FORMATS[self.format].title if self.format in FORMATS else ""


def preview_import(*, actor: Any, project: Project, **given: Any) -> Preview:
    """Keep a file and look at its beginning. What is given is as for `start_import`; `confirm_import` goes on."""
    job = start_import(actor=actor, project=project, preview=True, **given)
    _forget_old(actor, project)
    return look_at(actor=actor, job=job)


def look_at(*, actor: Any, job: ImportJob) -> Preview:
    """The preview of a job that is not yet confirmed. Raises Forbidden, or Conflict when it is past that."""
    check(actor, "import", job.project)
    if job.state != ImportState.PREVIEW:
        raise Conflict(f"This import is past its preview: it is {job.get_state_display().lower()}.")
    preview = Preview(job)
    try:
        with RunFile(job.path, name=job.name) as file:
            _look(preview, file)
    except FileNotFoundError:
        preview.problem = "The file is no longer where it was. Send it again."
    except (AssayError, OSError) as error:
        preview.problem = str(error)
    if preview.run:
        preview.already_there = content_known(job.project, preview.run.content_hash)
        if rules := redaction_rules(job.project):
            preview.run, preview.redactions = redact(preview.run, rules)
    return preview


def _look(preview: Preview, file: RunFile) -> None:
    size = 0
    rows = iter(file)
    for row in islice(rows, ROWS_LOOKED_AT):
        preview.rows += 1
        if isinstance(row, RawRow):
            size += len(row.original)
            _look_at_row(preview, row)
        else:
            _refuse(preview, row)
        if size > BYTES_LOOKED_AT:
            break
    preview.whole = next(rows, None) is None
    if preview.run is None and preview.job.format != AUTO:
        preview.format, preview.reason = preview.job.format, f"{_chosen(preview.job)}."


def _look_at_row(preview: Preview, row: RawRow) -> None:
    runs = read_row(row, options_of(preview.job))
    if isinstance(runs, BadRow):
        scores = scores_in(row, options_of(preview.job))
        preview.scores += len(scores)
        if not scores:
            _refuse(preview, runs)
        return
    if reason := next(filter(None, (mistakes_in(run.criteria) for run in runs)), ""):
        _refuse(preview, BadRow(row.place, reason))
        return
    preview.runs += len(runs)
    if runs and preview.run is None:
        preview.run, preview.place = runs[0], row.place
        preview.format, preview.reason = runs[0].source_format, _reason(preview.job, row)


def _reason(job: ImportJob, row: RawRow) -> str:
    """Why the row is read in this format, in words."""
    try:
        reason = detect(jsontext.parse(row.original)).reason
    except RowError:
        reason = ""
    if job.format == AUTO:
        return reason
    return f"{_chosen(job)}. By itself it reads as {reason}" if reason else f"{_chosen(job)}."


def _chosen(job: ImportJob) -> str:
    return f"{FORMATS[job.format].title} was chosen for this file"


def _refuse(preview: Preview, bad: BadRow) -> None:
    preview.refused += 1
    if len(preview.refusals) < REFUSALS_SHOWN:
        preview.refusals.append(BadRow(bad.place, jsontext.clean(bad.reason)))


def _forget_old(actor: Any, project: Project) -> None:
    old = ImportJob.objects.filter(
        project=project, state=ImportState.PREVIEW, created_at__lt=timezone.now() - KEPT_FOR
    ).select_related("project")
    for job in old:
        cancel_import(actor=actor, job=job)
