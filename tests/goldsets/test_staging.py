"""A reviewer at work in a queue: in shadow, deciding, checked without anybody knowing, and out again by itself."""

import threading

import pytest
from django.db import DatabaseError, connection, transaction

from goldsets.actions.gold import set_gold_rate
from goldsets.actions.staging import change_stage, let_decide, retire_stage, roll_back, run_stage, start_stage, watch
from goldsets.models import Reviewer, Stage, StageVerdict
from goldsets.queries.calibration import calibration, question
from goldsets.queries.overview import hints, overview
from goldsets.queries.stages import live_of, stage_by_uid, told_verdicts
from goldsets.tasks import run_stages
from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.actions.queueing import change_queue
from reviews.actions.rubrics import write_guideline
from reviews.actions.webhooks import create_webhook
from reviews.enums import Verb
from reviews.errors import Conflict, Forbidden, Invalid
from reviews.models import Delivery, Event, Label, Queue, QueueItem, Slot
from tests import factories as make
from tests.factories import graders, stages
from tests.factories.reviewers import ARTEFACT, reviewer
from tests.factories.stages import OTHER, REFUND, STRANGER

pytestmark = pytest.mark.django_db


@pytest.fixture
def queue(project):
    return stages.keeping_queue(project)


def judge(rater, queue, said):
    mine = claim(actor=rater, queue=queue)
    submit(actor=rater, uid=mine.uid, payload={"criteria": {"keep": said}, "confidence": 3}, idempotency_key="k")
    return mine.item


def outcomes(stage):
    """{words of the run: what followed}, in the latest phase."""
    rows = StageVerdict.objects.filter(stage=stage).order_by("pk").select_related("queue_item")
    return {row.queue_item_id: row.outcome for row in rows}


def untouched(row):
    """All that a rater's work on an item depends on."""
    fresh = QueueItem.objects.get(pk=row.pk)
    slots = list(Slot.objects.filter(queue_item=row).order_by("pk").values("pk", "state", "place", "number"))
    return fresh.state, fresh.label_id, fresh.waits_for, slots, Label.objects.filter(item=row.item_id).count()


def test_a_cascade_works_as_one_reviewer_whose_rules_hand_on_what_they_are_not_sure_of(lead, queue):
    words = {"as": [1.0, 9.0], "of": [1.0, -9.0], "asked": [1.0, 9.0], "either": [1.0, -9.0]}
    weights = {"kind": "classifier", "most_terms": 50, "terms": words, "structure": {}, "least_known": 0.0}
    calibrated = {"intercept": 0.0, "slope": 1.0, "offset": 0.0}
    rules = [{**ARTEFACT["rules"][0], "confidence": 0.97}, {**ARTEFACT["rules"][1], "confidence": 0.5}]
    artefact = {
        **ARTEFACT,
        "kind": "cascade",
        "rules": rules,
        "keeps_from": 0.9,
        "classifier": {**weights, **calibrated},
    }
    stage = start_stage(actor=lead, queue=queue, reviewer=stages.signed(queue, rung="cascade", artefact=artefact))
    stages.more(queue, STRANGER, REFUND, OTHER)
    run_stage(stage_id=stage.pk)
    said = StageVerdict.objects.filter(stage=stage).order_by("pk").values_list("verdict", "sure")
    assert list(said) == [(0, True), (1, True), (0, True)], "by a rule, and twice by the classifier behind it"


# --- Getting in -------------------------------------------------------------------------------------------------------
def test_only_a_signed_reviewer_of_the_queue_s_own_rubric_begins_and_only_one(project, lead, queue):
    with pytest.raises(Invalid, match="signed reviewer"):
        start_stage(actor=lead, queue=queue, reviewer=reviewer(queue))
    elsewhere = stages.signed(make.queue(project, items=0))
    with pytest.raises(Invalid, match="signed reviewer"):
        start_stage(actor=lead, queue=queue, reviewer=elsewhere)
    with pytest.raises(Forbidden):
        start_stage(actor=make.expert(project), queue=queue, reviewer=stages.signed(queue))
    with pytest.raises(Invalid) as error:
        start_stage(actor=lead, queue=queue, reviewer=stages.signed(queue), audit_share=0, work="burn")
    assert set(error.value.errors) == {"audit_share", "work"}
    stage = stages.shadow(queue)
    assert (stage.state, stage.audit_share, stage.takes, stage.grounds["environment"]) == (
        "shadow",
        0.1,
        [],
        ["desk 3.2"],
    )
    with pytest.raises(Conflict, match="already"):
        start_stage(actor=lead, queue=queue, reviewer=stages.signed(queue))


