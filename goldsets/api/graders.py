"""Graders: register them and their versions, send scores, and bring in those that came with runs."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from goldsets.actions.auditing_graders import MOST_AUDITED, open_audit
from goldsets.actions.grader_scores import MOST_SCORES, STATUSES, ScoreReceipt, post_scores
from goldsets.actions.graders import add_version, register_grader, set_version
from goldsets.actions.reading_scores import LONGEST_TEXT, MOST_ATTEMPTS, MOST_CITED, MOST_TOKENS, read_score
from goldsets.api.statistics import EstimateOut
from goldsets.enums import GraderKind, GraderScale, ScoreOrder
from goldsets.models import Grader, GraderScore, GraderVersion
from goldsets.queries.audits import WHICH, reasons_of
from goldsets.queries.graders import (
    grader_by_uid,
    graders_of,
    scores_of_version,
    tally,
    version_by_number,
    versions_of,
)
from goldsets.tasks import adopt_run_scores, look_at_biases, look_at_repeats
from reviews.api.auditing import GraderCheckedOut
from reviews.api.base import AssayView, ProjectQuery, Text, Whole, allowed, project_for
from reviews.api.scores import ScoreValue
from reviews.errors import Conflict, Invalid, NotFound
from reviews.queries.projects import guideline_by_uid, rubric_by_uid


class GraderVersionOut(serializers.ModelSerializer[GraderVersion]):
    """What scored. `passes_from` is the score from which it passes, null where that is not decided."""

    scale = serializers.ChoiceField(GraderScale.choices)
    parameters = serializers.DictField()
    passes_from = serializers.FloatField(allow_null=True)

    class Meta:
        model = GraderVersion
        fields = ["uid", "number", "label", "fingerprint", "model", "parameters", "environment", "scale", "lowest"]
        fields += ["highest", "threshold", "passes_from", "attempts_cap", "source", "created_at"]


class TallyOut(serializers.Serializer[Any]):
    """What a version's scores come to; cost, seconds and tokens of those that say them."""

    scores = serializers.IntegerField()
    items = serializers.IntegerField()
    passed = serializers.IntegerField(allow_null=True)
    most_attempts = serializers.IntegerField(help_text="How often it was asked of the item it was asked of most.")
    cost = serializers.DecimalField(max_digits=18, decimal_places=6, allow_null=True, help_text="In US dollars.")
    costed = serializers.IntegerField()
    median_seconds = serializers.FloatField(allow_null=True)
    slow_seconds = serializers.FloatField(allow_null=True, help_text="19 of 20 took no longer.")
    timed = serializers.IntegerField()
    tokens = serializers.IntegerField(allow_null=True)
    last_at = serializers.DateTimeField(allow_null=True)


class CountedVersionOut(GraderVersionOut):
    tally = serializers.SerializerMethodField()

    class Meta(GraderVersionOut.Meta):
        fields = [*GraderVersionOut.Meta.fields, "tally"]

    def get_tally(self, version: GraderVersion) -> TallyOut:
        counted: Any = TallyOut(tally(version)).data
        return counted


class GraderOut(serializers.ModelSerializer[Grader]):
    project = serializers.CharField(source="project.slug")
    kind = serializers.ChoiceField(GraderKind.choices)
    criterion = serializers.CharField(help_text="The key of what it judges; empty for the run as a whole.")
    versions = GraderVersionOut(many=True, help_text="The latest first.")

    class Meta:
        model = Grader
        fields = ["uid", "project", "name", "kind", "criterion", "note", "created_at", "versions"]


class GraderIn(serializers.Serializer[Any]):
    project = Text(max_length=60, help_text="The project's address.")
    name = Text(max_length=120)
    kind = serializers.ChoiceField(GraderKind.choices)
    criterion = Text(required=False, max_length=100, help_text="The key of the criterion that it judges alone.")
    note = Text(required=False, max_length=5000)


