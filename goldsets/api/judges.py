"""Judging models: define one, start its runs, follow them, stop them and let them go on."""

from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from goldsets.actions.judges import MOST_EXAMPLES, cancel_judge, define_judge_named, resume_judge, start_judge
from goldsets.enums import JudgedState, JudgeProtocol, JudgeRunState, JudgeScope
from goldsets.models import JudgedItem, JudgeRun, JudgeSetup
from goldsets.queries.judges import (
    examples_told,
    judge_by_version,
    judged_of,
    judges_of,
    receipt_of,
    run_by_uid,
    runs_of,
)
from goldsets.tasks import run_judge
from reviews.api.base import AssayView, ProjectQuery, Text, Whole, allowed, project_for
from reviews.errors import Invalid
from reviews.queries.listings import queue_in, rubric_and_guideline

NO_JUDGE = "There is no such judge, or you are not in its project."
NO_RUN = "There is no such run of a judge, or you are not in its project."


class JudgeExampleOut(serializers.Serializer[Any]):
    """A settled run that every question carries. A task of no family is named as task: and its key."""

    item = serializers.UUIDField()
    label = serializers.UUIDField()
    family = serializers.CharField()
    passes = serializers.BooleanField()


class JudgeOut(serializers.ModelSerializer[JudgeSetup]):
    """A version of a judging model that is run from here. `version` is its id."""

    version = serializers.UUIDField(source="version.uid")
    grader = serializers.UUIDField(source="version.grader.uid")
    name = serializers.CharField(source="version.grader.name")
    number = serializers.IntegerField(source="version.number")
    criterion = serializers.CharField(source="version.grader.criterion", help_text="Empty for the whole.")
    model = serializers.CharField(source="version.model")
    parameters = serializers.DictField(source="version.parameters")
    fingerprint = serializers.CharField(source="version.fingerprint")
    rubric = serializers.UUIDField(source="rubric.uid")
    guideline = serializers.UUIDField(source="guideline.uid")
    protocol = serializers.ChoiceField(JudgeProtocol.choices)
    examples = serializers.SerializerMethodField()

    class Meta:
        model = JudgeSetup
        fields = ["version", "grader", "name", "number", "criterion", "model", "parameters", "fingerprint"]
        fields += ["rubric", "guideline", "protocol", "price_in", "price_out", "price_each", "examples"]

    @extend_schema_field(JudgeExampleOut(many=True))
    def get_examples(self, setup: JudgeSetup) -> list[dict[str, Any]]:
        """Those whose labels you may know: of no item that you judge just now or that is open in a queue."""
        return [one for one in setup.examples if one["item"] in self.context["told"]]