# --- In shadow --------------------------------------------------------------------------------------------------------
def test_in_shadow_every_live_item_gets_a_verdict_and_nothing_follows(queue):
    rows = stages.more(queue, REFUND, STRANGER, OTHER)
    stage = stages.shadow(queue)
    before = [untouched(row) for row in rows]
    assert run_stage(stage_id=stage.pk) == {"watched": 3}
    said = StageVerdict.objects.filter(stage=stage).order_by("queue_item").values_list("verdict", "sure", "phase")
    assert list(said) == [(1, True, "shadow"), (0, True, "shadow"), (None, False, "shadow")]
    assert [untouched(row) for row in rows] == before
    assert run_stage(stage_id=stage.pk) == {}


def test_verdicts_are_held_against_people_once_an_item_settles_and_told_only_then(project, queue):
    rows = stages.more(queue, REFUND, REFUND, STRANGER, OTHER)
    stage, alice = stages.shadow(queue), make.expert(project)
    run_stage(stage_id=stage.pk)
    assert not told_verdicts(stage).exists()
    assert live_of(stage).agreement.n_units == 0
    for said in (True, False, False):
        judge(alice, queue, said)
    live = live_of(stage)
    assert (live.agreement.n_units, round(live.agreement.value, 3)) == (3, 0.667)
    assert (round(live.agreement.low, 2), round(live.agreement.high, 2)) == (0.21, 0.94)
    assert [pair.row.queue_item_id for pair in live.differing] == [rows[1].pk]
    assert {row.queue_item_id for row in told_verdicts(stage)} == {row.pk for row in rows[:3]}


def test_it_may_decide_only_what_live_items_bear_out(project, lead, queue):
    stages.more(queue, *[REFUND] * 13, STRANGER)
    stage, alice = stages.shadow(queue), make.expert(project)
    run_stage(stage_id=stage.pk)
    for _ in range(12):
        judge(alice, queue, True)
    with pytest.raises(Conflict, match=r"Passes: 0 of 12 wrong on live items, at most 31.4%; 30% is promised. 1 more"):
        let_decide(actor=lead, stage=stage)
    judge(alice, queue, True)
    with pytest.raises(Forbidden):
        let_decide(actor=alice, stage=stage)
    decided = let_decide(actor=lead, stage=stage)
    assert (decided.state, decided.takes, decided.decides_by) == ("deciding", [1], lead)
    with pytest.raises(Conflict, match="Only one in shadow"):
        let_decide(actor=lead, stage=stage)


def test_a_rubric_that_asks_more_lets_it_be_measured_and_no_more(project, lead):
    queue = make.queue(project, items=0)
    stage = start_stage(actor=lead, queue=queue, reviewer=stages.signed(queue))
    with pytest.raises(Conflict, match="also asks Consent before action, Task success, Process"):
        let_decide(actor=lead, stage=stage)


def test_a_failed_gate_is_left_to_people_who_say_where_it_fails(project, lead):
    gate = [{"key": "keep", "title": "Keep", "kind": "gate"}]
    queue = make.queue(project, items=0, criteria=gate, overlap=1)
    stage = start_stage(actor=lead, queue=queue, reviewer=stages.signed(queue))
    passes, fails = live_of(stage).kinds
    assert (passes.values, fails.values) == ({"keep": 1}, None)


# --- Deciding ---------------------------------------------------------------------------------------------------------
def test_what_it_is_sure_of_becomes_a_label_of_its_own_basis_and_the_rest_stays_with_people(project, queue):
    stage = stages.deciding(queue, audit_share=0.01)
    passed, failed, other = stages.more(queue, REFUND, STRANGER, OTHER)
    before = untouched(other)
    assert run_stage(stage_id=stage.pk) == {"taken": 2, "deferred": 1}
    for row, value in ((passed, 1), (failed, 0)):
        row.refresh_from_db()
        assert (row.state, row.label.basis, row.label.values.get().value) == ("settled", "reviewer", value)
        assert row.label.stage_verdict.stage == stage
    assert untouched(other) == before
    assert judge(make.expert(project), queue, True) == other.item


def test_only_the_verdicts_that_held_are_taken(queue):
    stage = stages.deciding(queue, takes=(1,), audit_share=0.01)
    passed, failed = stages.more(queue, REFUND, STRANGER)
    run_stage(stage_id=stage.pk)
    assert outcomes(stage) == {passed.pk: "taken", failed.pk: "deferred"}


def test_a_share_of_what_it_could_decide_goes_to_people_untouched(project, queue):
    stage = stages.deciding(queue, audit_share=0.5)
    rows = stages.more(queue, *[REFUND] * 40)
    before = {row.pk: untouched(row) for row in rows}
    run_stage(stage_id=stage.pk)
    found = outcomes(stage)
    audited = [row for row in rows if found[row.pk] == "audited"]
    assert 8 <= len(audited) <= 32
    assert all(untouched(row) == before[row.pk] for row in audited)
    assert {row.pk for row in told_verdicts(stage).exclude(outcome="taken")} == set()
    assert not Event.objects.filter(target_type="queueitem", target_id__in=[row.pk for row in audited]).exists()
    judge(make.expert(project), queue, True)
    assert live_of(stage).watched.audited.n_units == 1


def test_nobody_is_told_the_secret_that_draws(queue):
    stage = stages.deciding(queue)
    other = stages.deciding(stages.keeping_queue(queue.project))
    assert len(bytes(stage.secret)) == 32
    assert bytes(stage.secret) != bytes(other.secret)
    assert "secret" in stage_by_uid(stage.uid).get_deferred_fields()


@pytest.mark.parametrize("state", ["paused", "closed"])
def test_over_a_queue_that_is_not_open_it_waits(lead, queue, state):
    stage = stages.deciding(queue, audit_share=0.01)
    stages.more(queue, REFUND)
    change_queue(actor=lead, queue=queue, state=state)
    assert run_stage(stage_id=stage.pk) == {}
    assert not StageVerdict.objects.exists()
    change_queue(actor=lead, queue=queue, state="open")
    assert sum(run_stage(stage_id=stage.pk).values()) == 1


def test_what_people_have_begun_or_settled_is_left_alone(project, queue):
    stage, alice = stages.deciding(queue), make.expert(project)
    begun, done = stages.more(queue, REFUND, REFUND)
    assert judge(alice, queue, False) == begun.item
    assert claim(actor=alice, queue=queue).item == done.item
    before = [untouched(begun), untouched(done)]
    assert run_stage(stage_id=stage.pk) == {}
    assert [untouched(begun), untouched(done)] == before


def test_gold_is_judged_beside_and_neither_taken_nor_changed(project, lead, queue):
    stage, alice = stages.deciding(queue), make.expert(project)
    (row,) = stages.more(queue, REFUND)
    judge(alice, queue, False)
    row.refresh_from_db()
    gold = make.gold(row)
    set_gold_rate(actor=lead, queue=queue, rate="0.1")
    before = untouched(row)
    assert run_stage(stage_id=stage.pk) == {"gold": 1}
    assert untouched(row) == before
    live = live_of(stage)
    assert (live.watched.on_gold.n_units, live.watched.on_gold.value) == (1, 0.0)
    assert [check.right for check in live.watched.checks] == [False]
    assert gold.keys.count() == 1
    assert run_stage(stage_id=stage.pk) == {}


def test_an_item_with_questions_of_its_own_is_for_people(queue):
    stage = stages.deciding(queue, audit_share=0.01)
    Stage.objects.filter(pk=stage.pk).update(secret=b"1" * 32)
    (row,) = stages.more(queue, REFUND)
    row.item.own_criteria.create(key="own", title="Own", kind="gate", position=1)
    assert run_stage(stage_id=stage.pk) == {"deferred": 1}


def test_no_grader_is_calibrated_by_what_it_said(project, queue):
    stage = stages.deciding(queue, audit_share=0.01)
    Stage.objects.filter(pk=stage.pk).update(secret=b"1" * 32)
    (row,) = stages.more(queue, REFUND)
    run_stage(stage_id=stage.pk)
    known = QueueItem.objects.filter(queue=queue, label__basis="adjudicated").get()
    version = graders.version(project)
    graders.scored(version, (row.item, 1), (known.item, 1))
    asked = calibration(question(version.grader, {"against": "keep"}))
    assert (asked.found.n_scored, asked.found.n_labelled) == (2, 1)


