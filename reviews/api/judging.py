"""What a rater does: claim, read, keep a draft, submit, skip, give back. Nothing here tells one item from another."""

from typing import Any
from urllib.parse import quote

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.actions.correcting import correct
from reviews.actions.dealing import (
    NothingToDeal,
    claim_in_drawn_time,
    ended_sentence,
    own_assignment,
    release,
    renew,
    skip,
)
from reviews.actions.judging import is_correctable, save_draft, submit
from reviews.api.base import AssayView, Text, Whole, YesNo, any_queue_for
from reviews.api.rubrics import CriterionOut, NoteOut, StepLabels
from reviews.api.steps import SpentOut, StepsQuery, StepWindow
from reviews.enums import (
    AssignmentState,
    CorrectionKind,
    CorrectionRule,
    FailureCause,
    FailureWho,
    ItemKind,
    SkipReason,
    TaskPart,
)
from reviews.errors import Conflict, NotFound
from reviews.models import Assignment, Draft, Judgment
from reviews.queries.blind_item import blind_item, own_judgment, steps_of
from reviews.queries.judging import draft_of
from reviews.queries.masking import masked_payload
from reviews.queries.payloads import payload_of

# The states in which a rater can still read and answer; a lease that ran out may yet be taken up again.
IN_HAND = (AssignmentState.LEASED, AssignmentState.EXPIRED)
READABLE = (*IN_HAND, AssignmentState.SUBMITTED, AssignmentState.SET_ASIDE)


# --- The payload ------------------------------------------------------------------------------------------------------
class FailureOut(serializers.Serializer[Any]):
    """The first decisive step of a failed run."""

    step = serializers.IntegerField(min_value=1)
    who = serializers.ChoiceField(FailureWho.choices)
    cause = serializers.ChoiceField(FailureCause.choices)
    note = serializers.CharField(required=False, allow_blank=True)


class EvidenceOut(serializers.Serializer[Any]):
    """A step, a quotation from a step's field or from a part of the task, or a line of the policy."""

    criterion = serializers.CharField(allow_null=True, help_text="null: it shows the failure point, or is only a mark.")
    candidate = serializers.IntegerField(required=False, help_text="Its place, from 1, where there are several.")
    step = serializers.IntegerField(required=False)
    field = serializers.CharField(required=False)
    start = serializers.IntegerField(required=False)
    end = serializers.IntegerField(required=False)
    quote = serializers.CharField(required=False)
    policy_line = serializers.IntegerField(required=False)
    part = serializers.ChoiceField(TaskPart.choices, required=False)
    mark = serializers.CharField(required=False, help_text="One of the rubric's marks.")


class ValuesOut(serializers.Serializer[Any]):
    """Gates and criteria of the item, or of one candidate. Criteria are absent unless every gate passes."""

    gates = serializers.DictField(child=serializers.ChoiceField(["pass", "fail", "unsure"]))
    criteria = serializers.DictField(required=False, help_text="By the criterion's kind: see docs/api.md.")
    notes = serializers.DictField(child=serializers.CharField(), required=False)
    failure = FailureOut(required=False, help_text="Needed when a gate fails.")


class WrittenStep(serializers.Serializer[Any]):
    """A message, or a call with, where you say so, what the tool would have answered."""

    text = serializers.CharField(required=False)
    reasoning = serializers.CharField(required=False)
    tool = serializers.CharField(required=False)
    arguments = serializers.DictField(required=False, help_text="Checked against what the tool takes.")
    result = serializers.CharField(required=False)


class CorrectionOut(serializers.Serializer[Any]):
    """A step of the agent rewritten, or another way on from it."""

    step = serializers.IntegerField(min_value=1)
    kind = serializers.ChoiceField(CorrectionKind.choices)
    steps = WrittenStep(many=True)
    reason = serializers.CharField()


