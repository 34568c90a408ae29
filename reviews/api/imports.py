"""Imports: a file in, its progress, and its receipt."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.actions.importing import cancel_import, confirm_import, receipt_of, start_import
from reviews.actions.previewing import Preview, preview_import
from reviews.api.base import AssayView, Text, project_for
from reviews.api.items import OutcomeOut
from reviews.api.steps import StepWindow
from reviews.errors import Invalid, NotFound
from reviews.models import ImportJob, Project
from reviews.queries.blind_item import step_of
from reviews.queries.listings import VIEWERS, import_by_uid, imports_of, queue_in, role_in
from reviews.tasks import run_import
from reviews.trajectories.detect import AUTO, FORMATS
from reviews.visibility import SOURCES, Phase, visible

PREVIEW_STEPS = 20


class ImportOut(serializers.ModelSerializer[ImportJob]):
    """How far an import is: rows so far, and bytes of the file."""

    project = serializers.CharField(source="project.slug")
    file = serializers.CharField(source="name")
    percent = serializers.IntegerField()
    ending = serializers.CharField(help_text="How it stands, in words: `nothing new`, say.")
    comparisons = serializers.IntegerField(help_text="New items that lay answers to one prompt beside each other.")
    tasks = serializers.IntegerField(help_text="New tasks to be reviewed.")
    scored = serializers.IntegerField(help_text="Scores, from a file of feedback, of runs that were there.")

    class Meta:
        model = ImportJob
        fields = ["uid", "project", "file", "format", "state", "percent", "bytes_done", "bytes_total", "rows_done"]
        fields += ["ending", "created", "already_there", "refused", "comparisons", "tasks", "scored"]
        fields += ["created_at", "finished_at"]


class RefusalOut(serializers.Serializer[Any]):
    place = serializers.CharField()
    reason = serializers.CharField()


class RowNoteOut(serializers.Serializer[Any]):
    place = serializers.CharField()
    note = serializers.CharField()


class ReceiptOut(ImportOut):
    """Progress, and what became of each row: those refused are named with their place and the reason."""

    refusals = RefusalOut(many=True)
    refusals_not_listed = serializers.IntegerField()
    notes = RowNoteOut(many=True, help_text="Rows that were taken and of which something is to be known.")
    notes_not_listed = serializers.IntegerField()
    redactions = serializers.DictField(child=serializers.IntegerField(), help_text="What was replaced, by kind.")
    error = serializers.CharField(required=False, help_text="Why the import failed, if it did.")

    class Meta(ImportOut.Meta):
        more = ["refusals", "refusals_not_listed", "notes", "notes_not_listed", "redactions"]
        fields = [*ImportOut.Meta.fields, *more, "error"]

    def to_representation(self, job: ImportJob) -> dict[str, Any]:
        receipt = receipt_of(job)
        row = ImportOut(job).data | {name: receipt[name] for name in self.Meta.more}
        return row | {"error": job.error} if job.error else row


class ImportIn(serializers.Serializer[Any]):
    """A form (multipart/form-data). What the file does not say itself is said here."""

    file = serializers.FileField(
        allow_empty_file=True, help_text="JSON, JSON lines, or an archive of these; the guide names every format."
    )
    format = serializers.ChoiceField([AUTO, *FORMATS], required=False, help_text="Told by content if left out.")
    queue = serializers.UUIDField(required=False, help_text="Put the items into this queue as they come in.")
    family = Text(required=False)
    domain = Text(required=False)
    model = Text(required=False, help_text="The model that made the runs; hidden from raters.")
    policy = Text(required=False, help_text="Shown beside every run that brings none of its own.")
    policy_title = Text(required=False)
    settings = serializers.JSONField(
        required=False, help_text='A JSON object of texts, such as {"environment": "desk 3.2", "slice.turns": "short"}.'
    )

    def validate_settings(self, value: Any) -> dict[str, str]:
        if not isinstance(value, dict) or not all(isinstance(entry, str) for entry in value.values()):
            raise serializers.ValidationError("Settings are a JSON object of names and texts.")
        return value


class Imports(AssayView):
    parser_classes = [MultiPartParser]

    @extend_schema(operation_id="imports_list", tags=["imports"], responses=ImportOut(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The project's imports. For leads and engineers."""
        return self.page(imports_of(project_for(request.user, slug, "import")), ImportOut)

    @extend_schema(
        operation_id="imports_create",
        tags=["imports"],
        request={"multipart/form-data": ImportIn},
        responses={202: ReceiptOut},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Send a file of runs, for leads and engineers. It is worked off in the background: read the import again."""
        project = project_for(request.user, slug, "import")
        asked = _asked(self, project)
        job = start_import(actor=request.user, project=project, name=asked["file"].name, **asked)
        run_import.delay(job.pk)
        return Response(ReceiptOut(job).data, status=202, headers={"Location": f"{request.path}{job.uid}/"})


def _asked(view: AssayView, project: Project) -> dict[str, Any]:
    asked = view.body(ImportIn)
    if "queue" in asked:
        asked["queue"] = queue_in(project, asked["queue"])
        if asked["queue"] is None:
            raise Invalid({"queue": "This project has no such queue."})
    return asked


def _job(person: Any, slug: str, uid: Any) -> ImportJob:
    job = import_by_uid(project_for(person, slug, "import"), uid)
    if job is None:
        raise NotFound("This project has no such import.")
    return job


class ImportDetail(AssayView):
    @extend_schema(operation_id="imports_read", tags=["imports"], responses=ReceiptOut)
    def get(self, request: Request, slug: str, uid: str) -> Response:
        """How far an import is, and its receipt. For leads and engineers."""
        return Response(ReceiptOut(_job(request.user, slug, uid)).data)


class ImportCancel(AssayView):
    @extend_schema(operation_id="imports_cancel", tags=["imports"], request=None, responses=ReceiptOut)
    def post(self, request: Request, slug: str, uid: str) -> Response:
        """Stop an import. What has come in stays. For leads and engineers."""
        return Response(ReceiptOut(cancel_import(actor=request.user, job=_job(request.user, slug, uid))).data)


class RunOut(serializers.Serializer[Any]):
    """A run as it would be stored; how it ended only for those who may see that before it is judged."""

    place = serializers.CharField()
    task = serializers.CharField(help_text="The key of its task, if it names one.")
    title = serializers.CharField()
    family = serializers.CharField()
    policy = serializers.CharField()
    steps = StepWindow()
    outcome = OutcomeOut(required=False)
    model = serializers.CharField(required=False)


class PreviewOut(serializers.Serializer[Any]):
    """What the beginning of a file is, before anything of it is written."""

    uid = serializers.UUIDField(source="job.uid", help_text="Confirm or cancel the import by it.")
    file = serializers.CharField(source="job.name")
    format = serializers.CharField(help_text="Empty where no row could be read.")
    reason = serializers.CharField(help_text="Why it is read in this format.")
    rows = serializers.IntegerField(help_text="How many rows were looked at.")
    whole = serializers.BooleanField(help_text="Whether these are all there are.")
    runs = serializers.IntegerField()
    scores = serializers.IntegerField(help_text="Scores of runs that came in by themselves.")
    refused = serializers.IntegerField()
    refusals = RefusalOut(many=True, help_text="The first of them.")
    already_there = serializers.BooleanField(help_text="Whether the project has the first run.")
    redactions = serializers.DictField(child=serializers.IntegerField(), help_text="In the first run, by kind.")
    problem = serializers.CharField(required=False, help_text="Why the file cannot be read at all.")
    run = RunOut(required=False, help_text="The first that could be read.")

    def to_representation(self, preview: Preview) -> dict[str, Any]:
        hidden = {name for name in ("run", "problem") if not getattr(preview, name)}
        simple = {name: field for name, field in self.fields.items() if name not in {"run", "problem"}}
        row = {name: field.to_representation(field.get_attribute(preview)) for name, field in simple.items()}
        more = {"run": _run_of(preview, self.context["sees_outcome"])} if "run" not in hidden else {}
        return row | more | ({"problem": preview.problem} if preview.problem else {})


def _run_of(preview: Preview, sees_outcome: bool) -> dict[str, Any]:
    run = preview.run
    assert run is not None  # noqa: S101  asked only where there is one
    rows = [step_of(number, step) for number, step in enumerate(run.steps[:PREVIEW_STEPS], start=1)]
    steps = {"count": len(run.steps), "rows": rows}
    known: dict[str, Any] = {"place": preview.place, "task": run.key, "title": run.title, "family": run.family}
    known |= {"policy": run.policy_text, "steps": steps}
    if sees_outcome:
        outcome = {"result": run.outcome.result, "reward": run.outcome.reward, "data": run.outcome.data}
        known |= {"outcome": outcome, "model": run.outcome.model}
    return known


class ImportPreview(AssayView):
    parser_classes = [MultiPartParser]

    @extend_schema(
        operation_id="imports_preview",
        tags=["imports"],
        request={"multipart/form-data": ImportIn},
        responses={201: PreviewOut},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Send a file and see what it would bring: the format and why, the first run, what would be refused.

        Nothing is imported until it is confirmed; a preview is kept for a day. For leads and engineers.
        """
        project = project_for(request.user, slug, "import")
        asked = _asked(self, project)
        preview = preview_import(actor=request.user, project=project, name=asked["file"].name, **asked)
        sees_outcome = visible(VIEWERS[role_in(request.user, project)], Phase.JUDGING) >= SOURCES
        return Response(PreviewOut(preview, context={"sees_outcome": sees_outcome}).data, status=201)


class ImportConfirm(AssayView):
    @extend_schema(operation_id="imports_confirm", tags=["imports"], request=None, responses={202: ReceiptOut})
    def post(self, request: Request, slug: str, uid: str) -> Response:
        """Import what was previewed. It is worked off in the background. For leads and engineers."""
        job = confirm_import(actor=request.user, job=_job(request.user, slug, uid))
        run_import.delay(job.pk)
        return Response(ReceiptOut(job).data, status=202, headers={"Location": request.path.removesuffix("confirm/")})
