"""Data sets: define one and start its first version, follow it, start another, and fetch the files."""

import re
from typing import Any

from django.db import transaction
from django.http import FileResponse, HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from goldsets.actions.defining import define_dataset
from goldsets.actions.exporting import cancel_export, read_file, start_export
from goldsets.enums import DatasetFormat, DatasetPurpose, DatasetState
from goldsets.models import Dataset, DatasetVersion
from goldsets.queries.datasets import dataset_by_uid, datasets_of, version_by_number, versions_of
from goldsets.queries.differences import difference_of, differing_rows
from goldsets.tasks import run_export
from reviews.api.base import AssayView, ProjectQuery, Text, allowed, project_for
from reviews.errors import Invalid, NotFound
from reviews.queries.listings import queue_in


class FileOut(serializers.Serializer[Any]):
    name = serializers.CharField()
    rows = serializers.IntegerField()
    bytes = serializers.IntegerField()
    sha256 = serializers.CharField()
    empty_because = serializers.CharField(required=False, help_text="Why no label fits; absent where one does.")


class VersionOut(serializers.ModelSerializer[DatasetVersion]):
    """One export. `files` and `manifest` are there once it is finished, `error` if it failed."""

    state = serializers.ChoiceField(DatasetState.choices)
    files = FileOut(many=True, required=False)
    manifest = serializers.DictField(required=False)
    error = serializers.CharField(required=False)

    class Meta:
        model = DatasetVersion
        fields = ["number", "state", "rows_done", "rows_total", "created_at", "finished_at"]
        fields += ["files", "manifest", "error"]

    def to_representation(self, version: DatasetVersion) -> dict[str, Any]:
        row = super().to_representation(version)
        absent = {"files", "manifest"} if not version.manifest else set()
        absent |= {"error"} if not version.error else set()
        return {name: value for name, value in row.items() if name not in absent}


class DatasetOut(serializers.ModelSerializer[Dataset]):
    project = serializers.CharField(source="project.slug")
    queue = serializers.UUIDField(source="queue.uid", required=False, help_text="Absent: every queue of the project.")
    purpose = serializers.ChoiceField(DatasetPurpose.choices)
    formats = serializers.ListField(child=serializers.ChoiceField(DatasetFormat.choices))
    filter = serializers.DictField()
    policies = serializers.DictField(child=serializers.CharField())
    versions = VersionOut(many=True, help_text="The latest first.")

    class Meta:
        model = Dataset
        fields = [
            "uid",
            "project",
            "name",
            "purpose",
            "formats",
            "filter",
            "policies",
            "queue",
            "created_at",
            "versions",
        ]


class DatasetIn(serializers.Serializer[Any]):
    project = Text(max_length=60, help_text="The project's address.")
    name = Text(max_length=120)
    purpose = serializers.ChoiceField(DatasetPurpose.choices, default=DatasetPurpose.TRAIN)
    formats = serializers.ListField(child=serializers.ChoiceField(DatasetFormat.choices), required=False)
    format = serializers.ChoiceField(DatasetFormat.choices, required=False, help_text="Where it is only one.")
    filter = serializers.DictField(
        required=False,
        help_text="Which labels: `kinds`, `families`, `provenance`, `basis` (lists; without it, all but `reviewer`), "
        "`slices` ({name: [values]}), "
        "`pass_rate` ({model, low, high}), `quotas` ({source: share}).",
    )
    policies = serializers.DictField(
        child=serializers.CharField(),
        required=False,
        help_text="A word for `ties`, `neutral`, `duplicates` and `raters`.",
    )
    queue = serializers.UUIDField(required=False, help_text="Only the labels of this queue.")


class Datasets(AssayView):
    @extend_schema(
        operation_id="datasets_list", tags=["datasets"], parameters=[ProjectQuery], responses=DatasetOut(many=True)
    )
    def get(self, request: Request) -> Response:
        """The project's data sets. For leads and engineers."""
        project = project_for(request.user, self.asked(ProjectQuery)["project"], "export")
        return self.page(datasets_of(project), DatasetOut)

    @extend_schema(operation_id="datasets_create", tags=["datasets"], request=DatasetIn, responses={202: DatasetOut})
    def post(self, request: Request) -> Response:
        """Define a data set and start its first version. For leads and engineers."""
        asked = self.body(DatasetIn)
        asked["project"] = project_for(request.user, asked["project"], "export")
        asked["formats"] = [*asked.get("formats", ()), *filter(None, [asked.pop("format", None)])]
        if "queue" in asked:
            asked["queue"] = queue_in(asked["project"], asked["queue"])
            if asked["queue"] is None:
                raise Invalid({"queue": "This project has no such queue."})
        with transaction.atomic():
            dataset = define_dataset(actor=request.user, **asked)
            version = start_export(actor=request.user, dataset=dataset)
        run_export.delay(version.pk)
        row = datasets_of(dataset.project).get(pk=dataset.pk)
        return Response(DatasetOut(row).data, status=202, headers={"Location": f"{request.path}{dataset.uid}/"})