class Dollars(serializers.DecimalField):
    """US dollars, as a number or a text."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_digits=12, decimal_places=6, **options)


class JudgeIn(serializers.Serializer[Any]):
    """A judge of a name that is there gets its next version.

    Prices are dollars: of a model behind /chat/completions for a million tokens, of a service that answers typed
    decisions for each answer.
    """

    project = Text(max_length=60, help_text="The project's address.")
    name = Text(max_length=120)
    criterion = Text(required=False, max_length=40, help_text="The key of what it judges alone; otherwise the whole.")
    rubric = serializers.UUIDField()
    guideline = serializers.UUIDField()
    model = Text(max_length=200)
    protocol = serializers.ChoiceField(JudgeProtocol.choices, required=False, help_text="chat if left out.")
    price_in = serializers.DecimalField(max_digits=10, decimal_places=4, required=False)
    price_out = serializers.DecimalField(max_digits=10, decimal_places=4, required=False)
    price_each = serializers.DecimalField(max_digits=10, decimal_places=6, required=False)
    parameters = serializers.DictField(required=False, help_text="Such as temperature, seed and max_tokens.")
    label = Text(required=False, max_length=120)
    examples = Whole(
        required=False, min_value=0, max_value=MOST_EXAMPLES, help_text="How many examples, half pass and half fail."
    )


class JudgeRunIn(serializers.Serializer[Any]):
    queue = serializers.UUIDField()
    budget = Dollars(help_text="US dollars. Nothing is asked that could go over.")
    scope = serializers.ChoiceField(JudgeScope.choices, required=False, help_text="settled if left out.")
    attempt = Whole(required=False, min_value=1, max_value=100)


class JudgeResumeIn(serializers.Serializer[Any]):
    budget = Dollars(help_text="US dollars in all.")


class JudgeRunOut(serializers.ModelSerializer[JudgeRun]):
    version = serializers.UUIDField(source="version.uid")
    queue = serializers.UUIDField(source="queue.uid")
    state = serializers.ChoiceField(JudgeRunState.choices)
    scope = serializers.ChoiceField(JudgeScope.choices)

    class Meta:
        model = JudgeRun
        fields = ["uid", "version", "queue", "scope", "attempt", "state", "error", "items_total", "budget", "spent"]
        fields += ["lost", "created_at", "finished_at"]


class JudgeReceiptOut(serializers.Serializer[Any]):
    """`lost` is what answers that never came can have cost at most; it is part of `spent`."""

    done = serializers.IntegerField()
    total = serializers.IntegerField()
    by_state = serializers.DictField(child=serializers.IntegerField())
    inconsistent = serializers.IntegerField(help_text="Pairs on which it says otherwise the other way round.")
    remembered = serializers.IntegerField(help_text="Items whose answers were there from before.")
    scores = serializers.IntegerField()
    spent = serializers.DecimalField(max_digits=12, decimal_places=6)
    lost = serializers.DecimalField(max_digits=12, decimal_places=6)
    budget = serializers.DecimalField(max_digits=12, decimal_places=6)
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    seconds = serializers.FloatField()
    held_out = serializers.IntegerField()


class JudgeRunDetailOut(JudgeRunOut):
    receipt = serializers.SerializerMethodField()

    class Meta(JudgeRunOut.Meta):
        fields = [*JudgeRunOut.Meta.fields, "receipt"]

    def get_receipt(self, run: JudgeRun) -> JudgeReceiptOut:
        told: Any = JudgeReceiptOut(receipt_of(run)).data
        return told


class JudgedItemOut(serializers.ModelSerializer[JudgedItem]):
    """What came of an item; `said` is each word of the judge, with the `problem` that keeps it from counting."""

    item = serializers.UUIDField(source="item.uid")
    state = serializers.ChoiceField(JudgedState.choices)
    said = serializers.ListField(child=serializers.DictField())

    class Meta:
        model = JudgedItem
        fields = ["item", "state", "why", "said", "inconsistent", "remembered", "cost", "lost", "seconds"]
        fields += ["tokens_in", "tokens_out", "done_at"]


def _judge(person: Any, uid: Any, permission: str) -> JudgeSetup:
    return allowed(
        person, permission, judge_by_version(uid), NO_JUDGE, project_of=lambda found: found.version.grader.project
    )


def _run(person: Any, uid: Any, permission: str) -> JudgeRun:
    return allowed(person, permission, run_by_uid(uid), NO_RUN, project_of=lambda found: found.queue.project)


class Judges(AssayView):
    @extend_schema(
        operation_id="judges_list", tags=["graders"], parameters=[ProjectQuery], responses=JudgeOut(many=True)
    )
    def get(self, request: Request) -> Response:
        """Versions of judging models that are run from here. For leads and engineers."""
        project = project_for(request.user, self.asked(ProjectQuery)["project"], "view_graders")
        told = examples_told(project, reader=request.user)
        return self.page(judges_of(project).order_by("pk"), JudgeOut, told=told)

    @extend_schema(operation_id="judges_define", tags=["graders"], request=JudgeIn, responses={201: JudgeOut})
    def post(self, request: Request) -> Response:
        """Define a judge, or the next version of one. For leads and engineers."""
        asked = self.body(JudgeIn)
        project = project_for(request.user, asked.pop("project"), "manage_graders")
        names = {name: asked.pop(name) for name in ("rubric", "guideline")}
        rubric, guideline = rubric_and_guideline(project, **names)
        missing = {"rubric": rubric, "guideline": guideline}
        if rubric is None or guideline is None:
            raise Invalid({name: f"This project has no such {name}." for name, row in missing.items() if row is None})
        made = define_judge_named(actor=request.user, project=project, rubric=rubric, guideline=guideline, **asked)
        told = examples_told(project, reader=request.user)
        return Response(JudgeOut(made, context={"told": told}).data, status=201)


class JudgeStart(AssayView):
    @extend_schema(operation_id="judge_start", tags=["graders"], request=JudgeRunIn, responses={202: JudgeRunOut})
    def post(self, request: Request, uid: str) -> Response:
        """Start a judge over a queue, by the id of its version. For leads and engineers."""
        setup = _judge(request.user, uid, "manage_graders")
        asked = self.body(JudgeRunIn)
        queue = queue_in(setup.version.grader.project, asked.pop("queue"))
        if queue is None:
            raise Invalid({"queue": "This project has no such queue."})
        run = start_judge(actor=request.user, setup=setup, queue=queue, **asked)
        run_judge.delay(run.pk)
        return Response(JudgeRunOut(run).data, status=202)


class JudgeRuns(AssayView):
    @extend_schema(
        operation_id="judge_runs_list", tags=["graders"], parameters=[ProjectQuery], responses=JudgeRunOut(many=True)
    )
    def get(self, request: Request) -> Response:
        """Runs of judges over queues. For leads and engineers."""
        project = project_for(request.user, self.asked(ProjectQuery)["project"], "view_graders")
        return self.page(runs_of(project).order_by("pk"), JudgeRunOut)


class JudgeRunDetail(AssayView):
    @extend_schema(operation_id="judge_run_read", tags=["graders"], responses=JudgeRunDetailOut)
    def get(self, request: Request, uid: str) -> Response:
        """How far a run is, what it brought and took. For leads and engineers."""
        return Response(JudgeRunDetailOut(_run(request.user, uid, "view_graders")).data)


class JudgeRunItems(AssayView):
    @extend_schema(operation_id="judge_run_items", tags=["graders"], responses=JudgedItemOut(many=True))
    def get(self, request: Request, uid: str) -> Response:
        """What came of each item. For leads and engineers."""
        run = _run(request.user, uid, "view_graders")
        return self.page(judged_of(run, reader=request.user), JudgedItemOut)


class JudgeRunCancel(AssayView):
    @extend_schema(operation_id="judge_run_cancel", tags=["graders"], request=None, responses=JudgeRunOut)
    def post(self, request: Request, uid: str) -> Response:
        """Stop a run. For leads and engineers."""
        run = cancel_judge(actor=request.user, run=_run(request.user, uid, "manage_graders"))
        return Response(JudgeRunOut(run).data)


class JudgeRunResume(AssayView):
    @extend_schema(
        operation_id="judge_run_resume", tags=["graders"], request=JudgeResumeIn, responses={202: JudgeRunOut}
    )
    def post(self, request: Request, uid: str) -> Response:
        """Let a run go on that was stopped, with so much money in all. For leads and engineers."""
        run = resume_judge(
            actor=request.user, run=_run(request.user, uid, "manage_graders"), **self.body(JudgeResumeIn)
        )
        run_judge.delay(run.pk)
        return Response(JudgeRunOut(run).data, status=202)
