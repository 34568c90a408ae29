"""Questions from raters and answers from leads, notes on guidelines, own judgments and what leads decided otherwise."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.actions.dealing import own_assignment
from reviews.actions.questions import answer, ask, publish, set_digest
from reviews.api.base import AssayView, ProjectQuery, Text, Whole, YesNo, project_for
from reviews.api.judging import JudgmentOut, receipt
from reviews.api.rubrics import NoteOut
from reviews.enums import NotePlace, QuestionAbout, QuestionState
from reviews.errors import Forbidden
from reviews.models import Judgment, Question
from reviews.queries.digest import Decided, digest_of
from reviews.queries.history import own_judgments
from reviews.queries.payloads import order_of
from reviews.queries.questions import line_of, own_questions, questions_for


# --- What a rater asks ------------------------------------------------------------------------------------------------
class QuestionOut(serializers.ModelSerializer[Question]):
    """`place` is the number of the step or line; `answer` is absent until there is one."""

    assignment = serializers.UUIDField(source="assignment.uid")
    candidate = serializers.IntegerField(required=False, help_text="Whose step, by its place on your screen.")
    answer = serializers.CharField(required=False)

    class Meta:
        model = Question
        fields = [
            "uid",
            "assignment",
            "about",
            "place",
            "candidate",
            "text",
            "state",
            "asked_at",
            "answer",
            "answered_at",
        ]

    def candidate_of(self, question: Question) -> int | None:
        return order_of(question.assignment).index(question.candidate) + 1 if question.candidate else None

    def to_representation(self, question: Question) -> dict[str, Any]:
        row = {**super().to_representation(question), "candidate": self.candidate_of(question)}
        absent = [name for name in ("place", "candidate", "answered_at") if row[name] is None] + (
            [] if row["answer"] else ["answer"]
        )
        return {name: value for name, value in row.items() if name not in absent}


class QuestionIn(serializers.Serializer[Any]):
    about = serializers.ChoiceField(QuestionAbout.choices)
    place = Whole(required=False, min_value=1, help_text="The step or line; not for one about the whole run.")
    candidate = Whole(required=False, min_value=1, max_value=8, help_text="Whose step, of several runs: 1 for A.")
    text = Text(max_length=2000)


class AssignmentQuestions(AssayView):
    @extend_schema(operation_id="assignment_questions_list", tags=["questions"], responses=QuestionOut(many=True))
    def get(self, request: Request, uid: str) -> Response:
        """What you asked about this item."""
        mine = own_assignment(actor=request.user, uid=uid)
        return self.page(own_questions(request.user).filter(assignment=mine), QuestionOut)

    @extend_schema(
        operation_id="assignment_questions_ask", tags=["questions"], request=QuestionIn, responses={201: QuestionOut}
    )
    def post(self, request: Request, uid: str) -> Response:
        """Ask the leads about the item in your hands. Asking the same again gives the same question."""
        question = ask(actor=request.user, uid=uid, **self.body(QuestionIn))
        return Response(QuestionOut(question).data, status=201)


class OwnQuestions(AssayView):
    @extend_schema(operation_id="questions_own", tags=["questions"], responses=QuestionOut(many=True))
    def get(self, request: Request) -> Response:
        """What you asked, in every project, with the answers."""
        return self.page(own_questions(request.user), QuestionOut)


# --- What a lead answers ----------------------------------------------------------------------------------------------
class WaitingQuestion(QuestionOut):
    """A question as leads read it: with item and line, without who asked or what became of the item."""

    queue = serializers.UUIDField(source="queue.uid")
    item = serializers.UUIDField(source="assignment.item.uid")
    line = serializers.SerializerMethodField(help_text="The words of the line it is about, where it is about one.")

    class Meta(QuestionOut.Meta):
        fields = [
            "uid",
            "queue",
            "item",
            "about",
            "place",
            "candidate",
            "line",
            "text",
            "state",
            "asked_at",
            "answer",
            "answered_at",
        ]

    assignment = None
    candidate = serializers.IntegerField(required=False, help_text="Whose step, by its position in the item.")

    def candidate_of(self, question: Question) -> int | None:
        return question.candidate

    def get_line(self, question: Question) -> str:
        return line_of(question)


class QuestionsQuery(serializers.Serializer[Any]):
    state = serializers.ChoiceField(QuestionState.choices, required=False)


class ProjectQuestions(AssayView):
    @extend_schema(
        operation_id="questions_list",
        tags=["questions"],
        parameters=[QuestionsQuery],
        responses=WaitingQuestion(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        """The project's questions that you may answer. For leads."""
        project = project_for(request.user, slug, "answer_questions")
        rows = questions_for(project, request.user).filter(**self.asked(QuestionsQuery))
        return self.page(rows, WaitingQuestion)