class GraderVersionIn(serializers.Serializer[Any]):
    """Whatever changes a grader's scores makes another version."""

    label = Text(required=False, max_length=120)
    fingerprint = Text(required=False, max_length=128, help_text="A hash of its prompt or code.")
    model = Text(required=False, max_length=200)
    parameters = serializers.DictField(required=False)
    environment = Text(required=False, max_length=200)
    scale = serializers.ChoiceField(GraderScale.choices, required=False)
    lowest = serializers.FloatField(required=False)
    highest = serializers.FloatField(required=False)
    threshold = serializers.FloatField(required=False, allow_null=True)
    attempts_cap = Whole(required=False, allow_null=True, min_value=1, max_value=MOST_ATTEMPTS)
    source = Text(required=False, max_length=200, help_text="Under which name its scores come in with runs.")


class VersionSetIn(serializers.Serializer[Any]):
    """What is left out stays as it is."""

    threshold = serializers.FloatField(required=False, allow_null=True)
    attempts_cap = Whole(required=False, allow_null=True, min_value=1, max_value=MOST_ATTEMPTS)


class CitedPlaceIn(serializers.Serializer[Any]):
    step = Whole(min_value=1, max_value=10**6)
    quote = Text(required=False, max_length=LONGEST_TEXT)
    candidate = Whole(required=False, min_value=1, max_value=1000, help_text="Of several runs, which one.")


class GraderScoreIn(serializers.Serializer[Any]):
    """Name the item by its id, or the run as its source calls it. Asking again is a further attempt."""

    item = serializers.UUIDField(required=False)
    run = Text(required=False, max_length=100)
    value = ScoreValue(
        help_text="A number on the scale; true, false, pass, fail, C, P, I or N for its ends and middle."
    )
    criterion = Text(required=False, max_length=100)
    attempt = Whole(required=False, min_value=1, max_value=MOST_ATTEMPTS)
    order = serializers.ChoiceField(ScoreOrder.choices, required=False)
    parts = serializers.DictField(child=serializers.FloatField(), required=False)
    explanation = Text(required=False, max_length=LONGEST_TEXT)
    evidence = serializers.ListField(child=CitedPlaceIn(), required=False, max_length=MOST_CITED)
    cost = serializers.DecimalField(max_digits=12, decimal_places=6, required=False, help_text="In US dollars.")
    seconds = serializers.FloatField(required=False)
    tokens = Whole(required=False, min_value=0, max_value=MOST_TOKENS)
    meta = serializers.DictField(required=False, help_text="checkpoint, training_step, kl, split, and what you like.")


class GraderScoresIn(serializers.Serializer[Any]):
    version = Whole(required=False, min_value=1, max_value=10**6, help_text="Its number; otherwise the latest.")
    scores = serializers.ListField(child=GraderScoreIn(), max_length=MOST_SCORES, allow_empty=False)


class GraderReceiptOut(serializers.Serializer[Any]):
    """What became of one score. A refused one has a reason."""

    status = serializers.ChoiceField(STATUSES)
    item = serializers.UUIDField(required=False)
    reason = serializers.CharField(required=False)


class GraderScoresOut(serializers.Serializer[Any]):
    version = serializers.IntegerField()
    created = serializers.IntegerField()
    already_there = serializers.IntegerField()
    refused = serializers.IntegerField()
    scores = GraderReceiptOut(many=True)


class GraderScoreOut(serializers.ModelSerializer[GraderScore]):
    version = serializers.IntegerField(source="version.number")
    item = serializers.UUIDField(source="item.uid")
    order = serializers.ChoiceField(ScoreOrder.choices)
    parts = serializers.DictField()
    evidence = serializers.ListField(child=serializers.DictField())
    meta = serializers.DictField()

    class Meta:
        model = GraderScore
        fields = ["version", "item", "criterion", "attempt", "order", "value", "parts", "explanation", "evidence"]
        fields += ["cost", "seconds", "tokens", "meta", "created_at"]


class VersionQuery(serializers.Serializer[Any]):
    version = serializers.IntegerField(required=False, min_value=1, max_value=10**6, help_text="Otherwise the latest.")


def grader_for(person: Any, uid: Any, permission: str = "view_graders") -> Grader:
    """The grader, if the person may do this in its project."""
    nothing = "There is no such grader, or you are not in its project."
    return allowed(person, permission, grader_by_uid(uid), nothing, project_of=lambda grader: grader.project)


def version_for(person: Any, uid: Any, number: int | None, permission: str = "view_graders") -> GraderVersion:
    """A version of it by its number, or the latest."""
    version = version_by_number(grader_for(person, uid, permission), number)
    if version is None:
        raise NotFound("This grader has no such version." if number else "This grader has no version yet.")
    return version


