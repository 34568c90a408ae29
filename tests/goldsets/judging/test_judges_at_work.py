"""A judge at work in a queue: asked about what comes in, within its budget, and held against people like any rung."""

from decimal import Decimal

import pytest
from django.core.management import call_command
from django.urls import reverse

from goldsets.actions.asking_for_stages import ask_for_stage
from goldsets.actions.grader_scores import import_scores, post_scores
from goldsets.actions.judge_work import run_judge
from goldsets.actions.judges import cancel_judge, resume_judge
from goldsets.actions.staging import change_stage, let_decide, run_stage, start_stage
from goldsets.models import JudgedItem, JudgeRun, Stage, StageVerdict
from goldsets.queries.stages import asked_so_far, live_of
from reviews.actions.adjudicating import decide_ahead
from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.enums import Basis
from reviews.errors import Conflict, Invalid
from reviews.models import Label, QueueItem
from tests import factories as make
from tests.factories import judges, stages
from tests.factories.stages import OTHER, REFUND, STRANGER
from tests.goldsets.judging import endpoint as served
from tests.goldsets.judging.endpoint import KEY, answers, saying
from tests.reviews.api.talking import by
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db
# What the model answers costs 1,000 tokens in and 100 out.
AN_ANSWER = Decimal("0.0045")
ARTEFACT = {
    "kind": "judge",
    "judge": {},
    "only": None,
    "slope": 10.0,
    "offset": -5.0,
    "thresholds": {"pass": 0.9, "fail": 0.9},
}


def keeping(prompt):
    """Keeps a refund and drops a stranger's account; of anything else it says nothing that can be read."""
    if "stranger" in prompt:
        return answers(prompt, {"keep": False}, step=1, quote=STRANGER)
    return answers(prompt, {"keep": True}, step=1, quote=REFUND) if REFUND in prompt else "Who knows?"


@pytest.fixture(autouse=True)
def model(settings):
    with served.model() as server:
        settings.JUDGE_BASE_URL, settings.JUDGE_API_KEY = server.url, KEY
        settings.JUDGE_TIMEOUT_SECONDS, settings.JUDGE_BACK_OFF_SECONDS, settings.JUDGE_CONCURRENCY = 5.0, 0.0, 1
        server.usual = saying(keeping)
        yield server


@pytest.fixture
def queue(project):
    return stages.keeping_queue(project)


@pytest.fixture
def signed(queue):
    setup = judges.judge(queue, criterion="keep")
    return stages.signed(queue, rung="judge", judge=setup.version, artefact=ARTEFACT)


@pytest.fixture
def stage(lead, queue, signed):
    return start_stage(actor=lead, queue=queue, reviewer=signed, budget=Decimal(1), audit_share=0.01)


def look(stage, **asked):
    """A worker's look, with its time for the judge. Returns the run that asked."""
    run = ask_for_stage(stage_id=stage.pk, at_once=True, **asked)
    if run:
        run_judge(run_id=run.pk)
        run.refresh_from_db()
    run_stage(stage_id=stage.pk)
    return run


def verdicts(stage):
    rows = StageVerdict.objects.filter(stage=stage).order_by("queue_item", "pk")
    return list(rows.values_list("verdict", "sure", "outcome"))


def decides(stage):
    Stage.objects.filter(pk=stage.pk).update(state="deciding", takes=[1, 0], decides_from=stage.started_at)
    stage.refresh_from_db()


def test_in_shadow_it_is_asked_about_live_items_and_its_verdicts_are_noted(queue, stage, model):
    stages.more(queue, REFUND, STRANGER, OTHER)
    assert run_stage(stage_id=stage.pk) == {}, "nobody has asked it yet"
    run = look(stage)
    assert (run.state, run.stage, run.created_by) == ("finished", stage, stage.started_by)
    assert verdicts(stage) == [(1, True, "watched"), (0, True, "watched"), (None, False, "watched")]
    first = StageVerdict.objects.order_by("pk").first()
    assert (round(first.confidence, 3), first.evidence[0]["quote"]) == (0.993, REFUND)
    asked = len(model.heard)
    assert look(stage) is None, "each item is asked about once"
    assert len(model.heard) == asked


def test_it_decides_what_it_is_sure_of_once_people_have_borne_it_out(project, lead, queue, stage):
    stages.more(queue, *[REFUND] * 13)
    look(stage)
    alice = make.expert(project)
    for number in range(13):
        mine = claim(actor=alice, queue=queue)
        said = {"criteria": {"keep": True}, "confidence": 3}
        submit(actor=alice, uid=mine.uid, payload=said, idempotency_key=str(number))
    assert let_decide(actor=lead, stage=stage).takes == [1]
    refund, stranger = stages.more(queue, f"{REFUND} Again.", STRANGER)
    look(stage)
    label = Label.objects.get(item=refund.item)
    assert (label.basis, label.values.get().value) == (Basis.REVIEWER, 1)
    assert not Label.objects.filter(item=stranger.item).exists(), "fails were not borne out"


def test_until_it_has_answered_an_item_is_with_people(project, queue, stage):
    decides(stage)
    (row,) = stages.more(queue, REFUND)
    assert run_stage(stage_id=stage.pk) == {}
    assert claim(actor=make.expert(project), queue=queue).item == row.item
    look(stage)
    assert not Label.objects.filter(item=row.item).exists(), "somebody had begun it by then"


