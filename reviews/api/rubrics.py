"""Guidelines and rubrics: reading every version, writing the next one."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.actions.rubrics import write_guideline, write_principle, write_rubric
from reviews.api.base import AssayView, Text, Whole, YesNo, project_for
from reviews.enums import Block, CorrectionRule, CriterionKind, EvidenceRule, ItemKind, NotePlace, Scope
from reviews.errors import NotFound
from reviews.models import Criterion, Guideline, GuidelineNote, Principle, Project, Rubric
from reviews.queries.blind_item import criterion_of, rubric_of
from reviews.queries.listings import guidelines_of, rubrics_of
from reviews.queries.projects import guideline_by_uid, rubric_by_uid
from reviews.queries.questions import note_row
from reviews.queries.rubric_versions import changes_between, open_work
from reviews.queries.rubrics import principles_of, rubric_file


class NoteOut(serializers.Serializer[Any]):
    """What a lead answered for everybody, at a line: paragraphs and list items count, from 1."""

    uid = serializers.UUIDField()
    about = serializers.ChoiceField(NotePlace.choices)
    line = serializers.IntegerField()
    text = serializers.CharField()
    published_at = serializers.DateTimeField()

    def to_representation(self, note: GuidelineNote) -> dict[str, Any]:
        return note_row(note)


class GuidelineOut(serializers.ModelSerializer[Guideline]):
    notes = NoteOut(many=True)

    class Meta:
        model = Guideline
        fields = ["uid", "name", "version", "text", "notes"]


class GuidelineIn(serializers.Serializer[Any]):
    name = Text(max_length=80)
    text = Text(max_length=100_000, help_text="Markdown.")
    notes = serializers.ListField(
        child=serializers.UUIDField(), required=False, help_text="Notes on earlier versions that are in this text."
    )


class Guidelines(AssayView):
    @extend_schema(operation_id="guidelines_list", tags=["rubrics"], responses=GuidelineOut(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """Every version of the project's guidelines."""
        return self.page(guidelines_of(project_for(request.user, slug)), GuidelineOut)

    @extend_schema(
        operation_id="guidelines_create", tags=["rubrics"], request=GuidelineIn, responses={201: GuidelineOut}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Write a guideline, or the next version of the one with this name. For leads."""
        project = project_for(request.user, slug, "write_rubric")
        guideline = write_guideline(actor=request.user, project=project, **self.body(GuidelineIn))
        return Response(GuidelineOut(guideline).data, status=201)


class LevelOut(serializers.Serializer[Any]):
    value = serializers.IntegerField()
    name = serializers.CharField()
    anchor = serializers.CharField()
    example = serializers.CharField(required=False)


class AskedIf(serializers.Serializer[Any]):
    """The question is asked only where an earlier one of its scope has one of these values."""

    criterion = serializers.CharField()
    values = serializers.ListField(child=serializers.IntegerField())


class StepWord(serializers.Serializer[Any]):
    value = Whole(min_value=-9, max_value=9)
    name = Text(max_length=40)


class StepLabels(serializers.Serializer[Any]):
    """The words by which steps are labelled; with `until_first`, none is needed behind the first below zero."""

    words = StepWord(many=True)
    of = serializers.ChoiceField(["agent", "all"], required=False)
    until_first = YesNo(required=False)


class Mark(serializers.Serializer[Any]):
    """What may be said of a place in the text by itself."""

    key = Text(max_length=40)
    name = Text(max_length=40)
    hint = Text(required=False, max_length=200)


class PrincipleOut(serializers.ModelSerializer[Principle]):
    class Meta:
        model = Principle
        fields = ["uid", "name", "version", "text"]


class PrincipleIn(serializers.Serializer[Any]):
    name = Text(max_length=80)
    text = Text(max_length=1000, help_text="Why something is asked, as raters read it at the criterion.")


class PrincipleNamed(serializers.Serializer[Any]):
    """A principle in one of its versions."""

    name = Text(max_length=80)
    version = Whole(min_value=1)


class PrincipleShown(PrincipleNamed):
    text = serializers.CharField()


class Principles(AssayView):
    @extend_schema(operation_id="principles_list", tags=["rubrics"], responses=PrincipleOut(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """Every version of the project's principles."""
        return self.page(principles_of(project_for(request.user, slug)), PrincipleOut)

    @extend_schema(
        operation_id="principles_create", tags=["rubrics"], request=PrincipleIn, responses={201: PrincipleOut}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Write a principle, or the next version of the one with this name. For leads."""
        project = project_for(request.user, slug, "write_rubric")
        made = write_principle(actor=request.user, project=project, **self.body(PrincipleIn))
        return Response(PrincipleOut(made).data, status=201)


class CriterionOut(serializers.Serializer[Any]):
    """A gate has no block and no levels."""

    key = serializers.CharField()
    title = serializers.CharField()
    question = serializers.CharField()
    hint = serializers.CharField()
    kind = serializers.ChoiceField(CriterionKind.choices)
    evidence = serializers.ChoiceField(EvidenceRule.choices)
    scope = serializers.ChoiceField(Scope.choices)
    block = serializers.ChoiceField(Block.choices, required=False, allow_blank=True)
    levels = LevelOut(many=True, required=False)
    required = serializers.BooleanField(required=False)
    settings = serializers.DictField(required=False)
    condition = AskedIf(required=False)
    principle = PrincipleShown(required=False)

    def to_representation(self, criterion: Criterion) -> dict[str, Any]:
        return criterion_of(criterion)


class RubricOut(serializers.Serializer[Any]):
    """`step_labels` is absent where steps are not labelled, `marks` where nothing is marked."""

    uid = serializers.UUIDField()
    name = serializers.CharField()
    version = serializers.IntegerField()
    item_kind = serializers.ChoiceField(ItemKind.choices)
    unsure_allowed = serializers.BooleanField()
    correction = serializers.ChoiceField(CorrectionRule.choices)
    audits = serializers.BooleanField()
    step_labels = StepLabels(required=False)
    marks = Mark(many=True, required=False)
    criteria = CriterionOut(many=True)

    def to_representation(self, rubric: Rubric) -> dict[str, Any]:
        return {"uid": str(rubric.uid), **rubric_of(rubric)}


class LevelIn(serializers.Serializer[Any]):
    value = Whole(min_value=0, max_value=100)
    name = Text(max_length=40)
    anchor = Text(required=False, max_length=500)
    example = Text(required=False, max_length=2000)


class CriterionIn(serializers.Serializer[Any]):
    key = Text(max_length=40, help_text="Lower-case letters, digits and _; it names the criterion in every judgment.")
    title = Text(max_length=80)
    question = Text(required=False, max_length=300)
    hint = Text(required=False, max_length=500)
    kind = serializers.ChoiceField(CriterionKind.choices)
    scope = serializers.ChoiceField(Scope.choices, required=False)
    block = serializers.ChoiceField(Block.choices, required=False, allow_blank=True)
    levels = LevelIn(many=True, required=False, help_text="Levels, options, or reasons of a preference, ascending.")
    required = YesNo(required=False, help_text="Whether an answer is asked for; gates always are.")
    settings = serializers.DictField(required=False, help_text="Of a number or a preference: see docs/api.md.")
    condition = AskedIf(required=False, allow_null=True)
    principle = PrincipleNamed(required=False, allow_null=True)
    evidence = serializers.ChoiceField(EvidenceRule.choices, required=False)
    weight = serializers.FloatField(
        required=False, allow_null=True, help_text="Refused on a gate: a gate is a veto and has no weight."
    )


class RubricIn(serializers.Serializer[Any]):
    name = Text(max_length=80)
    item_kind = serializers.ChoiceField(ItemKind.choices, required=False)
    unsure_allowed = YesNo(required=False, help_text="Whether a gate may be answered with “unsure”.")
    step_labels = StepLabels(required=False, allow_null=True)
    marks = Mark(many=True, required=False)
    correction = serializers.ChoiceField(CorrectionRule.choices, required=False)
    audits = YesNo(required=False, help_text="Raters check what graders said of a run, after their own answer.")
    criteria = CriterionIn(many=True)


class Rubrics(AssayView):
    @extend_schema(operation_id="rubrics_list", tags=["rubrics"], responses=RubricOut(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """Every version of the project's rubrics, with its criteria."""
        return self.page(rubrics_of(project_for(request.user, slug)), RubricOut)

    @extend_schema(operation_id="rubrics_create", tags=["rubrics"], request=RubricIn, responses={201: RubricOut})
    def post(self, request: Request, slug: str) -> Response:
        """Write a rubric, or the next version of the one with this name. For leads."""
        project = project_for(request.user, slug, "write_rubric")
        rubric = write_rubric(actor=request.user, project=project, **self.body(RubricIn))
        return Response(RubricOut(rubric).data, status=201)


class RubricFile(RubricIn):
    """A version as it was written. Sent to the address of the rubrics, it becomes the next version there."""

    format = serializers.CharField()
    version = serializers.IntegerField()

    def to_representation(self, rubric: Rubric) -> dict[str, Any]:
        return rubric_file(rubric)


class RubricDetail(AssayView):
    @extend_schema(operation_id="rubrics_retrieve", tags=["rubrics"], responses=RubricFile)
    def get(self, request: Request, slug: str, uid: UUID) -> Response:
        """A version as it was written, weights included: a file that can be sent back. For leads and engineers."""
        return Response(RubricFile(rubric_for(project_for(request.user, slug, "view_items"), uid)).data)


def guideline_for(project: Project, uid: UUID) -> Guideline:
    found = guideline_by_uid(project, uid)
    if found is None:
        raise NotFound("There is no such guideline in this project.")
    return found


def rubric_for(project: Project, uid: UUID) -> Rubric:
    found = rubric_by_uid(project, uid)
    if found is None:
        raise NotFound("There is no such rubric in this project.")
    return found


# --- Versions ---------------------------------------------------------------------------------------------------------
class ChangesQuery(serializers.Serializer[Any]):
    since = serializers.UUIDField(help_text="The version to compare with.")


class RubricChange(serializers.Serializer[Any]):
    """`criterion` is empty where the rubric itself differs; `what` where a whole criterion is new or gone."""

    criterion = serializers.CharField()
    title = serializers.CharField()
    how = serializers.ChoiceField(["added", "removed", "changed"])
    what = serializers.CharField()
    before = serializers.CharField()
    after = serializers.CharField()
    words = serializers.CharField()


class OpenWorkOut(serializers.Serializer[Any]):
    """A queue under another version; `can_move` while nothing was judged in it."""

    queue = serializers.UUIDField(source="queue.uid")
    version = serializers.IntegerField(source="queue.rubric.version")
    collecting = serializers.IntegerField()
    waiting = serializers.IntegerField()
    settled = serializers.IntegerField()
    judgments = serializers.IntegerField()
    can_move = serializers.BooleanField()


class RubricChangesOut(serializers.Serializer[Any]):
    changes = RubricChange(many=True)
    open_work = OpenWorkOut(many=True)


class RubricChanges(AssayView):
    @extend_schema(
        operation_id="rubrics_changes", tags=["rubrics"], parameters=[ChangesQuery], responses=RubricChangesOut
    )
    def get(self, request: Request, slug: str, uid: UUID) -> Response:
        """What differs from another version, in words too, and which queues judge by others. Leads and engineers."""
        project = project_for(request.user, slug, "view_items")
        after = rubric_for(project, uid)
        before = rubric_for(project, self.asked(ChangesQuery)["since"])
        found = {
            "changes": changes_between(before, after),
            "open_work": open_work(project, after.name, but=after),
        }
        return Response(RubricChangesOut(found).data)
