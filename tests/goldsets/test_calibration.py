"""Calibration: a version's scores beside the labels that stand, by one report for API and shell; sealed runs logged."""

import json
from datetime import timedelta
from io import StringIO

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from goldsets.actions.graders import add_version, register_grader, set_version
from goldsets.actions.splitting import seal_splits
from goldsets.queries import calibration as kept
from goldsets.queries.calibration import calibration, choices, question, seen_calibration
from goldsets.queries.graded import graded
from goldsets.queries.verdicts import against, asked_in, verdict
from goldsets.tasks import count_version_calibration, watch_graders
from reviews.actions.adjudicating import adjudicate
from reviews.actions.dealing import claim
from reviews.actions.webhooks import create_webhook
from reviews.enums import OutcomeResult, Split
from reviews.errors import Invalid
from reviews.models import Delivery, Event, QueueItem, Task
from reviews.task_review import task_review
from tests import factories as make
from tests.factories import graders, labelled
from tests.factories.furnished import judge
from tests.reviews.api.talking import by, is_problem
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db


@pytest.fixture
def runs(project):
    """Eight settled runs: four pass everything, one is done poorly, three fail a gate; a ninth waits."""
    items = [make.item(project, family="refunds" if number % 2 else "addresses") for number in range(8)]
    waiting = make.item(project, family="refunds", result=OutcomeResult.FAILURE)
    queue = make.queue(project, items=[*items, waiting], overlap=1)
    alice = make.expert(project, "Alice")
    said = [make.passing()] * 4 + [make.passing(success=1)] + [make.failing()] * 3
    for payload in said:
        judge(queue, alice, payload)
    return [*items, waiting]


@pytest.fixture
def version(project, runs):
    """It passes three of the four good runs, the poor one, and one that breaks policy; and the one that waits."""
    made = graders.version(project)
    graders.scored(made, *zip(runs, [1, 1, 1, 0, 1, 1, 0, 0, 1], strict=True))
    return made


def report(scored, **asked):
    return calibration(question(scored.grader, asked))


def test_the_report_holds_first_scores_against_labels(version, runs):
    found = report(version)
    assert (found.found.n_scored, found.found.n_labelled) == (9, 8)
    table = found.found.errors
    assert (table.true_passes, table.false_passes, table.false_fails, table.true_fails) == (3, 2, 1, 2)
    assert found.against_words == "no gate fails and Task success is above 1.5"
    assert found.found.rewarded.items == (runs[5].uid,)
    assert found.found.rates.apparent.n_units == 9
    assert found.missing[0].startswith("120 more labelled failures to bound false positives at 5%")
    cuts = {cut.title: (cut.errors.false_passes, cut.errors.failures) for cut in found.found.cuts}
    assert cuts["gate Only authorised accounts"] == (1, 3)
    assert cuts["family refunds"] == (1, 2)


def test_what_is_asked_of_tasks_is_no_part_of_a_runs_verdict(project, version):
    make.queue(project, items=[], criteria=task_review()["criteria"], rubric={"item_kind": "task"})
    assert report(version).against_words == "no gate fails and Task success is above 1.5"


def test_a_rubric_that_none_of_its_labels_answers_changes_nothing(project, version, runs):
    """Neither the words nor a figure, whether or not its queue holds a run; and nobody is offered its criteria."""
    before = report(version)
    offered = choices(question(version.grader, {})).against
    letter = [
        {**make.CRITERIA[2], "key": "accuracy", "title": "Clinical accuracy"},
        {"key": "success", "title": "How much", "kind": "number", "lowest": 0, "highest": 9},
    ]
    make.queue(project, items=[make.item(project), runs[8]], criteria=letter)
    assert report(version) == before
    assert choices(question(version.grader, {})).against == offered
    assert ("success", "Task success") in offered
    with pytest.raises(Invalid, match="held against verdict, gates, authorised, consent, success, process"):
        report(version, against="accuracy")


def test_a_second_try_is_not_the_one_that_counts(version, runs):
    graders.scored(version, (runs[7], 1), attempt=2)
    assert report(version).found.errors.false_passes == 2
    assert dict(report(version).found.regrading.best_of)[2].value == 1.0


def test_what_scores_are_held_against_is_a_choice(version):
    gates = report(version, against="gates")
    assert (gates.found.errors.false_passes, gates.found.errors.failures) == (1, 3)
    strict = report(version, against="success>=3")
    # A failed gate leaves no quality value, so those three runs have none.
    assert (strict.found.n_labelled, strict.found.errors.successes) == (5, 4)
    assert report(version, against="consent").found.errors.failures == 0
    for wrong in ("colour", "success>=high", "consent>=1", "verdict>=1"):
        with pytest.raises(Invalid) as refused:
            report(version, against=wrong)
        assert "against" in refused.value.errors