class Payload(ValuesOut):
    """A judgment. The rubric says which gates, criteria and step labels there are."""

    candidates = ValuesOut(many=True, required=False, help_text="In the order in which you were given them.")
    steps = serializers.DictField(child=serializers.IntegerField(), required=False, help_text="Labels of steps.")
    corrections = CorrectionOut(many=True, required=False, help_text="What the agent should have done.")
    evidence = EvidenceOut(many=True, required=False)
    rationale = serializers.CharField(required=False, allow_blank=True)
    confidence = serializers.IntegerField(min_value=1, max_value=3)


class JudgmentOut(Payload):
    """The receipt: what stands, word for word."""

    uid = serializers.UUIDField()
    assignment = serializers.UUIDField()
    revision = serializers.IntegerField()
    submitted_at = serializers.DateTimeField()


# --- Assignments ------------------------------------------------------------------------------------------------------
class PolicyLineOut(serializers.Serializer[Any]):
    number = serializers.IntegerField(allow_null=True, help_text="null: a heading, which cannot be cited.")
    text = serializers.CharField()


class PolicyOut(serializers.Serializer[Any]):
    title = serializers.CharField()
    lines = PolicyLineOut(many=True)


class GuidelineText(serializers.Serializer[Any]):
    name = serializers.CharField()
    version = serializers.IntegerField()
    text = serializers.CharField()
    notes = NoteOut(many=True)


class RubricText(serializers.Serializer[Any]):
    name = serializers.CharField()
    version = serializers.IntegerField()
    item_kind = serializers.ChoiceField(ItemKind.choices)
    unsure_allowed = serializers.BooleanField()
    correction = serializers.ChoiceField(CorrectionRule.choices)
    audits = serializers.BooleanField()
    step_labels = StepLabels(required=False)
    criteria = CriterionOut(many=True)


class BlindCandidate(serializers.Serializer[Any]):
    """One of the runs that are compared, with the first window of its steps."""

    shared = serializers.IntegerField(help_text="How many first steps are the same in all candidates.")
    spent = SpentOut(required=False)
    steps = StepWindow()


class PrelabelOut(serializers.Serializer[Any]):
    """What a grader said of the run before you were dealt it."""

    grader = serializers.CharField()
    value = serializers.JSONField()
    explanation = serializers.CharField(allow_blank=True)


class BlindItem(serializers.Serializer[Any]):
    title = serializers.CharField()
    request = serializers.CharField()
    requester = serializers.DictField(child=serializers.CharField())
    policy = PolicyOut()
    versions = serializers.DictField(child=serializers.CharField())
    tools = serializers.ListField(child=serializers.DictField())
    guideline = GuidelineText()
    rubric = RubricText()
    spent = SpentOut(required=False, help_text="The whole run, where its source says it.")
    prelabel = PrelabelOut(many=True, required=False, help_text="Where the queue shows it: a machine's, no person's.")
    steps = StepWindow(required=False, help_text="Of one run; a comparison has candidates instead.")
    candidates = BlindCandidate(many=True, required=False, help_text="In your order: a judgment names them by place.")


class DraftOut(serializers.Serializer[Any]):
    version = serializers.IntegerField(help_text="0 where nothing has been saved.")
    data = serializers.DictField()


class LeaseOut(serializers.Serializer[Any]):
    uid = serializers.UUIDField()
    queue = serializers.UUIDField()
    state = serializers.ChoiceField(AssignmentState.choices)
    expires_at = serializers.DateTimeField()


class RenewedOut(LeaseOut):
    active_seconds = serializers.IntegerField(help_text="How long you worked on this item so far.")


class AssignmentOut(LeaseOut):
    """`item` and `draft` are there while you can still answer, or correct your answer."""

    item = BlindItem(required=False)
    draft = DraftOut(required=False)


def state_of(assignment: Assignment) -> dict[str, Any]:
    return {
        "uid": assignment.uid,
        "queue": assignment.queue.uid,
        # Whether a judgment counts is nothing that its rater learns.
        "state": AssignmentState.SUBMITTED if assignment.state == AssignmentState.SET_ASIDE else assignment.state,
        "expires_at": assignment.expires_at,
    }


