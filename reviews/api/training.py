"""Practice, qualifications and norming sessions. Items of theirs are claimed and judged as any other."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.actions import norming, qualifying
from reviews.actions.dealing import own_assignment
from reviews.actions.training import MOST_ITEMS, Pick, open_training, practise_again
from reviews.api.base import AssayView, Text, Whole, YesNo, project_for, queue_for
from reviews.enums import NormingState, Purpose, QualificationOutcome
from reviews.errors import Invalid, NotFound
from reviews.models import NormingSession, Queue
from reviews.queries.norming import SessionPage, is_in, session_by_uid, session_page
from reviews.queries.training import (
    TrainingPage,
    feedback_of,
    fit_to_train,
    training_by_uid,
    training_page,
    training_rows,
)
from reviews.rules import can, check


def training_for(person: Any, uid: Any, permission: str) -> Queue:
    """A queue that is not for work, if the person may do this in its project."""
    nothing = "There is no such practice set, qualification or session, or you are not in its project."
    queue = training_by_uid(uid)
    if queue is None:
        raise NotFound(nothing)
    if not can(person, "view_project", queue.project):
        raise NotFound(nothing)
    check(person, permission, queue.project)
    return queue


def session_for(person: Any, uid: Any) -> NormingSession:
    """The session, for its members and the project's leads; for anybody else there is none."""
    found = session_by_uid(uid)
    if found is None or not can(person, "view_project", found.queue.project):
        raise NotFound("There is no such norming session, or you are not in its project.")
    check(person, "judge", found.queue.project)
    if not is_in(found, person):
        check(person, "manage_queue", found.queue.project)
    return found


# --- What a rater is shown --------------------------------------------------------------------------------------------
class LineOut(serializers.Serializer[Any]):
    """One criterion. `said` is absent where the rater was not asked."""

    title = serializers.CharField()
    said = serializers.CharField(required=False)
    stands = serializers.CharField()
    right = serializers.BooleanField()


class FeedbackOut(serializers.Serializer[Any]):
    right = serializers.BooleanField(help_text="Whether all of it is, a level more or less aside.")
    lines = LineOut(many=True)
    rationale = serializers.CharField()
    guideline_line = serializers.CharField(help_text="The line that decides it, in words, or empty.")
    policy_line = serializers.CharField()
    done = serializers.IntegerField()
    total = serializers.IntegerField()


class Feedback(AssayView):
    @extend_schema(operation_id="assignments_feedback", tags=["training"], responses=FeedbackOut)
    def get(self, request: Request, uid: str) -> Response:
        """What you said of a practice item beside what stands. 404 for anything else."""
        shown = feedback_of(own_assignment(actor=request.user, uid=uid))
        if shown is None:
            raise NotFound("There is nothing to show of this item: it is no practice item that you have judged.")
        lines = [
            {"title": line.title, "stands": line.stands.words, "right": line.right}
            | ({"said": line.said.words} if line.said else {})
            for line in shown.compared.lines
        ]
        rest = {name: getattr(shown, name) for name in ("rationale", "guideline_line", "policy_line", "done", "total")}
        return Response({"right": shown.compared.right, "lines": lines, **rest})


class Repeated(serializers.Serializer[Any]):
    items = serializers.IntegerField(help_text="How many come before you once more.")


class PracticeAgain(AssayView):
    @extend_schema(operation_id="practice_again", tags=["training"], request=None, responses=Repeated)
    def post(self, request: Request, uid: str) -> Response:
        """Begin a practice set once more. What you said before stays."""
        queue = training_for(request.user, uid, "judge")
        return Response({"items": practise_again(actor=request.user, queue=queue)})