def test_an_unsure_gate_leaves_no_verdict_unless_another_fails(project, runs):
    known = {one.key: one for one in asked_in(project).values()}
    held = against("", asked_in(project))
    gates = known["authorised"], known["consent"]
    assert verdict([(gates[0], 1), (gates[1], -1)], held) is None
    assert verdict([(gates[0], 0), (gates[1], -1)], held) is False
    assert verdict([(gates[0], 1), (gates[1], 1), (known["success"], 2)], held) is True
    assert verdict([], held) is None


def test_a_run_on_which_queues_differ_has_no_verdict(project, version, runs):
    other = make.queue(project, items=[runs[0]], overlap=1)
    judge(other, make.expert(project, "Bob"), make.failing())
    found = report(version)
    assert (found.found.n_labelled, found.n_contradicted) == (7, 1)


def test_raters_count_as_they_answered_before_a_lead_decided(project, lead):
    item = make.item(project)
    queue = make.queue(project, items=[item], overlap=2)
    for name, payload in (("Alice", make.passing()), ("Bob", make.failing())):
        judge(queue, make.expert(project, name), payload)
    version = graders.version(project)
    graders.scored(version, (item, 1))
    assert graded(version, "", against("", {}), asked_in(project)).rows[0].truth is None
    waiting = QueueItem.objects.get(queue=queue)
    decision = {
        "gates": {"authorised": "fail", "consent": "pass"},
        "failure": make.failing()["failure"],
        "reasons": {"authorised": "rater_error"},
        "note": "A stranger's account was opened.",
    }
    adjudicate(actor=lead, queue_item=waiting, payload=decision)
    (row,) = graded(version, "", against("", asked_in(project)), asked_in(project)).rows
    assert (row.truth, sorted(row.said), row.decided) == (False, [False, True], True)
    ceiling = report(version).found.ceiling
    assert (ceiling.decided.value, ceiling.grader.value) == (0.5, 0.0)


def test_held_out_runs_are_left_out_and_each_reading_of_them_is_logged(project, lead, version, runs):
    Task.objects.filter(pk=runs[5].trajectory.task_id).update(split=Split.HELD_OUT, family="sealed")
    left = report(version)
    assert (left.found.errors.false_passes, left.n_held_out) == (1, 1)
    address = f"/api/v1/graders/{version.grader.uid}/calibration/"
    assert by(lead).get(address).json()["n_held_out"] == 1
    assert not Event.objects.filter(verb="sealed.read").exists()
    sealed = by(lead).get(address, {"part": "held_out"}).json()
    assert (sealed["n_scored"], sealed["errors"]["false_passes"]) == (1, 1)
    event = Event.objects.get(verb="sealed.read")
    assert (event.actor, event.data["number"]) == (lead, 1)
    call_command("calibrate", version.grader.name, "--part=held_out", stdout=StringIO())
    assert Event.objects.filter(verb="sealed.read").count() == 2


def test_a_split_is_read_by_itself(project, lead, version):
    seal_splits(actor=lead, project=project, train=50, calibration=50, held_out=0, seed="x")
    whole = report(version).found
    parts = [report(version, part=part).found.n_scored for part in ("train", "calibration")]
    assert sum(parts) == whole.n_scored == 9
    with pytest.raises(Invalid, match="train, calibration, held_out"):
        report(version, part="tests")


def test_the_next_version_is_held_beside_the_one_before(lead, version, runs):
    second = add_version(actor=lead, grader=version.grader, scale="real")
    graders.scored(second, *zip(runs, [0.9, 0.8, 0.9, 0.7, 0.2, 0.1, 0.3, 0.2, 0.5], strict=True))
    found = report(second)
    assert found.version == 2
    assert "middle of its scale is taken: 0.5" in found.threshold_words
    assert (found.found.beside.other, found.found.beside.all.first_only) == (1, 3)
    set_version(actor=lead, version=second, threshold=0.75, attempts_cap=None)
    assert report(second).found.errors.false_fails == 1
    with pytest.raises(Invalid, match="no such version"):
        report(second, version=9)


def test_scores_of_single_criteria_are_held_against_these(project, runs):
    made = graders.version(project)
    graders.scored(made, *((item, 1) for item in runs), criterion="authorised")
    graders.scored(made, *((item, 1) for item in runs[:5]), criterion="success")
    found = report(made, criterion="authorised")
    assert (found.found.errors.false_passes, found.against_words) == (3, "Only authorised accounts passes")
    assert [(one.key, one.errors.false_passes) for one in found.criteria] == [("authorised", 3), ("success", 1)]
    with pytest.raises(Invalid, match="authorised, success"):
        report(made, criterion="colour")