def whole(assignment: Assignment) -> dict[str, Any]:
    if assignment.state not in IN_HAND and not is_correctable(assignment):
        return state_of(assignment)
    data, version = draft_of(assignment)
    return {**state_of(assignment), "item": blind_item(assignment), "draft": {"version": version, "data": data}}


class Claim(AssayView):
    @extend_schema(
        operation_id="queues_claim",
        tags=["judging"],
        request=None,
        responses={
            201: AssignmentOut,
            204: OpenApiResponse(
                description="There is nothing for you now; the header X-Assay-Reason says why, percent-encoded."
            ),
        },
    )
    def post(self, request: Request, uid: str) -> Response:
        """Take your next item, or get the one you hold. For experts and leads."""
        queue = any_queue_for(request.user, uid, "judge")
        try:
            assignment = claim_in_drawn_time(actor=request.user, queue=queue)
        except NothingToDeal as nothing:
            return Response(status=204, headers={"X-Assay-Reason": quote(nothing.message)})
        return Response(whole(own_assignment(actor=request.user, uid=assignment.uid)), status=201)


class AssignmentDetail(AssayView):
    @extend_schema(operation_id="assignments_read", tags=["judging"], responses=AssignmentOut)
    def get(self, request: Request, uid: str) -> Response:
        """Your assignment with the item to judge."""
        return Response(whole(own_assignment(actor=request.user, uid=uid)))


class CandidateSteps(StepsQuery):
    def get_fields(self) -> dict[str, Any]:
        place = serializers.IntegerField(
            required=False, min_value=1, max_value=100, help_text="Of a comparison: whose steps, by place."
        )
        return super().get_fields() | {"candidate": place}


class AssignmentSteps(AssayView):
    @extend_schema(
        operation_id="assignments_steps", tags=["judging"], parameters=[CandidateSteps], responses=StepWindow
    )
    def get(self, request: Request, uid: str) -> Response:
        """The run, a window of steps at a time, while you judge it and once you have."""
        asked = self.asked(CandidateSteps)
        assignment = own_assignment(actor=request.user, uid=uid)
        if assignment.state not in READABLE:
            raise Conflict(ended_sentence(assignment))
        return Response(steps_of(assignment, first=asked["from"], candidate=asked.get("candidate")))


def worked_field() -> Whole:
    """Never more than has passed by our clock; left out, the time since the last sign counts up to the idle limit."""
    return Whole(
        required=False,
        min_value=0,
        max_value=24 * 3600,
        source="worked",
        help_text="Seconds you worked since your last sign of life. Without it, the time since then, up to the limit.",
    )


# --- Drafts and judgments ---------------------------------------------------------------------------------------------
class DraftIn(serializers.Serializer[Any]):
    version = Whole(min_value=0, max_value=2**31 - 2, help_text="The version you last saw; 0 for the first save.")
    data = serializers.DictField(help_text="What a judgment holds, as far as it has grown.")
    correcting = YesNo(required=False, help_text="Whether it will correct a judgment that you submitted.")
    active_seconds = worked_field()


class DraftDetail(AssayView):
    @extend_schema(operation_id="draft_read", tags=["judging"], responses=DraftOut)
    def get(self, request: Request, uid: str) -> Response:
        """Your draft."""
        data, version = draft_of(own_assignment(actor=request.user, uid=uid))
        return Response({"version": version, "data": data})

    @extend_schema(operation_id="draft_save", tags=["judging"], request=DraftIn, responses=DraftOut)
    def put(self, request: Request, uid: str) -> Response:
        """Save your draft. 409 when somewhere else a later one was saved: `current` holds theirs and yours."""
        mine = self.body(DraftIn)
        try:
            draft = save_draft(actor=request.user, uid=uid, **mine)
        except Conflict as conflict:
            if isinstance(conflict.current, Draft):
                theirs = {"version": conflict.current.version, "data": conflict.current.data}
                conflict.current = {"theirs": theirs, "yours": {"version": mine["version"], "data": mine["data"]}}
            raise
        return Response({"version": draft.version, "data": draft.data})