# --- Sets -------------------------------------------------------------------------------------------------------------
class TrainingOut(serializers.ModelSerializer[Queue]):
    """Claim its items at `queues/{uid}/claim/`. `mark` is absent where there is none."""

    purpose = serializers.ChoiceField(Purpose.choices)
    mark = serializers.FloatField(required=False)

    class Meta:
        model = Queue
        fields = ["uid", "name", "purpose", "state", "mark"]

    def to_representation(self, queue: Queue) -> dict[str, Any]:
        row = super().to_representation(queue)
        return {name: value for name, value in row.items() if name != "mark" or value is not None}


class PickIn(serializers.Serializer[Any]):
    label = serializers.UUIDField(help_text="A label that stands, of an item in no other set.")
    guideline_line = Whole(required=False, min_value=1, max_value=30_000)
    policy_line = Whole(required=False, min_value=1, max_value=30_000)
    why = Text(required=False, max_length=1000)


class TrainingIn(serializers.Serializer[Any]):
    queue = serializers.UUIDField(help_text="The queue whose rubric and guideline it takes.")
    purpose = serializers.ChoiceField([Purpose.PRACTICE, Purpose.QUALIFICATION])
    name = Text(max_length=120)
    picks = serializers.ListField(child=PickIn(), min_length=1, max_length=MOST_ITEMS)
    mark = serializers.FloatField(required=False, help_text="Of a qualification: the share that must be right.")