# --- Two at once, and killed half-way ---------------------------------------------------------------------------------
@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_give_one_verdict_and_one_label_per_item(queue):
    stage = stages.deciding(queue, audit_share=0.2)
    rows = stages.more(queue, *[REFUND] * 12)
    failures = []

    def work():
        try:
            run_stage(stage_id=stage.pk)
        except Exception as error:
            failures.append(error)
        finally:
            connection.close()

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert failures == []
    assert sorted(outcomes(stage)) == sorted(row.pk for row in rows)
    assert StageVerdict.objects.filter(stage=stage).count() == 12
    taken = StageVerdict.objects.filter(stage=stage, outcome="taken").count()
    assert Label.objects.filter(basis="reviewer").count() == taken


def test_of_what_a_killed_worker_began_there_is_all_or_nothing_and_the_draw_stays(queue):
    """The database breaks off where the verdict is to be written, after the label was made."""
    stage = stages.deciding(queue, audit_share=0.5)
    rows = stages.more(queue, *[REFUND] * 10)
    with connection.cursor() as cursor:
        cursor.execute("""
            CREATE FUNCTION break_off() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN IF NEW.outcome = 'taken' THEN RAISE EXCEPTION 'killed'; END IF; RETURN NEW; END $$;
            CREATE TRIGGER break_off BEFORE INSERT ON goldsets_stageverdict FOR EACH ROW EXECUTE FUNCTION break_off();
        """)
        with pytest.raises(DatabaseError, match="killed"), transaction.atomic():
            run_stage(stage_id=stage.pk)
        assert not Label.objects.filter(basis="reviewer").exists()
        assert {untouched(row)[0] for row in rows} == {"collecting"}
        cursor.execute("DROP TRIGGER break_off ON goldsets_stageverdict")
    run_stage(stage_id=stage.pk)
    first = outcomes(stage)
    assert len(first) == 10
    assert Label.objects.filter(basis="reviewer").count() == list(first.values()).count("taken")


# --- Out again --------------------------------------------------------------------------------------------------------
def audited(stage, project, said, count):
    """So many audits that people have settled, all with this answer."""
    Stage.objects.filter(pk=stage.pk).update(audit_share=1)
    stages.more(stage.queue, *[REFUND] * count)
    run_stage(stage_id=stage.pk)
    rater = make.expert(project, f"Rater {count} {said}")
    for _ in range(count):
        judge(rater, stage.queue, said)
    Stage.objects.filter(pk=stage.pk).update(audit_share=0.01)


def test_audits_on_which_people_differ_end_it_and_its_labels_since_are_asked_again(project, lead, queue):
    stage = stages.deciding(queue, work="requeue", audit_share=0.01)
    create_webhook(actor=lead, project=project, url="https://desk.example/hook", events=["stage.stopped"])
    before, *_ = stages.more(queue, REFUND)
    run_stage(stage_id=stage.pk)
    audited(stage, project, True, 3)
    after, *_ = stages.more(queue, STRANGER)
    run_stage(stage_id=stage.pk)
    assert watch(stage_id=stage.pk).state == "deciding"
    audited(stage, project, False, 6)
    ended = watch(stage_id=stage.pk)
    assert (ended.state, ended.ended_by, ended.given_back) == ("rolled_back", None, 1)
    assert "of its verdicts that people or gold checked were wrong" in ended.why
    before.refresh_from_db()
    after.refresh_from_db()
    assert (before.state, before.label.basis) == ("settled", "reviewer")
    assert (after.state, after.label) == ("collecting", None)
    event = Event.objects.get(verb="stage.rolled_back")
    assert (event.actor, event.data["given_back"], event.data["queue"]) == (None, 1, str(queue.uid))
    assert Delivery.objects.get().name == "stage.stopped"
    said = [hint.words for hint in hints(queue, overview(queue), None)]
    assert any(words.startswith("The stage was rolled back") for words in said)
    (late,) = stages.more(queue, REFUND)
    assert run_stage(stage_id=stage.pk) == {}
    assert untouched(late)[0] == "collecting"