def receipt(judgment: Judgment) -> dict[str, Any]:
    return {
        "uid": judgment.uid,
        "assignment": judgment.assignment.uid,
        "revision": judgment.revision,
        "submitted_at": judgment.submitted_at,
        **masked_payload(payload_of(judgment), judgment.assignment),
    }


KEY = OpenApiParameter(
    "Idempotency-Key",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    required=True,
    description="Any text of 1 to 80 characters. Sending again what may not have arrived gives the same receipt.",
)


class Revision(serializers.Serializer[Any]):
    revision = serializers.IntegerField(
        min_value=1, max_value=32_000, help_text="The revision of your judgment that you saw last."
    )


class JudgmentDetail(AssayView):
    @extend_schema(operation_id="judgment_read", tags=["judging"], responses=JudgmentOut)
    def get(self, request: Request, uid: str) -> Response:
        """What you submitted."""
        judgment = own_judgment(own_assignment(actor=request.user, uid=uid))
        if judgment is None:
            raise NotFound("You have not submitted this item.")
        return Response(receipt(judgment))

    @extend_schema(
        operation_id="judgment_submit",
        tags=["judging"],
        parameters=[KEY],
        request=Payload,
        responses={201: JudgmentOut, 200: OpenApiResponse(JudgmentOut, description="It had been submitted before.")},
    )
    def post(self, request: Request, uid: str) -> Response:
        """Submit your judgment."""
        key = request.headers.get("Idempotency-Key", "")
        submitted = submit(actor=request.user, uid=uid, payload=request.data, idempotency_key=key)
        return Response(receipt(submitted.judgment), status=201 if submitted.created else 200)

    @extend_schema(
        operation_id="judgment_correct",
        tags=["judging"],
        parameters=[KEY, Revision],
        request=Payload,
        responses={201: JudgmentOut, 200: OpenApiResponse(JudgmentOut, description="It had been corrected so before.")},
    )
    def put(self, request: Request, uid: str) -> Response:
        """Correct your judgment as a new revision, for a day. 409 when you have corrected it elsewhere since."""
        key, seen = request.headers.get("Idempotency-Key", ""), self.asked(Revision)["revision"]
        try:
            corrected = correct(
                actor=request.user, uid=uid, payload=request.data, idempotency_key=key, seen_revision=seen
            )
        except Conflict as conflict:
            if isinstance(conflict.current, Judgment):
                conflict.current = {"theirs": receipt(conflict.current), "yours": request.data}
            raise
        return Response(receipt(corrected.judgment), status=201 if corrected.created else 200)


# --- Other ends -------------------------------------------------------------------------------------------------------
class SkipIn(serializers.Serializer[Any]):
    reason = serializers.ChoiceField(SkipReason.choices)
    note = Text(required=False, max_length=2000, help_text="Needed where the reason is “other”.")


class Skip(AssayView):
    @extend_schema(operation_id="assignments_skip", tags=["judging"], request=SkipIn, responses=LeaseOut)
    def post(self, request: Request, uid: str) -> Response:
        """Pass the item on for good, with a reason."""
        return Response(state_of(skip(actor=request.user, uid=uid, **self.body(SkipIn))))


class Release(AssayView):
    @extend_schema(operation_id="assignments_release", tags=["judging"], request=None, responses=LeaseOut)
    def post(self, request: Request, uid: str) -> Response:
        """Give the item back; it may come to you again, with your draft."""
        return Response(state_of(release(actor=request.user, uid=uid)))


class RenewIn(serializers.Serializer[Any]):
    active_seconds = worked_field()


class Renew(AssayView):
    @extend_schema(operation_id="assignments_renew", tags=["judging"], request=RenewIn, responses=RenewedOut)
    def post(self, request: Request, uid: str) -> Response:
        """A sign of life: your lease runs on from now, and what you worked is counted."""
        renewed = renew(actor=request.user, uid=uid, **self.body(RenewIn))
        return Response({**state_of(renewed), "active_seconds": renewed.active_seconds})