class ProjectTraining(AssayView):
    @extend_schema(operation_id="training_list", tags=["training"], responses=TrainingOut(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """Every practice set, qualification and norming session. For leads."""
        project = project_for(request.user, slug, "manage_queue")
        return Response(TrainingOut(training_rows(project), many=True).data)

    @extend_schema(operation_id="training_open", tags=["training"], request=TrainingIn, responses={201: TrainingOut})
    def post(self, request: Request, slug: str) -> Response:
        """Open a practice set or a qualification. For leads."""
        project = project_for(request.user, slug, "manage_queue")
        asked = self.body(TrainingIn)
        queue = _queue_of(request.user, project, asked.pop("queue"))
        wanted = asked.pop("picks")
        labels = {label.uid: label for label in fit_to_train(queue).filter(uid__in=[pick["label"] for pick in wanted])}
        errors = {
            f"picks.{n}": "There is no such label to train with: it must stand, and its item be in no other set."
            for n, pick in enumerate(wanted)
            if pick["label"] not in labels
        }
        if errors:
            raise Invalid(errors)
        picks = [Pick(**{**pick, "label": labels[pick["label"]]}) for pick in wanted]
        made = open_training(actor=request.user, queue=queue, picks=picks, **asked)
        return Response(TrainingOut(made).data, status=201)


def _queue_of(person: Any, project: Any, uid: Any) -> Queue:
    try:
        queue = queue_for(person, uid, "manage_queue")
    except NotFound:
        queue = None
    if queue is None or queue.project_id != project.pk:
        raise Invalid({"queue": "This project has no such queue."})
    return queue


class ResultOut(serializers.Serializer[Any]):
    outcome = serializers.ChoiceField(QualificationOutcome.choices)
    n = serializers.IntegerField()
    right = serializers.IntegerField()
    lower = serializers.FloatField()
    upper = serializers.FloatField()


class LearnerOut(serializers.Serializer[Any]):
    rater = serializers.IntegerField(help_text="The id by which it can be waived.")
    name = serializers.CharField()
    done = serializers.IntegerField()
    right = serializers.IntegerField()
    differs = serializers.DictField(child=serializers.IntegerField(), help_text="By criterion, how often.")
    result = ResultOut(required=False, help_text="Of a qualification, once it was looked at.")


class TrainingPageOut(TrainingOut):
    items = serializers.IntegerField()
    learners = LearnerOut(many=True)

    class Meta(TrainingOut.Meta):
        fields = [*TrainingOut.Meta.fields, "items", "learners"]


def _page_out(page: TrainingPage) -> dict[str, Any]:
    learners = []
    for one in page.learners:
        row = {"rater": one.user.pk, "name": str(one.user), "done": one.done, "right": one.right}
        row["differs"] = dict(one.differs)
        if one.result:
            row["result"] = ResultOut(one.result).data
        learners.append(row)
    return {**TrainingOut(page.queue).data, "items": page.item_count, "learners": learners}


class TrainingDetail(AssayView):
    @extend_schema(operation_id="training_read", tags=["training"], responses=TrainingPageOut)
    def get(self, request: Request, uid: str) -> Response:
        """How everybody did, on their first judgment of each item. For leads; a session's votes are at `norming/`."""
        queue = training_for(request.user, uid, "manage_queue")
        if queue.purpose == Purpose.NORMING:
            raise NotFound("This is a norming session: see norming/{uid}/.")
        return Response(_page_out(training_page(queue)))


class WaiverIn(serializers.Serializer[Any]):
    rater = Whole(min_value=1, max_value=2**31 - 1)
    why = Text(max_length=500)


class Waiver(AssayView):
    @extend_schema(operation_id="qualification_waive", tags=["training"], request=WaiverIn, responses=ResultOut)
    def post(self, request: Request, uid: str) -> Response:
        """Let somebody in who has not passed. For leads."""
        queue, asked = training_for(request.user, uid, "manage_queue"), self.body(WaiverIn)
        result = qualifying.waive(actor=request.user, queue=queue, rater_id=asked["rater"], why=asked["why"])
        return Response(ResultOut(result).data)


class RequiredIn(serializers.Serializer[Any]):
    qualification = serializers.UUIDField(allow_null=True, help_text="null: none any longer.")


class RequiredOut(serializers.Serializer[Any]):
    qualification = serializers.UUIDField(allow_null=True)


class Required(AssayView):
    @extend_schema(operation_id="queue_require", tags=["training"], request=RequiredIn, responses=RequiredOut)
    def put(self, request: Request, uid: str) -> Response:
        """Have a queue ask for a qualification. For leads."""
        queue, wanted = queue_for(request.user, uid, "manage_queue"), self.body(RequiredIn)["qualification"]
        found = training_by_uid(wanted) if wanted else None
        if wanted and found is None:
            raise Invalid({"qualification": "Choose a qualification of this project, or none."})
        qualifying.require_qualification(actor=request.user, queue=queue, qualification=found)
        return Response({"qualification": wanted})


# --- Norming ----------------------------------------------------------------------------------------------------------
class NormingIn(serializers.Serializer[Any]):
    name = Text(max_length=120)
    items = serializers.ListField(child=serializers.UUIDField(), max_length=norming.MOST_ITEMS)
    members = serializers.ListField(child=Whole(min_value=1, max_value=2**31 - 1), max_length=100)
    names_shown = YesNo(required=False)


class VoteOut(serializers.Serializer[Any]):
    """In words; `before` or `after` is absent where nothing was said."""

    member = serializers.CharField(help_text="A letter, or a name where the lead chose names.")
    criterion = serializers.CharField()
    item = serializers.UUIDField()
    before = serializers.CharField(required=False)
    after = serializers.CharField(required=False)


class NormingCommentOut(serializers.Serializer[Any]):
    item = serializers.UUIDField()
    by = serializers.CharField()
    criterion = serializers.CharField(required=False)
    text = serializers.CharField()


class NormingAgreement(serializers.Serializer[Any]):
    """Statistics as everywhere, with n, interval and method, or the reason why there is none."""

    criterion = serializers.CharField()
    percent_before = serializers.DictField()
    percent_after = serializers.DictField()
    alpha_before = serializers.DictField()
    alpha_after = serializers.DictField()
    changed = serializers.IntegerField()


class NormingOut(serializers.Serializer[Any]):
    """`votes`, `agreement` and `comments` are absent until the reveal, whoever asks."""

    uid = serializers.UUIDField()
    name = serializers.CharField()
    state = serializers.ChoiceField(NormingState.choices)
    votes_in = serializers.IntegerField()
    votes_wanted = serializers.IntegerField()
    change = serializers.CharField()
    votes = VoteOut(many=True, required=False)
    agreement = NormingAgreement(many=True, required=False)
    comments = NormingCommentOut(many=True, required=False)


def _session_out(page: SessionPage) -> dict[str, Any]:
    session = page.session
    found = {
        "uid": session.queue.uid,
        "name": session.queue.name,
        "state": session.state,
        "votes_in": page.votes_in,
        "votes_wanted": page.votes_wanted,
        "change": session.change,
    }
    if not page.items:
        return found
    return found | {
        "votes": [
            {"member": vote.voter.shown, "criterion": row.title, "item": item.row.uid}
            | ({"before": vote.before.words} if vote.before else {})
            | ({"after": vote.after.words} if vote.after else {})
            for item in page.items
            for row in item.rows
            for vote in row.votes
        ],
        "agreement": [
            {
                "criterion": one.key,
                "percent_before": one.before[0].as_dict(),
                "percent_after": one.after[0].as_dict(),
                "alpha_before": one.before[1].as_dict(),
                "alpha_after": one.after[1].as_dict(),
                "changed": one.changed,
            }
            for one in page.agreement
        ],
        "comments": [
            {"item": item.row.uid, "by": who, "text": comment.text}
            | ({"criterion": comment.criterion.key} if comment.criterion else {})
            for item in page.items
            for comment, who in [*item.comments, *(pair for row in item.rows for pair in row.comments)]
        ],
    }


class QueueNorming(AssayView):
    @extend_schema(operation_id="norming_open", tags=["training"], request=NormingIn, responses={201: NormingOut})
    def post(self, request: Request, uid: str) -> Response:
        """Open a norming session over items of a queue. For leads."""
        queue = queue_for(request.user, uid, "manage_queue")
        made = norming.open_session(actor=request.user, queue=queue, **self.body(NormingIn))
        return Response(_session_out(session_page(made, reader=request.user)), status=201)


class Norming(AssayView):
    @extend_schema(operation_id="norming_read", tags=["training"], responses=NormingOut)
    def get(self, request: Request, uid: str) -> Response:
        """A session. For its members and leads; votes of others only after the reveal."""
        return Response(_session_out(session_page(session_for(request.user, uid), reader=request.user)))


class NormingReveal(AssayView):
    @extend_schema(operation_id="norming_reveal", tags=["training"], request=None, responses=NormingOut)
    def post(self, request: Request, uid: str) -> Response:
        """Show the votes to everybody of the session. For leads."""
        found = norming.reveal(actor=request.user, session=session_for(request.user, uid))
        return Response(_session_out(session_page(found, reader=request.user)))


class CloseIn(serializers.Serializer[Any]):
    change = Text(required=False, max_length=norming.CHANGE_LENGTH, help_text="What changes in the guideline.")


class NormingClose(AssayView):
    @extend_schema(operation_id="norming_close", tags=["training"], request=CloseIn, responses=NormingOut)
    def post(self, request: Request, uid: str) -> Response:
        """End the session. For leads."""
        found = session_for(request.user, uid)
        found = norming.close(actor=request.user, session=found, **self.body(CloseIn))
        return Response(_session_out(session_page(found, reader=request.user)))


class DiscussIn(serializers.Serializer[Any]):
    item = serializers.UUIDField()
    criterion = Text(required=False, max_length=40)
    text = Text(max_length=norming.COMMENT_LENGTH)


class NormingDiscuss(AssayView):
    @extend_schema(operation_id="norming_discuss", tags=["training"], request=DiscussIn, responses={201: NormingOut})
    def post(self, request: Request, uid: str) -> Response:
        """Say something about an item or one of its criteria. For members and leads, after the reveal."""
        found = session_for(request.user, uid)
        norming.discuss(actor=request.user, session=found, **self.body(DiscussIn))
        return Response(_session_out(session_page(found, reader=request.user)), status=201)
