"""Labels: trusted values with what they rest on."""

from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.api.base import AssayView, ProjectQuery, allowed, project_for
from reviews.enums import Basis, CriterionKind, FailureCause, FailureWho, GateAnswer, ReasonCode, Role
from reviews.errors import NotFound
from reviews.models import Label
from reviews.queries.label_history import label_history, project_of_label
from reviews.queries.listings import labels_of, role_in
from reviews.queries.payloads import failing, value_given


class NamedVersion(serializers.Serializer[Any]):
    name = serializers.CharField()
    version = serializers.IntegerField()


class ValueOut(serializers.Serializer[Any]):
    """One criterion's trusted value. `reason` says why raters had differed, where a lead decided."""

    criterion = serializers.CharField()
    candidate = serializers.IntegerField(required=False, help_text="Where it is asked of each candidate.")
    value = serializers.JSONField(help_text="As in a judgment; of a gate 1 pass, 0 fail.")
    name = serializers.CharField(help_text="“pass”, “fail”, or the level's name.")
    basis = serializers.ChoiceField(Basis.choices)
    reason = serializers.ChoiceField(ReasonCode.choices, required=False)


class LabelledStepOut(serializers.Serializer[Any]):
    """The trusted word for one step."""

    step = serializers.IntegerField()
    value = serializers.IntegerField()
    name = serializers.CharField()
    basis = serializers.ChoiceField(Basis.choices)


class LabelFailure(serializers.Serializer[Any]):
    """The failure point; a part is absent where the raters did not agree on it."""

    step = serializers.IntegerField(required=False)
    who = serializers.ChoiceField(FailureWho.choices, required=False)
    cause = serializers.ChoiceField(FailureCause.choices, required=False)
    note = serializers.CharField(required=False)


class LabelOut(serializers.ModelSerializer[Label]):
    queue = serializers.UUIDField(source="queue.uid")
    item = serializers.UUIDField(source="item.uid")
    stands = serializers.BooleanField(help_text="Whether no later label supersedes it.")
    rubric = NamedVersion()
    guideline = NamedVersion()
    versions = serializers.SerializerMethodField()
    values = serializers.SerializerMethodField()
    gates_pass = serializers.SerializerMethodField()
    steps = serializers.SerializerMethodField(help_text="Empty where steps are not labelled.")
    failure = serializers.SerializerMethodField()

    class Meta:
        model = Label
        fields = ["uid", "queue", "item", "revision", "stands", "basis", "values", "gates_pass", "steps"]
        fields += [
            "failure",
            "rationale",
            "judgment_count",
            "certainty",
            "rubric",
            "guideline",
            "versions",
            "created_at",
        ]

    @extend_schema_field(ValueOut(many=True))
    def get_values(self, label: Label) -> list[dict[str, Any]]:
        reasons, below = _reasons(label), failing(list(label.values.all()))
        rows = []
        for row in sorted(label.values.all(), key=lambda row: row.criterion.position):
            criterion = row.criterion
            leveled = criterion.kind in (CriterionKind.ORDINAL, CriterionKind.CHOICE)
            name = criterion.level_name(row.value or 0) if leveled else row.words.lower()
            value = row.value if criterion.is_gate else value_given(row, below=below)
            out = {"criterion": criterion.key, "value": value, "name": name, "basis": row.basis}
            out |= {"candidate": row.candidate} if row.candidate else {}
            rows.append(out | ({"reason": reasons[criterion.pk]} if reasons.get(criterion.pk) else {}))
        return rows

    def get_versions(self, label: Label) -> dict[str, Any]:
        """A lead who still has to decide on the item elsewhere is not told which model made the run."""
        hidden = {"model"} if self.context["role"] == Role.LEAD and label.open_somewhere else set()  # type: ignore[attr-defined]
        return {name: value for name, value in label.versions.items() if name not in hidden}

    def get_gates_pass(self, label: Label) -> bool:
        if label.basis == Basis.AMBIGUOUS:
            return False
        return all(row.value == GateAnswer.PASS for row in label.values.all() if row.criterion.is_gate)

    @extend_schema_field(LabelledStepOut(many=True))
    def get_steps(self, label: Label) -> list[dict[str, Any]]:
        names = {word["value"]: word["name"] for word in label.rubric.step_labels.get("words", ())}
        return [
            {"step": row.step, "value": row.value, "name": names.get(row.value, ""), "basis": row.basis}
            for row in label.steps.all()
        ]

    @extend_schema_field(LabelFailure)
    def get_failure(self, label: Label) -> dict[str, Any]:
        parts = {name: getattr(label, f"failure_{name}") for name in ("step", "who", "cause", "note")}
        return {name: value for name, value in parts.items() if value}