def test_figures_are_kept_until_something_happens(lead, version, runs):
    asked = question(version.grader, {})
    kept = seen_calibration(asked).kept
    graders.scored(version, (runs[8], 1), attempt=2)
    set_version(actor=lead, version=version, threshold=1, attempts_cap=3)
    assert seen_calibration(asked).kept.found.found.regrading.n_repeated == 1
    assert kept.found.found.regrading.n_repeated == 0


def test_many_scores_are_counted_by_the_worker_and_the_answer_says_when_to_ask_again(lead, version, monkeypatch):
    monkeypatch.setattr(kept, "FEW_SCORES", 3)
    client, address = by(lead), f"/api/v1/graders/{version.grader.uid}/calibration/"
    waits = client.get(address)
    assert (waits.status_code, waits["Retry-After"]) == (202, "2")
    asked = question(version.grader, {})
    count_version_calibration(version.grader_id, asked.asked)
    assert client.get(address).json()["errors"]["false_passes"] == 2


def test_the_api_tells_leads_and_engineers_and_nobody_else(project, lead, version, runs):
    address = f"/api/v1/graders/{version.grader.uid}/calibration/"
    engineer = make.person("Eli")
    make.member(project, engineer, "engineer")
    told = by(engineer).get(address).json()
    assert told["errors"]["false_positive_rate"]["value"] == 0.5
    assert told["rewarded"]["items"] == [str(runs[5].uid)]
    assert told["stale"] is False
    is_problem(by(make.expert(project, "Carol")).get(address), 403)
    is_problem(by(make.person("Mallory")).get(address), 404)
    for field, wrong in {"version": "x", "part": "none", "limit": "7", "against": "x", "other": "99"}.items():
        assert field in is_problem(by(lead).get(address, {field: wrong}), 422)["errors"]


def test_a_run_in_ones_own_hands_is_not_named(project, lead, version, runs):
    queue = make.queue(project, items=[runs[5]], overlap=1)
    claim(actor=lead, queue=queue)
    told = by(lead).get(f"/api/v1/graders/{version.grader.uid}/calibration/").json()
    assert told["rewarded"]["items"] == []
    assert told["rewarded"]["n_items"] == 1


def test_the_command_prints_a_table_or_json_and_fails_above_the_limit(version):
    def run(*arguments):
        out = StringIO()
        call_command("calibrate", version.grader.name, *arguments, stdout=out)
        return out.getvalue()

    told = json.loads(run("--json", "--version=1"))
    assert told["errors"]["false_passes"] == 2
    table = run()
    assert "9 runs scored, 8 of them labelled" in table
    assert "False positives: 0.50 [0.15, 0.85], n 4, 95% Wilson" in table
    assert "Missing: 120 more labelled failures" in table
    with pytest.raises(CommandError, match="not bounded at 5%"):
        run("--check")
    with pytest.raises(CommandError, match="no grader called"):
        call_command("calibrate", "nobody")
    with pytest.raises(CommandError, match="no such version"):
        run("--version=4")


def test_a_grader_without_a_version_or_a_label_says_so(project, lead):
    grader = register_grader(actor=lead, project=project, name="New", kind="model")
    problem = is_problem(by(lead).get(f"/api/v1/graders/{grader.uid}/calibration/"), 422)
    assert problem["errors"]["version"] == "This grader has no version yet."
    version = add_version(actor=lead, grader=grader)
    assert report(version).missing == [
        "No scored run has a trusted label yet: settle some, or score settled ones.",
    ]


# --- Watch ------------------------------------------------------------------------------------------------------------
@pytest.fixture
def parting(project):
    return parting_in(project)


def parting_in(project):
    """Two checkpoints: at the first the grader and the experts agree, at the second it passes what they fail."""
    rows = [{"task": f"task {number}", "family": "sealed" if number > 55 else ""} for number in range(60)]
    items = labelled.runs(project, rows)
    good, bad = {"authorised": 1, "consent": 1, "success": 3}, {"authorised": 0, "consent": 1}
    labelled.settled(project, items, ([good] * 10 + [bad] * 10) + [good] * 5 + [bad] * 35)
    made = graders.version(project)
    graders.scored(made, *zip(items, [1] * 10 + [0] * 10, strict=False), meta={"training_step": 0, "kl": 0})
    graders.scored(made, *zip(items[20:], [1] * 36 + [0] * 4, strict=True), meta={"training_step": 900, "kl": 16})
    return made


