"""Reviewers: compile one, follow it, read its proof, sign it, and take it elsewhere."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from goldsets.actions.bundling import read_bundle
from goldsets.actions.compiling import cancel_compile, sign_reviewer, start_compile
from goldsets.enums import ReviewerState, Rung
from goldsets.models import Reviewer
from goldsets.queries.reviewers import decision_of, judge_version, reviewer_by_uid, reviewers_of_project
from goldsets.tasks import run_compile
from reviews.api.base import AssayView, ProjectQuery, Text, Whole, allowed, project_for, queue_for
from reviews.errors import Invalid


class ReviewerRow(serializers.ModelSerializer[Reviewer]):
    """One compile. `missing` is there once it is refused, `signed_by` once it is signed, `error` if it failed."""

    queue = serializers.UUIDField(source="queue.uid")
    criterion = serializers.CharField(source="criterion.key", default="", help_text="Empty: every gate.")
    decision = serializers.SerializerMethodField(help_text="What it decides, in words.")
    rung = serializers.ChoiceField(Rung.choices)
    state = serializers.ChoiceField(ReviewerState.choices)
    rubric = serializers.CharField()
    guideline = serializers.CharField()
    missing = serializers.ListField(source="assurance.missing", child=serializers.CharField(), required=False)
    created_by = serializers.CharField()
    signed_by = serializers.CharField(required=False)

    class Meta:
        model = Reviewer
        fields = ["uid", "number", "queue", "criterion", "at_least", "decision", "rung", "state", "stage"]
        fields += ["labels_done", "labels_total", "rubric", "guideline", "missing", "error", "created_by", "created_at"]
        fields += ["finished_at", "signed_by", "signed_at", "expired_at", "expired_because"]

    def get_decision(self, reviewer: Reviewer) -> str:
        decision = decision_of(reviewer)
        return f"{decision.title}: {decision.words}"

    def to_representation(self, reviewer: Reviewer) -> dict[str, Any]:
        row = super().to_representation(reviewer)
        absent = {name for name in ("error", "stage", "expired_because") if not row.get(name)}
        absent |= {
            name for name in ("missing", "signed_by", "signed_at", "expired_at") if row.get(name) in (None, "None")
        }
        if reviewer.assurance is None or reviewer.assurance["holds"]:
            absent |= {"missing"}
        return {name: value for name, value in row.items() if name not in absent}


class ReviewerOut(ReviewerRow):
    """With the proof: what was asked for, what held, and all that it came from. `artefact` is what judges."""

    demands = serializers.DictField()
    rules = serializers.ListField(child=serializers.DictField())
    families = serializers.DictField(child=serializers.ListField(child=serializers.CharField()))
    assurance = serializers.DictField(allow_null=True)
    origins = serializers.DictField()

    class Meta(ReviewerRow.Meta):
        fields = [*ReviewerRow.Meta.fields, "demands", "rules", "families", "assurance", "origins"]
        fields += ["artefact_sha256", "origins_sha256"]


class CompileIn(serializers.Serializer[Any]):
    queue = serializers.UUIDField()
    criterion = Text(max_length=40, required=False, help_text="Its key. Absent: whether every gate passes.")
    at_least = Whole(required=False, help_text="Of levels the lowest that passes, of options the one that does.")
    rung = serializers.ChoiceField(Rung.choices, default=Rung.CLASSIFIER)
    judge = serializers.UUIDField(required=False, help_text="Of the rung of the judge: the version of a judging model.")
    budget = serializers.DecimalField(
        max_digits=12,
        decimal_places=6,
        min_value=0,
        required=False,
        help_text="US dollars for asking the judge about failed runs that are dressed up.",
    )
    rules = serializers.ListField(
        child=serializers.DictField(),
        required=False,
        max_length=100,
        help_text="In order, each with `name`, `verdict` (1 or 0), `contains` and `at_least` ({measure: number}).",
    )


def _reviewer(person: Any, uid: Any, permission: str = "view_reviewers") -> Reviewer:
    nothing = "There is no such reviewer, or you are not in its project."
    return allowed(person, permission, reviewer_by_uid(uid), nothing, project_of=lambda found: found.project)


class Reviewers(AssayView):
    @extend_schema(
        operation_id="reviewers_list", tags=["reviewers"], parameters=[ProjectQuery], responses=ReviewerRow(many=True)
    )
    def get(self, request: Request) -> Response:
        """The project's reviewers, the latest first. For leads, engineers and admins."""
        project = project_for(request.user, self.asked(ProjectQuery)["project"], "view_reviewers")
        return self.page(reviewers_of_project(project), ReviewerRow)

    @extend_schema(
        operation_id="reviewers_compile", tags=["reviewers"], request=CompileIn, responses={202: ReviewerOut}
    )
    def post(self, request: Request) -> Response:
        """Freeze the queue's labels and compile a reviewer from them. For leads and engineers."""
        asked = self.body(CompileIn)
        asked["queue"] = queue_for(request.user, asked["queue"], "compile")
        if "judge" in asked:
            asked["judge"] = judge_version(asked["queue"].project, asked["judge"])
            if asked["judge"] is None:
                raise Invalid({"judge": "This project has no such version of a judging model."})
        made = start_compile(actor=request.user, **asked)
        run_compile.delay(made.pk)
        headers = {"Location": f"{request.path}{made.uid}/"}
        return Response(ReviewerOut(reviewer_by_uid(made.uid)).data, status=202, headers=headers)


class ReviewerDetail(AssayView):
    @extend_schema(operation_id="reviewers_read", tags=["reviewers"], responses=ReviewerOut)
    def get(self, request: Request, uid: str) -> Response:
        """How far it is, and its proof. For leads, engineers and admins."""
        return Response(ReviewerOut(_reviewer(request.user, uid)).data)


class ReviewerCancel(AssayView):
    @extend_schema(operation_id="reviewers_cancel", tags=["reviewers"], request=None, responses=ReviewerOut)
    def post(self, request: Request, uid: str) -> Response:
        """Stop one that waits or is being compiled. For leads and engineers."""
        return Response(ReviewerOut(cancel_compile(actor=request.user, reviewer=_reviewer(request.user, uid))).data)


class ReviewerSign(AssayView):
    @extend_schema(operation_id="reviewers_sign", tags=["reviewers"], request=None, responses=ReviewerOut)
    def post(self, request: Request, uid: str) -> Response:
        """Sign a proven reviewer that somebody else compiled. For leads and admins."""
        return Response(ReviewerOut(sign_reviewer(actor=request.user, reviewer=_reviewer(request.user, uid))).data)


class ReviewerBundle(AssayView):
    @extend_schema(
        operation_id="reviewers_bundle",
        tags=["reviewers"],
        responses={(200, "application/zip"): OpenApiResponse(OpenApiTypes.BINARY)},
    )
    def get(self, request: Request, uid: str) -> HttpResponse:
        """The zip with which a signed one runs elsewhere; the audit log notes who took it. For leads and engineers."""
        reviewer = _reviewer(request.user, uid)
        return zipped(read_bundle(actor=request.user, reviewer=reviewer), reviewer)


def zipped(data: bytes, reviewer: Reviewer) -> HttpResponse:
    """The bundle as a download."""
    name = f"{reviewer.queue.slug}-{reviewer.number}.zip"
    return HttpResponse(
        data, content_type="application/zip", headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )
