"""The demo's three weeks of work: all of it there, plausible, and made only once."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.core.management import call_command
from django.db import transaction
from django.test import override_settings
from django.utils import timezone

from annotator.demo import replies, step_labels
from annotator.demo.clock import running_from
from annotator.demo.people import PEOPLE
from annotator.demo.seed import seed
from annotator.models import User
from goldsets.enums import DatasetState
from goldsets.models import (
    DatasetVersion,
    GoldItem,
    GoldPlacement,
    GoldPolicy,
    Grader,
    RationaleFlag,
    Reviewer,
    Stage,
)
from goldsets.queries.agreement import queue_agreement
from goldsets.queries.audits import reasons_of
from goldsets.queries.biases import count_biases
from goldsets.queries.calibration import calibration, question
from goldsets.queries.guards import axes
from goldsets.queries.ledger import ledger
from goldsets.queries.repeats import count_repeats
from goldsets.queries.stages import live_of
from goldsets.queries.standing import queue_standing
from goldsets.reviewing.guards import AXES
from reviews.enums import AssignmentState, QueueItemState, Role
from reviews.models import (
    Assignment,
    Event,
    ImportJob,
    Item,
    Judgment,
    Label,
    Membership,
    Project,
    Queue,
    QueueItem,
    Slot,
    Task,
)
from reviews.queries.payloads import payload_of

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def desk(django_db_setup, django_db_blocker, tmp_path_factory):
    """The queue of the seeded demo. Seeded once for all tests here, and rolled back after them."""
    files = tmp_path_factory.mktemp("files")
    with django_db_blocker.unblock(), override_settings(MEDIA_ROOT=files), transaction.atomic():
        call_command("seed_demo")
        yield Queue.objects.get(project__slug="northpier", name="Support runs")
        transaction.set_rollback(True)


def test_a_clock_in_the_past_stands_still_until_it_is_moved():
    monday = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)
    with running_from(monday) as clock:
        assert timezone.now() == monday
        clock.moment += timedelta(minutes=5)
        assert timezone.now() == monday + timedelta(minutes=5)
    assert timezone.now() > monday


def test_everybody_has_their_role(desk):
    roles = dict(Membership.objects.filter(project=desk.project).values_list("user__email", "role"))
    assert {role: roles[email] for role, (email, _name) in PEOPLE.items()} == {
        "expert": Role.EXPERT,
        "lead": Role.LEAD,
        "engineer": Role.ENGINEER,
        "admin": Role.ADMIN,
    }


def test_simulated_raters_are_marked_as_such_and_nobody_else_is(desk):
    simulated = Membership.objects.filter(project=desk.project, simulated=True)
    assert {member.user.email.split("@")[1] for member in simulated} == {"simulated.example"}
    assert simulated.count() == 5
    assert set(Judgment.objects.values_list("rater", flat=True)) == set(simulated.values_list("user", flat=True))


def test_all_runs_came_in_through_an_import_with_its_receipt(desk):
    job = ImportJob.objects.get(project=desk.project)
    assert (job.state, job.created, job.refused) == ("finished", 240, 0)
    assert Item.objects.filter(project=desk.project, trajectory__source_name="northpier-runs.jsonl").count() == 240
    assert Task.objects.filter(project=desk.project).values("family").distinct().count() == 13


def test_part_of_the_work_is_done_and_the_rest_waits(desk):
    states = Counter(QueueItem.objects.filter(queue=desk).values_list("state", flat=True))
    judged = Judgment.objects.filter(queue=desk).values("item").distinct().count()
    assert 85 <= judged <= 105
    assert 55 <= states[QueueItemState.SETTLED] <= 90
    assert 6 <= states[QueueItemState.WAITING] <= 12
    # How far the raters come in their days depends a little on where gold fell.
    assert QueueItem.objects.filter(queue=desk, item__judgments=None).count() >= sum(states.values()) / 2
    assert Label.objects.filter(queue=desk).count() == states[QueueItemState.SETTLED]
    assert set(Label.objects.values_list("basis", flat=True)) == {"unanimous", "aggregated", "adjudicated"}


def test_pairs_of_runs_are_preferred_and_some_wait_for_the_lead(desk):
    pairs = Queue.objects.get(project=desk.project, name="Which run is better")
    assert 25 <= QueueItem.objects.filter(queue=pairs).count() <= 60
    judgments = Judgment.objects.filter(queue=pairs)
    assert judgments.count() >= 50
    assert QueueItem.objects.filter(queue=pairs, state=QueueItemState.WAITING).exists()
    assert Label.objects.filter(queue=pairs).exists()
    prefers = [payload_of(judgment)["criteria"].get("better", {}) for judgment in judgments]
    assert {"prefers", "tie"} <= {name for said in prefers for name in said}


def test_tasks_wait_to_be_reviewed_each_with_what_solvers_and_hackers_did(desk):
    queue = Queue.objects.get(project=desk.project, name="Task review")
    items = [row.item for row in queue.queue_items.order_by("pk")]
    assert len(items) == 3
    roles = [Counter(run.role for run in item.candidates.all()) for item in items]
    assert roles == [{"solver": 2, "hacker": 1}, {"solver": 2, "hacker": 1}, {"solver": 2}]
    hacks = [run.result["passed"] for item in items for run in item.candidates.filter(role="hacker")]
    assert hacks == [True, True]
    assert {run.result["passed"] for run in items[1].candidates.filter(role="solver")} == {False}
    assert not Judgment.objects.filter(queue=queue).exists()


def test_a_factory_of_tasks_has_two_recipes_and_the_later_one_yields_more(desk):
    lines = {line.title: line for line in ledger(desk.project).recipes}
    first, second = lines["factory 0.1"], lines["factory 0.2"]
    assert (first.labels, second.labels) == (13, 13)
    assert first.kept < second.kept
    assert first.kept_per_dollar.value < second.kept_per_dollar.value
    guards = {axis.criterion: axis.guards[0] for axis in axes(desk.project, None)}
    assert guards["prompt_intent"].errors.n == 26
    assert 0.6 < guards["prompt_intent"].errors.accuracy.value < 1
    assert guards["world_realism"].flagged


def test_some_rationales_speak_for_the_other_verdict(desk):
    flags = RationaleFlag.objects.filter(judgment__queue=desk)
    assert 1 <= flags.count() <= 12
    assert {flag.judgment.rater.name.split()[0] for flag in flags.select_related("judgment__rater")} & {
        "Kofi",
        "Noémie",
    }


def test_nobody_is_in_the_middle_of_anything(desk):
    states = set(Assignment.objects.filter(queue=desk).values_list("state", flat=True))
    assert states <= {AssignmentState.SUBMITTED, AssignmentState.SKIPPED}


def test_gold_was_made_and_dealt(desk):
    assert GoldItem.objects.filter(queue=desk).count() == 24
    assert GoldItem.objects.filter(queue=desk, queue_item__state=QueueItemState.SETTLED).count() == 24
    assert GoldPolicy.objects.get(queue=desk).rate == Decimal("0.12")
    assert GoldPlacement.objects.filter(gold_item__queue=desk).count() >= 15


def test_a_data_set_of_what_may_leave_is_there(desk):
    version = DatasetVersion.objects.get(dataset__project=desk.project)
    assert (version.state, version.dataset.name, version.dataset.queue) == (
        DatasetState.FINISHED,
        "Support labels",
        desk,
    )
    assert version.manifest["counts"]["rows"] >= 50
    assert version.manifest["leak_check"]["passed"]


def test_raters_agree_on_success_more_than_on_communication(desk):
    percent = {entry.key: entry.percent.value for entry in queue_agreement(desk).criteria}
    assert percent["communication"] < percent["process"] < percent["task_success"]


def test_the_weak_rater_stands_out(desk):
    standing = {entry.rater.split()[0]: entry for entry in queue_standing(desk) if entry.simulated}
    without = {name: entry.alpha_change.value for name, entry in standing.items()}
    assert max(without, key=without.get) == "Dana"
    assert without["Dana"] > 0.05
    assert standing["Dana"].median_seconds.value == min(entry.median_seconds.value for entry in standing.values())


def test_time_passes_as_it_does(desk):
    """In order, on workdays, in the last three weeks, and never in the future."""
    moments = list(Event.objects.filter(project=desk.project).order_by("pk").values_list("at", flat=True))
    assert moments == sorted(moments)
    assert moments[-1] < timezone.now()
    assert timedelta(days=16) < timezone.now() - moments[0] < timedelta(days=24)
    assert all(moment.weekday() < 5 for moment in moments)
    active = Judgment.objects.filter(queue=desk).values_list("active_seconds", flat=True)
    assert 20 <= min(active) <= 60
    assert max(active) > 100


def test_a_reviewer_of_replies_is_proven_signed_and_in_shadow(desk):
    queue = Queue.objects.get(project__slug=replies.SLUG)
    reviewer = Reviewer.objects.get(queue=queue)
    assert (reviewer.state, reviewer.assurance["missing"]) == ("signed", [])
    assert reviewer.signed_by != reviewer.created_by
    assert reviewer.origins["raters"] == {"people": 3, "simulated": 3}
    stage = Stage.objects.get(queue=queue)
    assert (stage.state, stage.reviewer, stage.verdicts.count()) == ("shadow", reviewer, replies.LIVE)
    live = live_of(stage)
    assert sum(kind.agreement.n_units for kind in live.kinds) <= replies.JUDGED
    assert "10% is promised" in " ".join(live.why_not)


def test_what_was_written_at_once_is_as_the_actions_would_have_left_it(desk):
    """The rows of the replies against those of the support desk, which came through the raters' own door."""
    queue = Queue.objects.get(project__slug=replies.SLUG)
    settled = QueueItem.objects.filter(queue=queue, state=QueueItemState.SETTLED)
    assert settled.count() == replies.SETTLED + replies.JUDGED
    early, late = settled.order_by("pk").first(), settled.order_by("pk").last()
    for name in ("rubric_id", "guideline_id", "judgment_count", "versions", "revision"):
        assert getattr(early.label, name) == getattr(late.label, name), name
    slots = Slot.objects.filter(queue=queue, queue_item__in=settled)
    assert set(slots.values_list("state", flat=True)) == {"done"}
    for row in (early, late):
        assert Counter(row.item.assignments.values_list("state", flat=True)) == {"submitted": 3}
    agreement = queue_agreement(queue).criteria[0]
    assert agreement.alpha.value > 0.8


def test_doing_it_again_does_nothing(desk):
    before = (User.objects.count(), Project.objects.count(), Event.objects.count(), Judgment.objects.count())
    call_command("seed_demo")
    assert seed(now=timezone.now()) is False
    assert before == (User.objects.count(), Project.objects.count(), Event.objects.count(), Judgment.objects.count())


def test_the_steps_of_some_runs_are_labelled_and_a_lead_finds_some_to_decide(desk):
    queue = Queue.objects.get(project=desk.project, name=step_labels.NAME)
    judgments = Judgment.objects.filter(queue=queue)
    assert judgments.count() == sum(step_labels.QUOTA.values())
    first = [min((label.step for label in j.step_labels.all() if label.value < 0), default=None) for j in judgments]
    assert {step is None for step in first} == {True, False}
    states = Counter(queue.queue_items.values_list("state", flat=True))
    assert states[QueueItemState.SETTLED] >= 3
    assert states[QueueItemState.WAITING] >= 1
    assert states[QueueItemState.COLLECTING] >= 10


def test_graders_stand_with_the_errors_that_were_put_into_them(desk):
    of_runs = Grader.objects.filter(project=desk.project).exclude(criterion__in=AXES)
    graders = {grader.name: grader.versions.order_by("number") for grader in of_runs}
    assert set(graders) == {"Ticket resolved", "Consent check", "Policy judge", "Pair judge"}
    worse, better = graders["Policy judge"]
    wrong = [calibration(question(each.grader, {"version": each.number})).found.errors for each in (worse, better)]
    assert wrong[0].false_positive_rate.value > wrong[1].false_positive_rate.value
    again = count_repeats(worse).found
    tries = [share.value for _, share in again.found.best_of]
    assert tries == sorted(tries)
    assert tries[-1] > tries[0]
    (pairs,) = graders["Pair judge"]
    found = count_biases(pairs).found.pairs
    assert found.always_first > found.always_second
    lead = desk.project.memberships.filter(role=Role.LEAD)[0].user
    assert reasons_of(better, reader=lead).checked.right.n_units == 14