class AnswerIn(serializers.Serializer[Any]):
    text = Text(max_length=2000)


class Answer(AssayView):
    @extend_schema(operation_id="questions_answer", tags=["questions"], request=AnswerIn, responses=WaitingQuestion)
    def post(self, request: Request, uid: str) -> Response:
        """Answer whoever asked, and nobody else. For leads."""
        return Response(WaitingQuestion(answer(actor=request.user, uid=uid, **self.body(AnswerIn))).data)


class NoteIn(AnswerIn):
    about = serializers.ChoiceField(NotePlace.choices)
    line = Whole(min_value=1, help_text="Of the guideline or policy, as questions number them.")


class Note(AssayView):
    @extend_schema(
        operation_id="questions_publish",
        tags=["questions"],
        request=NoteIn,
        responses={201: NoteOut},
    )
    def post(self, request: Request, uid: str) -> Response:
        """Answer for everybody: a note at a line, without who asked and without the run's words. For leads."""
        note = publish(actor=request.user, uid=uid, **self.body(NoteIn))
        return Response(NoteOut(note).data, status=201)


# --- Looking back -----------------------------------------------------------------------------------------------------
class OwnJudgment(JudgmentOut):
    """The receipt of a judgment of one's own."""

    def to_representation(self, judgment: Judgment) -> dict[str, Any]:
        return receipt(judgment)


class OwnJudgments(AssayView):
    @extend_schema(operation_id="judgments_own", tags=["judging"], responses=OwnJudgment(many=True))
    def get(self, request: Request) -> Response:
        """What you submitted, in every project. The run is at `assignments/{uid}/steps/`."""
        return self.page(own_judgments(request.user), OwnJudgment)


class DifferenceOut(serializers.Serializer[Any]):
    criterion = serializers.CharField(source="title")
    said = serializers.CharField(source="said.words")
    decided = serializers.CharField(source="decided.words")
    why = serializers.CharField()
    note = serializers.CharField()


class DecidedOut(serializers.Serializer[Any]):
    """One item on which a lead came to another answer than you."""

    assignment = serializers.UUIDField(source="judgment.assignment.uid")
    submitted_at = serializers.DateTimeField(source="judgment.submitted_at", help_text="Your judgment's time.")
    differences = DifferenceOut(many=True)
    note = serializers.CharField(help_text="The lead's note; empty where it is about those who judged.")
    guideline = serializers.CharField()


class Digest(AssayView):
    @extend_schema(
        operation_id="digest_list", tags=["judging"], parameters=[ProjectQuery], responses=DecidedOut(many=True)
    )
    def get(self, request: Request) -> Response:
        """Some of the items on which a lead decided otherwise than you, days after you judged them."""
        project = project_for(request.user, self.asked(ProjectQuery)["project"], "ask")
        if not project.digest:
            raise Forbidden("The leads of this project do not show decisions.")
        rows: list[Decided] = digest_of(request.user, [project])
        return Response({"results": DecidedOut(rows, many=True).data})


class DigestSetting(serializers.Serializer[Any]):
    shown = YesNo(help_text="Whether raters read where leads decided otherwise.")


class ProjectDigest(AssayView):
    @extend_schema(operation_id="digest_change", tags=["projects"], request=DigestSetting, responses=DigestSetting)
    def put(self, request: Request, slug: str) -> Response:
        """Say whether raters read where leads decided otherwise than they judged. For leads."""
        project = project_for(request.user, slug, "manage_digest")
        set_digest(actor=request.user, project=project, **self.body(DigestSetting))
        return Response({"shown": project.digest})