def test_gold_that_it_gets_wrong_ends_it_as_audits_do(project, queue):
    stage, alice = stages.deciding(queue), make.expert(project)
    rows = stages.more(queue, *[REFUND] * 6)
    for row in rows:
        judge(alice, queue, False)
        row.refresh_from_db()
        make.gold(row)
    run_stage(stage_id=stage.pk)
    stage.refresh_from_db()
    assert (stage.state, stage.given_back) == ("rolled_back", 0)


def test_input_that_no_longer_looks_as_it_did_ends_it(project):
    queue = stages.keeping_queue(project, compiled_from=20)
    stage = stages.deciding(queue, audit_share=0.01)
    stages.more(queue, *[REFUND + " And a great deal of other talk besides." * 9] * 50)
    run_stage(stage_id=stage.pk)
    stage.refresh_from_db()
    assert stage.state == "rolled_back"
    assert "characters. Moved by" in stage.why


def expired(stage):
    run_stage(stage_id=stage.pk)
    stage.refresh_from_db()
    return stage.state, stage.why


def test_an_item_of_another_model_expires_it_before_it_is_judged(queue):
    stage = stages.deciding(queue)
    (row,) = stages.more(queue, REFUND, model="next-model-1")
    state, why = expired(stage)
    assert (state, why) == (
        "expired",
        "An item came with another agent model: “next-model-1”, where it was compiled from: secret-model-9.",
    )
    assert untouched(row)[0] == "collecting"
    assert not StageVerdict.objects.exists()
    assert Event.objects.filter(verb="stage.expired", actor=None).count() == 1


def test_other_tools_expire_it_in_shadow_too(queue):
    stage = stages.shadow(queue)
    stages.more(queue, REFUND, tools=({"name": "delete_account"},))
    assert expired(stage)[0] == "expired"


def test_another_guideline_and_a_reviewer_that_has_expired_expire_it(project, lead, queue):
    stage = stages.deciding(queue)
    newer = write_guideline(actor=lead, project=project, name=queue.guideline.name, text="Judge otherwise.")
    Queue.objects.filter(pk=queue.pk).update(guideline=newer)
    assert expired(stage)[1].startswith("The queue is judged by another guideline")
    other = stages.keeping_queue(project)
    stage = stages.shadow(other)
    Reviewer.objects.filter(pk=stage.reviewer_id).update(
        state="expired", expired_at=stage.started_at, expired_because="Too old."
    )
    assert expired(stage) == ("expired", "Its reviewer is expired. Too old.")


def test_a_lead_rolls_back_or_retires_with_a_reason(project, lead, queue):
    stage = stages.deciding(queue, audit_share=0.01)
    Stage.objects.filter(pk=stage.pk).update(secret=b"1" * 32)
    (row,) = stages.more(queue, REFUND)
    run_stage(stage_id=stage.pk)
    with pytest.raises(Invalid):
        roll_back(actor=lead, stage=stage, why=" ")
    with pytest.raises(Forbidden):
        roll_back(actor=make.expert(project), stage=stage, why="No.")
    ended = roll_back(actor=lead, stage=stage, why="Experts complain.", work="requeue")
    assert (ended.state, ended.ended_by, ended.given_back) == ("rolled_back", lead, 1)
    assert untouched(row)[:2] == ("collecting", None)
    assert Event.objects.filter(verb=Verb.ITEM_REOPENED, actor=lead).count() == 1
    with pytest.raises(Conflict, match="has ended"):
        retire_stage(actor=lead, stage=stage, why="Again.")
    with pytest.raises(Conflict, match="has ended"):
        change_stage(actor=lead, stage=stage, audit_share=0.2)
    second = stages.shadow(queue)
    with pytest.raises(Conflict, match="Only one that decides"):
        roll_back(actor=lead, stage=second, why="Too early.")
    assert retire_stage(actor=lead, stage=second, why="Another will do.").state == "retired"


def test_the_worker_looks_at_every_stage_that_is_at_work(queue):
    stages.more(queue, REFUND)
    stage = stages.shadow(queue)
    run_stages()
    assert StageVerdict.objects.filter(stage=stage).count() == 1


def test_the_database_keeps_what_a_stage_promises(queue):
    stage = stages.shadow(queue)
    assert stage.reviewer.artefact == ARTEFACT
    for changes in ({"audit_share": 0}, {"state": "rolled_back"}, {"state": "expired"}):
        with pytest.raises(DatabaseError), transaction.atomic():
            Stage.objects.filter(pk=stage.pk).update(**changes)