class Graders(AssayView):
    @extend_schema(
        operation_id="graders_list", tags=["graders"], parameters=[ProjectQuery], responses=GraderOut(many=True)
    )
    def get(self, request: Request) -> Response:
        """The project's graders with their versions. For leads and engineers."""
        project = project_for(request.user, self.asked(ProjectQuery)["project"], "view_graders")
        return self.page(graders_of(project), GraderOut)

    @extend_schema(operation_id="graders_register", tags=["graders"], request=GraderIn, responses={201: GraderOut})
    def post(self, request: Request) -> Response:
        """Register a grader. It scores once it has a version. For leads and engineers."""
        asked = self.body(GraderIn)
        asked["project"] = project_for(request.user, asked["project"], "manage_graders")
        grader = register_grader(actor=request.user, **asked)
        where = {"Location": f"{request.path}{grader.uid}/"}
        return Response(GraderOut(graders_of(grader.project).get(pk=grader.pk)).data, status=201, headers=where)


class GraderDetail(AssayView):
    @extend_schema(operation_id="graders_read", tags=["graders"], responses=GraderOut)
    def get(self, request: Request, uid: str) -> Response:
        """One grader with its versions."""
        grader = grader_for(request.user, uid)
        return Response(GraderOut(graders_of(grader.project).get(pk=grader.pk)).data)


class GraderVersions(AssayView):
    @extend_schema(operation_id="graders_versions", tags=["graders"], responses=GraderVersionOut(many=True))
    def get(self, request: Request, uid: str) -> Response:
        """Its versions, the latest first."""
        return self.page(versions_of(grader_for(request.user, uid)), GraderVersionOut)

    @extend_schema(
        operation_id="graders_add_version",
        tags=["graders"],
        request=GraderVersionIn,
        responses={201: GraderVersionOut},
    )
    def post(self, request: Request, uid: str) -> Response:
        """Another version, with the next number. For leads and engineers."""
        grader = grader_for(request.user, uid, "manage_graders")
        version = add_version(actor=request.user, grader=grader, **self.body(GraderVersionIn))
        where = {"Location": f"{request.path}{version.number}/"}
        return Response(GraderVersionOut(version).data, status=201, headers=where)


class GraderVersionDetail(AssayView):
    @extend_schema(operation_id="graders_version", tags=["graders"], responses=CountedVersionOut)
    def get(self, request: Request, uid: str, number: int) -> Response:
        """One version, and what its scores come to."""
        return Response(CountedVersionOut(version_for(request.user, uid, number)).data)

    @extend_schema(
        operation_id="graders_set_version", tags=["graders"], request=VersionSetIn, responses=CountedVersionOut
    )
    def patch(self, request: Request, uid: str, number: int) -> Response:
        """Say from which score on it passes, or how often it may be asked of one item. Nothing else of it changes."""
        version = version_for(request.user, uid, number, "manage_graders")
        now = {"threshold": version.threshold, "attempts_cap": version.attempts_cap}
        asked = now | self.body(VersionSetIn)
        return Response(CountedVersionOut(set_version(actor=request.user, version=version, **asked)).data)


class GraderScores(AssayView):
    @extend_schema(
        operation_id="graders_scores",
        tags=["graders"],
        parameters=[VersionQuery],
        responses=GraderScoreOut(many=True),
    )
    def get(self, request: Request, uid: str) -> Response:
        """The scores of a version, the latest first. For leads and engineers."""
        version = version_for(request.user, uid, self.asked(VersionQuery).get("version"))
        return self.page(scores_of_version(version, reader=request.user), GraderScoreOut)

    @extend_schema(
        operation_id="graders_post_scores", tags=["graders"], request=GraderScoresIn, responses=GraderScoresOut
    )
    def post(self, request: Request, uid: str) -> Response:
        """Send scores, with a receipt for each: one that is refused keeps no other out.

        The same score again is there already and changes nothing, so a request whose answer was lost is simply sent
        again. For leads and engineers; raters see none of it.
        """
        asked = self.body(GraderScoresIn)
        version = version_for(request.user, uid, asked.get("version"), "manage_graders")
        scores = [_read(row, place) for place, row in enumerate(asked["scores"])]
        receipts = post_scores(actor=request.user, version=version, scores=scores)
        counts = {status: sum(receipt.status == status for receipt in receipts) for status in STATUSES}
        said = [_said(receipt) for receipt in receipts]
        return Response({"version": version.number, **counts, "scores": said})