def _reasons(label: Label) -> dict[int, str]:
    if label.adjudication is None:
        return {}
    return {decided.criterion_id: decided.reason_code for decided in label.adjudication.values.all()}


class LabelsQuery(ProjectQuery):
    queue = serializers.UUIDField(required=False)
    item = serializers.UUIDField(required=False)
    basis = serializers.ChoiceField(Basis.choices, required=False)
    stands = serializers.BooleanField(required=False, default=True, help_text="false: those that were superseded.")


FILTERS = {"queue": "queue__uid", "item": "item__uid", "basis": "basis", "stands": "stands"}


class Labels(AssayView):
    @extend_schema(operation_id="labels_list", tags=["labels"], parameters=[LabelsQuery], responses=LabelOut(many=True))
    def get(self, request: Request) -> Response:
        """The project's labels. For leads and engineers."""
        asked = self.asked(LabelsQuery)
        project = project_for(request.user, asked.pop("project"), "view_labels")
        rows = labels_of(project, reader=request.user).filter(**{FILTERS[name]: value for name, value in asked.items()})
        return self.page(rows, LabelOut, role=role_in(request.user, project))


class HistoryLineOut(serializers.Serializer[Any]):
    """A value of one revision, with how many of the raters who were asked gave it."""

    title = serializers.CharField()
    words = serializers.CharField()
    basis = serializers.CharField()
    same = serializers.IntegerField()
    asked = serializers.IntegerField()
    changed = serializers.BooleanField(help_text="Whether the revision before said otherwise.")
    reason = serializers.CharField(help_text="Why raters had differed, where a lead said it.")


class BehindOut(serializers.Serializer[Any]):
    """A judgment behind a revision."""

    rater = serializers.CharField(help_text="The name for leads, a pseudonym for others.")
    revision = serializers.IntegerField()
    confidence = serializers.CharField()
    rationale = serializers.CharField()
    submitted_at = serializers.DateTimeField()


class RevisionOut(serializers.Serializer[Any]):
    uid = serializers.UUIDField(source="label.uid")
    revision = serializers.IntegerField(source="label.revision")
    stands = serializers.BooleanField()
    basis = serializers.ChoiceField(Basis.choices, source="label.basis")
    by = serializers.CharField()
    rationale = serializers.CharField(source="label.rationale")
    created_at = serializers.DateTimeField(source="label.created_at")
    values = HistoryLineOut(many=True, source="lines")
    judgments = BehindOut(many=True, source="behind")


class LabelHistoryOut(serializers.Serializer[Any]):
    purpose = serializers.CharField()
    revisions = RevisionOut(many=True)


class LabelHistoryDetail(AssayView):
    @extend_schema(operation_id="labels_history", tags=["labels"], responses=LabelHistoryOut)
    def get(self, request: Request, uid: str) -> Response:
        """Every revision of the label's item in its queue, with the judgments behind each. For leads and engineers."""
        nothing = "There is no such label, or you are not in its project."
        project = allowed(request.user, "view_labels", project_of_label(uid), nothing, project_of=lambda found: found)
        found = label_history(project, uid, reader=request.user)
        if found is None:
            raise NotFound(nothing)
        return Response(LabelHistoryOut(found).data)