def test_gold_is_asked_about_among_the_others_and_never_taken(lead, queue, stage, model):
    decides(stage)
    rows = stages.more(queue, REFUND, STRANGER)
    decide_ahead(actor=lead, queue_item=rows[0], payload={"criteria": {"keep": True}})
    make.gold(rows[0])
    look(stage)
    phases = dict(StageVerdict.objects.filter(stage=stage).values_list("queue_item", "phase"))
    assert phases == {rows[0].pk: "gold", rows[1].pk: "deciding"}


def test_nothing_is_asked_that_could_go_over_its_budget_and_more_money_lets_it_go_on(lead, queue, signed, model):
    stage = start_stage(actor=lead, queue=queue, reviewer=signed, budget=Decimal("0.25"))
    stages.more(queue, *(f"{REFUND} Number {number}." for number in range(8)))
    run = look(stage)
    assert run.state == "stopped"
    spent = asked_so_far(stage).spent
    assert 0 < spent < 8 * AN_ANSWER
    asked = len(model.heard)
    assert look(stage) is None
    assert "budget does not allow" in asked_so_far(stage).held_up
    change_stage(actor=lead, stage=stage, budget=Decimal(1))
    stage.refresh_from_db()
    assert look(stage) == run
    assert (asked_so_far(stage).waiting, asked_so_far(stage).held_up) == (0, "")
    assert len(verdicts(stage)) == 8
    assert asked_so_far(stage).spent == 8 * AN_ANSWER
    assert len(model.heard) == 8 > asked


def test_what_somebody_stopped_stays_stopped_until_they_let_it_go_on(lead, queue, stage, model):
    stages.more(queue, REFUND)
    run = ask_for_stage(stage_id=stage.pk)
    cancel_judge(actor=lead, run=run)
    assert ask_for_stage(stage_id=stage.pk, at_once=True) is None
    assert "Somebody stopped" in asked_so_far(stage).held_up
    resume_judge(actor=lead, run=run, budget=Decimal(1))
    run_judge(run_id=run.pk)
    run_stage(stage_id=stage.pk)
    assert verdicts(stage) == [(1, True, "watched")]


def test_what_comes_in_is_gathered_for_a_while(queue, stage):
    stages.more(queue, REFUND)
    first = ask_for_stage(stage_id=stage.pk)
    run_judge(run_id=first.pk)
    stages.more(queue, STRANGER, OTHER)
    assert ask_for_stage(stage_id=stage.pk) is None
    JudgeRun.objects.filter(pk=first.pk).update(finished_at=first.created_at.replace(year=2020))
    assert ask_for_stage(stage_id=stage.pk).items_total == 2


def test_what_waits_in_somebody_s_own_run_that_was_stopped_is_asked_about(lead, queue, signed, stage):
    stages.more(queue, REFUND)
    own = judges.start(signed.judge.judge, queue, scope="unsettled")
    assert ask_for_stage(stage_id=stage.pk, at_once=True) is None, "it is at work there already"
    cancel_judge(actor=lead, run=own)
    assert look(stage).items_total == 1


def test_a_judge_needs_a_budget_and_no_other_reviewer_takes_one(lead, queue, signed, settings):
    with pytest.raises(Invalid) as error:
        start_stage(actor=lead, queue=queue, reviewer=signed)
    assert set(error.value.errors) == {"budget"}
    with pytest.raises(Invalid) as error:
        start_stage(actor=lead, queue=queue, reviewer=stages.signed(queue), budget=Decimal(1))
    assert set(error.value.errors) == {"budget"}
    settings.JUDGE_BASE_URL = ""
    with pytest.raises(Conflict, match="No endpoint"):
        start_stage(actor=lead, queue=queue, reviewer=signed, budget=Decimal(1))


def test_nobody_writes_down_what_a_judge_said(tmp_path, lead, queue, signed, stage):
    (row,) = stages.more(queue, REFUND)
    with pytest.raises(Conflict, match="asked from here"):
        post_scores(actor=lead, version=signed.judge, scores=[object()])
    with (tmp_path / "scores.jsonl").open("wb+") as file, pytest.raises(Conflict, match="asked from here"):
        import_scores(actor=lead, version=signed.judge, file=file, name="scores.jsonl")
    assert not JudgedItem.objects.filter(item=row.item).exists()


def test_page_api_and_command_begin_raise_and_tell_the_same(project, lead, queue, signed, capsys):
    client, address = enter(lead), reverse("goldsets:stages", args=[queue.uid])
    assert "Budget in US dollars" in client.get(address).content.decode()
    asked = {"reviewer": signed.uid, "audit_share": "0.1", "work": "keep"}
    assert "A budget is more than 0" in client.post(address, asked).content.decode()
    client.post(address, {**asked, "budget": "2.5"})
    stage = Stage.objects.get(queue=queue)
    assert stage.budget == Decimal("2.5")
    stages.more(queue, REFUND)
    call_command("stage", str(queue.uid), "--look")
    told = capsys.readouterr().out
    assert "Its judge has taken $0.0045 of $2.50; 0 wait to be asked about." in told
    page = client.get(address).content.decode()
    assert "of $2.50 taken by the judge; 0 items not asked about yet" in page
    changed = by(lead).patch(f"/api/v1/stages/{stage.uid}/", {"budget": "4"}, format="json")
    assert changed.json()["budget"] == "4.000000"
    assert by(lead).patch(f"/api/v1/stages/{stage.uid}/", {"budget": "-1"}, format="json").status_code == 422
    found = by(lead).get(f"/api/v1/stages/{stage.uid}/").json()["asking"]
    assert found == {"spent": "0.004500", "budget": "4.000000", "waiting": 0, "held_up": ""}
    assert live_of(stage).counts["watched"] == 1
    assert QueueItem.objects.filter(queue=queue, label__basis=Basis.REVIEWER).count() == 0