def _read(row: dict[str, Any], place: int) -> Any:
    try:
        return read_score(row)
    except Invalid as error:
        raise Invalid({f"scores.{place}.{name}": words for name, words in error.errors.items()}) from None


def _said(receipt: ScoreReceipt) -> dict[str, Any]:
    item = {"item": receipt.item.uid} if receipt.item else {}
    reason = {"reason": receipt.reason} if receipt.reason else {}
    return {"status": receipt.status, **item, **reason}


class GraderAdopt(AssayView):
    @extend_schema(
        operation_id="graders_adopt_scores", tags=["graders"], request=None, responses={202: CountedVersionOut}
    )
    def post(self, request: Request, uid: str, number: int) -> Response:
        """Have the worker keep what runs brought along, or what was said of them later, under this version's source.

        What is there already stays. An entry in the audit log says what came of it.
        """
        version = version_for(request.user, uid, number, "manage_graders")
        if not version.source:
            raise Conflict("This version names no source, so no score that came in with runs is its own.")
        adopt_run_scores.delay(version.pk, request.user.pk)
        return Response(CountedVersionOut(version).data, status=202)


# --- What is counted of a version -------------------------------------------------------------------------------------
class GraderTimesOut(serializers.Serializer[Any]):
    attempts = serializers.IntegerField()
    items = serializers.IntegerField()


class GraderBestOfOut(EstimateOut):
    k = serializers.IntegerField()


class GraderChangingOut(serializers.Serializer[Any]):
    item = serializers.UUIDField()
    task = serializers.CharField()
    values = serializers.ListField(child=serializers.FloatField())
    passed = serializers.IntegerField()
    truth = serializers.BooleanField(allow_null=True, help_text="The label's verdict.")


class GraderRepeatsOut(serializers.Serializer[Any]):
    """What a version says of a run when it is asked again, and what trying until it passes gains."""

    criterion = serializers.CharField(allow_blank=True)
    against = serializers.CharField()
    threshold = serializers.CharField()
    calls = serializers.IntegerField()
    items = serializers.IntegerField()
    cap = serializers.IntegerField(allow_null=True)
    at_cap = serializers.IntegerField()
    times = GraderTimesOut(many=True)
    n_repeated = serializers.IntegerField()
    changes = EstimateOut()
    spread = EstimateOut()
    best_of = GraderBestOfOut(many=True, help_text="How often a run that experts fail passes in k tries.")
    n_changing = serializers.IntegerField()
    changing = GraderChangingOut(many=True)


class GraderTestOut(serializers.Serializer[Any]):
    name = serializers.CharField()
    p = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()
    method = serializers.CharField()
    words = serializers.CharField(allow_blank=True)


class GraderLeaningOut(serializers.Serializer[Any]):
    name = serializers.CharField()
    odds = EstimateOut()
    test = GraderTestOut()


class GraderOwnFamilyOut(serializers.Serializer[Any]):
    own = EstimateOut()
    others = EstimateOut(help_text="On others; of comparisons, what experts prefer.")
    test = GraderTestOut()


class GraderFollowsOut(serializers.Serializer[Any]):
    item = serializers.UUIDField()
    task = serializers.CharField()
    first = serializers.BooleanField()


class GraderRunBiasesOut(serializers.Serializer[Any]):
    n = serializers.IntegerField()
    leanings = GraderLeaningOut(many=True)
    areas = serializers.DictField(child=EstimateOut(), help_text="Under ROC: of the grader, and of one feature alone.")
    own_family = GraderOwnFamilyOut(allow_null=True)


class GraderPairBiasesOut(serializers.Serializer[Any]):
    n = serializers.IntegerField()
    n_swapped = serializers.IntegerField()
    consistent = EstimateOut()
    always_first = serializers.IntegerField()
    always_second = serializers.IntegerField()
    place = GraderTestOut()
    right = serializers.DictField(child=EstimateOut(), help_text="shown, swapped, both, longest, first.")
    leanings = GraderLeaningOut(many=True)
    own_family = GraderOwnFamilyOut(allow_null=True)
    follows_place = GraderFollowsOut(many=True)