def mend(project, version):
    """A later checkpoint at which the grader and the experts agree again."""
    items = labelled.runs(project, [{"task": f"mended {number}"} for number in range(20)])
    labelled.settled(project, items, [{"authorised": 1, "consent": 1, "success": 3}] * 20)
    graders.scored(version, *zip(items, [1] * 20, strict=True), meta={"training_step": 1800, "kl": 25})


def test_a_grader_that_parts_from_the_experts_rings_on_page_api_and_command(lead, parting):
    told = by(lead).get(f"/api/v1/graders/{parting.grader.uid}/watch/").json()
    assert (told["rang"], told["checkpoints"]["alarm"]["since"]) == (True, "step 0")
    assert [part["distance"] for part in told["checkpoints"]["parts"]] == [0, 4]
    assert [part["gap"]["value"] for part in told["checkpoints"]["parts"]] == [0, pytest.approx(31 / 40)]
    page = enter(lead).get(reverse("goldsets:watch", args=[parting.grader.uid, 1])).content.decode()
    assert "<b>Alarm.</b> From step 0 to step 900 the grader moves by +0.40 and the experts by -0.38" in page
    assert "by the square root of KL" in page
    out = StringIO()
    with pytest.raises(CommandError, match=r"they part\. Stop at step 0"):
        call_command("watch_grader", parting.grader.name, stdout=out)
    assert "step 900" in out.getvalue()


def test_a_grader_that_begins_to_part_is_told_once_until_it_has_ended(project, lead, parting):
    create_webhook(actor=lead, project=project, url="https://desk.example/hook", events=["grader.parted"])
    for _look in range(2):
        watch_graders()
    (told,) = Event.objects.filter(verb__startswith="grader.parted")
    assert (told.actor, told.data["grader"]) == (None, str(parting.grader.uid))
    assert told.data["why"].startswith("From step 0 to step 900 the grader moves by +0.40")
    assert Delivery.objects.get().name == "grader.parted"
    page = reverse("goldsets:graders", args=[project.slug])
    assert "parts from the experts" in enter(lead).get(page).content.decode()

    # Scores of a later checkpoint that is mended: what is told next time is a new beginning.
    mend(project, parting)
    watch_graders()
    assert Event.objects.filter(verb="grader.rejoined").count() == 1
    assert "parts from the experts" not in enter(lead).get(page).content.decode()
    assert Delivery.objects.count() == 1


def test_a_version_that_gave_no_score_lately_is_not_watched(parting):
    with time_machine.travel(timezone.now() + timedelta(days=31), tick=False):
        watch_graders()
    assert not Event.objects.filter(verb="grader.parted").exists()


def test_scores_of_a_number_keep_no_other_grader_from_being_watched(project, lead):
    """From which number on a run passes nobody has said, so such scores are held against the verdict."""
    minutes = {"key": "minutes", "title": "Minutes", "kind": "number", "settings": {"min": 0, "max": 60}}
    items = labelled.runs(project, [{"task": "timed"}])
    labelled.settled(project, items, [{"minutes": {"number": 5}}], criteria=[minutes])
    counting = graders.version(project, criterion="minutes", scale="real", highest=60)
    graders.scored(counting, (items[0], 5), criterion="minutes")
    assert question(counting.grader, {}).held.key == "verdict"
    later = parting_in(project)
    watch_graders()
    assert [event.target_id for event in Event.objects.filter(verb="grader.parted")] == [later.pk]


def test_an_alarm_ends_however_long_ago_the_last_score_came(project, parting):
    watch_graders()
    mend(project, parting)
    with time_machine.travel(timezone.now() + timedelta(days=31), tick=False):
        watch_graders()
    assert Event.objects.filter(verb="grader.rejoined").count() == 1


def test_a_grader_whose_latest_version_is_sound_is_not_marked(project, lead, parting):
    watch_graders()
    page = reverse("goldsets:graders", args=[project.slug])
    add_version(actor=lead, grader=parting.grader)
    assert "parts from the experts" not in enter(lead).get(page).content.decode()


def test_held_out_runs_stand_apart_and_are_logged_when_they_are_watched(project, lead, parting):
    Task.objects.filter(project=project, family="sealed").update(split=Split.HELD_OUT)
    address = f"/api/v1/graders/{parting.grader.uid}/watch/"
    assert by(lead).get(address).json()["apart"] == []
    assert not Event.objects.filter(verb="sealed.read").exists()
    told = by(lead).get(address, {"sealed": "1"}).json()
    assert sum(part["gap"]["n_units"] for part in told["checkpoints"]["parts"]) == 60
    assert Event.objects.filter(verb="sealed.read").count() == 1
    is_problem(by(lead).get(address, {"sealed": "perhaps"}), 422)