def _dataset(person: Any, uid: Any) -> Dataset:
    nothing = "There is no such data set, or you are not in its project."
    return allowed(person, "export", dataset_by_uid(uid), nothing, project_of=lambda dataset: dataset.project)


def _version(person: Any, uid: Any, number: int) -> DatasetVersion:
    version = version_by_number(_dataset(person, uid), number)
    if version is None:
        raise NotFound("This data set has no such version.")
    return version


class DatasetDetail(AssayView):
    @extend_schema(operation_id="datasets_read", tags=["datasets"], responses=DatasetOut)
    def get(self, request: Request, uid: str) -> Response:
        """One data set with its versions. For leads and engineers."""
        dataset = _dataset(request.user, uid)
        return Response(DatasetOut(datasets_of(dataset.project).get(pk=dataset.pk)).data)


class Versions(AssayView):
    @extend_schema(operation_id="dataset_versions_list", tags=["datasets"], responses=VersionOut(many=True))
    def get(self, request: Request, uid: str) -> Response:
        """The versions of a data set. For leads and engineers."""
        return self.page(versions_of(_dataset(request.user, uid)), VersionOut)

    @extend_schema(operation_id="dataset_versions_create", tags=["datasets"], request=None, responses={202: VersionOut})
    def post(self, request: Request, uid: str) -> Response:
        """Start the next version. For leads and engineers."""
        version = start_export(actor=request.user, dataset=_dataset(request.user, uid))
        run_export.delay(version.pk)
        headers = {"Location": f"{request.path}{version.number}/"}
        return Response(VersionOut(version).data, status=202, headers=headers)


class VersionDetail(AssayView):
    @extend_schema(operation_id="dataset_versions_read", tags=["datasets"], responses=VersionOut)
    def get(self, request: Request, uid: str, number: int) -> Response:
        """How far a version is, and its manifest. For leads and engineers."""
        return Response(VersionOut(_version(request.user, uid, number)).data)


class DifferingOut(serializers.Serializer[Any]):
    what = serializers.CharField(help_text="`added`, `removed` or `changed`.")
    why = serializers.CharField()
    item = serializers.UUIDField()
    queue = serializers.CharField()
    before = serializers.IntegerField(help_text="The revision of its label in the version before; null: not in it.")
    now = serializers.IntegerField(help_text="The revision of its label in this version; null: not in it.")


class VersionDifferenceOut(serializers.Serializer[Any]):
    """What differs from the version before; every count is 0 in a first version."""

    since = serializers.IntegerField(allow_null=True, help_text="The number of the version before.")
    added = serializers.IntegerField()
    removed = serializers.IntegerField()
    changed = serializers.IntegerField()
    why = serializers.DictField(help_text="By what happened and reason, how many.")
    items = DifferingOut(many=True, help_text="The first 200.")


class VersionDifference(AssayView):
    @extend_schema(operation_id="dataset_versions_difference", tags=["datasets"], responses=VersionDifferenceOut)
    def get(self, request: Request, uid: str, number: int) -> Response:
        """What was added, removed and changed since the version before, and why. For leads and engineers."""
        version = _version(request.user, uid, number)
        nothing: dict[str, Any] = {"since": None, "added": 0, "removed": 0, "changed": 0, "why": {}}
        found = {**(difference_of(version) or nothing), "items": differing_rows(version)}
        return Response(VersionDifferenceOut(found).data)


class VersionCancel(AssayView):
    @extend_schema(operation_id="dataset_versions_cancel", tags=["datasets"], request=None, responses=VersionOut)
    def post(self, request: Request, uid: str, number: int) -> Response:
        """Stop a version that is waiting or being written; nothing of it stays. For leads and engineers."""
        return Response(VersionOut(cancel_export(actor=request.user, version=_version(request.user, uid, number))).data)


class VersionFile(AssayView):
    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """The file comes as it is, whatever the client says it likes best."""
        return super().perform_content_negotiation(request, force=True)

    @extend_schema(
        operation_id="dataset_files_read",
        tags=["datasets"],
        responses={
            (200, "application/octet-stream"): OpenApiResponse(
                OpenApiTypes.BINARY, description="The file. X-Assay-SHA256 holds its hash, as the manifest does."
            )
        },
    )
    def get(self, request: Request, uid: str, number: int, name: str) -> HttpResponseBase:
        """A file of a finished version, or its manifest.json. For leads and engineers."""
        version = _version(request.user, uid, number)
        path = read_file(actor=request.user, version=version, name=name)
        response = FileResponse(path.open("rb"), as_attachment=True, filename=_filename(version, name))
        response["Content-Type"] = "application/octet-stream"
        told = version.manifest
        hashes = {file["name"]: file["sha256"] for file in [*told["files"], *told.get("described_in", ())]}
        if name in hashes:
            response["X-Assay-SHA256"] = hashes[name]
        return response


def _filename(version: DatasetVersion, name: str) -> str:
    """What the file is called where it is saved: the data set's name, the version, and what it is."""
    words = re.sub(r"[^\w-]+", "-", version.dataset.name).strip("-") or "dataset"
    return f"{words}-{version.number}-{name}"