class GraderBiasesOut(serializers.Serializer[Any]):
    """What a version leans on beside quality. `runs` and `pairs` are absent where there are none."""

    family = serializers.CharField(allow_blank=True)
    criterion = serializers.CharField(allow_blank=True)
    against = serializers.CharField()
    read = serializers.IntegerField()
    of = serializers.IntegerField()
    runs = GraderRunBiasesOut(required=False)
    pairs = GraderPairBiasesOut(required=False)


class GraderBeingCounted(serializers.Serializer[Any]):
    detail = serializers.CharField()


class GraderAuditQueueOut(serializers.Serializer[Any]):
    queue = serializers.UUIDField()
    name = serializers.CharField()
    items = serializers.IntegerField()
    shown = serializers.IntegerField()


class GraderReasonsOut(GraderCheckedOut):
    """What raters found of a version's verdicts and of the places it cites."""

    reasoned = EstimateOut(help_text="Of right verdicts, those that rest on valid places throughout.")
    queues = GraderAuditQueueOut(many=True)


class GraderAuditIn(serializers.Serializer[Any]):
    name = Text(max_length=120)
    rubric = serializers.UUIDField(help_text="One that does not ask raters to check graders gets a next version.")
    guideline = serializers.UUIDField()
    which = serializers.ChoiceField(WHICH, required=False)
    most = Whole(required=False, min_value=1, max_value=MOST_AUDITED)
    overlap = Whole(required=False, min_value=1, max_value=20)


class GraderAuditOpened(serializers.Serializer[Any]):
    queue = serializers.UUIDField()
    name = serializers.CharField()


COUNTING = {"detail": "It is being counted. Ask again in a moment."}


class GraderRepeats(AssayView):
    @extend_schema(
        operation_id="graders_repeats", tags=["graders"], responses={200: GraderRepeatsOut, 202: GraderBeingCounted}
    )
    def get(self, request: Request, uid: str, number: int) -> Response:
        """What it says when it is asked again. 202 while a worker counts for the first time."""
        seen = look_at_repeats(version_for(request.user, uid, number))
        return Response(seen.kept.found.as_dict()) if seen.kept else Response(COUNTING, status=202)


class GraderBiases(AssayView):
    @extend_schema(
        operation_id="graders_biases", tags=["graders"], responses={200: GraderBiasesOut, 202: GraderBeingCounted}
    )
    def get(self, request: Request, uid: str, number: int) -> Response:
        """What it leans on beside quality. 202 while a worker counts for the first time."""
        seen = look_at_biases(version_for(request.user, uid, number))
        return Response(seen.kept.found.as_dict()) if seen.kept else Response(COUNTING, status=202)


class GraderReasons(AssayView):
    @extend_schema(operation_id="graders_reasons", tags=["graders"], responses=GraderReasonsOut)
    def get(self, request: Request, uid: str, number: int) -> Response:
        """What raters found of its verdicts and evidence, after their own answers. For leads."""
        version = version_for(request.user, uid, number, "view_agreement")
        return Response(GraderReasonsOut(reasons_of(version, reader=request.user).as_dict()).data)

    @extend_schema(
        operation_id="graders_audit", tags=["graders"], request=GraderAuditIn, responses={201: GraderAuditOpened}
    )
    def post(self, request: Request, uid: str, number: int) -> Response:
        """Open a queue in which raters check some of its verdicts, each after their own answer. For leads."""
        version = version_for(request.user, uid, number, "manage_queue")
        asked, project = self.body(GraderAuditIn), version.grader.project
        rubric, guideline = rubric_by_uid(project, asked["rubric"]), guideline_by_uid(project, asked["guideline"])
        if rubric is None or guideline is None:
            missing = {"rubric": rubric, "guideline": guideline}
            raise Invalid({name: f"This project has no such {name}." for name, row in missing.items() if row is None})
        asked |= {"rubric": rubric, "guideline": guideline}
        queue = open_audit(actor=request.user, version=version, **asked)
        return Response({"queue": queue.uid, "name": queue.name}, status=201)
