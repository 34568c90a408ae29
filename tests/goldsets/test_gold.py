"""Gold between two people: proposed by one, approved by another, corrected, confirmed, retired, imported; all kept."""

import json

import pgtrigger
import pytest
from django.db import DatabaseError, IntegrityError, transaction

from goldsets.actions.gold import (
    approve_gold,
    decline_gold,
    propose_change,
    propose_gold,
    retire_gold,
    set_feedback,
    set_gold_rate,
)
from goldsets.actions.importing_gold import import_gold
from goldsets.enums import GoldState, KeySource, KeyState
from goldsets.models import GoldItem, GoldKey, GoldSchedule
from goldsets.queries.doubts import doubts_about_gold
from goldsets.queries.gold import candidates, gold_page, gold_pool
from goldsets.queries.overview import hints, overview
from goldsets.tasks import review_all_standings
from reviews.actions.adjudicating import adjudicate
from reviews.actions.dealing import NothingToDeal, claim
from reviews.actions.judging import submit
from reviews.actions.referring import put_first
from reviews.actions.rubrics import write_guideline
from reviews.enums import Basis, QueueItemState, Role, SettleRule
from reviews.errors import Conflict, Forbidden, Invalid
from reviews.models import Event, Judgment, Label, QueueItem
from reviews.queries.disagreements import inbox
from tests import factories as make
from tests.factories import golden
from tests.factories.furnished import judge

pytestmark = pytest.mark.django_db


@pytest.fixture
def lena(project):
    """A second lead."""
    person = make.person("Lena")
    make.member(project, person, Role.LEAD)
    return person


def settled(project, *payloads, **settings):
    """A queue item that the raters of these payloads settled."""
    queue = make.queue(project, items=1, overlap=len(payloads) or 1, **settings)
    for number, payload in enumerate(payloads or [make.passing()]):
        judge(queue, make.expert(project, f"Gwen {number}"), payload)
    return QueueItem.objects.select_related("queue__project").get(queue=queue)


# --- Two people -------------------------------------------------------------------------------------------------------
def test_gold_is_in_use_once_a_second_lead_has_approved_it(project, lena):
    lea, item = make.lead_of(project), settled(project)
    key = propose_gold(actor=lea, queue_item=item, note="Plain to see.")
    gold = GoldItem.objects.get(queue_item=item)
    assert (gold.state, gold.key) == (GoldState.PROPOSED, None)
    with pytest.raises(Forbidden, match="You proposed this yourself"):
        approve_gold(actor=lea, key=key)
    approve_gold(actor=lena, key=key)
    gold.refresh_from_db()
    assert (gold.state, gold.key.decided_by, gold.key.proposed_by) == (GoldState.ACTIVE, lena, lea)
    verbs = Event.objects.filter(target_type="golditem", target_id=gold.pk).values_list("verb", "actor")
    assert set(verbs) == {("gold.proposed", lea.pk), ("gold.approved", lena.pk)}


def test_an_admin_approves_only_where_there_is_one_lead(project):
    admin = make.second_of(project)
    approve_gold(actor=admin, key=propose_gold(actor=make.lead_of(project), queue_item=settled(project)))
    lena = make.person("Lena")
    make.member(project, lena, Role.LEAD)
    with pytest.raises(Forbidden, match="An admin does where there is a single lead"):
        approve_gold(actor=admin, key=propose_gold(actor=make.lead_of(project), queue_item=settled(project)))


def test_neither_experts_nor_engineers_approve(project, lena):
    key = propose_gold(actor=lena, queue_item=settled(project))
    engineer = make.person("Eli")
    make.member(project, engineer, Role.ENGINEER)
    for nobody in (make.expert(project, "Alice"), engineer):
        with pytest.raises(Forbidden, match="Only leads approve gold"):
            approve_gold(actor=nobody, key=key)


def test_the_database_refuses_a_decision_by_the_proposer(project, lena):
    key = propose_gold(actor=lena, queue_item=settled(project))
    with pytest.raises(IntegrityError), transaction.atomic():
        GoldKey.objects.filter(pk=key.pk).update(decided_by=lena, state=KeyState.APPROVED)


def test_a_decided_version_never_changes(project):
    gold = make.gold(settled(project))
    for change in (lambda: GoldKey.objects.filter(pk=gold.key_id).update(expected={}), gold.key.delete):
        with pytest.raises(DatabaseError), transaction.atomic():
            change()


def test_what_is_declined_can_be_proposed_again(project, lena):
    lea, item = make.lead_of(project), settled(project)
    key = propose_gold(actor=lea, queue_item=item)
    with pytest.raises(Conflict, match="proposed already"):
        propose_gold(actor=lena, queue_item=item)
    decline_gold(actor=lena, key=key, reason="Two readings are possible.")
    gold = GoldItem.objects.get(queue_item=item)
    assert (gold.state, gold.retired_because) == (GoldState.DECLINED, "Two readings are possible.")
    with pytest.raises(Conflict, match="declined before"):
        approve_gold(actor=lena, key=key)
    approve_gold(actor=lena, key=propose_gold(actor=lea, queue_item=item))
    assert [key.state for key in gold.keys.all()] == [KeyState.DECLINED, KeyState.APPROVED]


def test_an_item_decided_anew_after_the_proposal_is_proposed_anew(project, lena):
    lea, item = make.lead_of(project), settled(project)
    key = propose_gold(actor=lea, queue_item=item)
    adjudicate(actor=lena, queue_item=item, payload=make_decision(success=1))
    with pytest.raises(Conflict, match="another label by now"):
        approve_gold(actor=lena, key=key)


def make_decision(**levels):
    payload = make.passing(**levels)
    return {"gates": payload["gates"], "criteria": payload["criteria"], "reasons": {}}


# --- What can be gold -------------------------------------------------------------------------------------------------
def test_candidates_are_decided_or_unanimous(project):
    unanimous = settled(project, make.passing(), make.passing())
    three = (make.passing(process=1), make.passing(process=2), make.passing(process=2))
    majority = settled(project, *three, settle_rule=SettleRule.MAJORITY)
    assert Label.objects.get(item=majority.item).basis == Basis.AGGREGATED
    assert list(candidates(unanimous.queue)) == [unanimous]
    assert list(candidates(majority.queue)) == []
    with pytest.raises(Conflict, match="rests on a majority"):
        propose_gold(actor=make.lead_of(project), queue_item=majority)
    payload = make_decision() | {"reasons": {"process": "rater_error"}}
    adjudicate(actor=make.lead_of(project), queue_item=majority, payload=payload)
    assert list(candidates(majority.queue)) == [majority]


@pytest.mark.parametrize(
    ("terms", "field"),
    [
        ({"tolerance": -1}, "tolerance"),
        ({"tolerance": "1"}, "tolerance"),
        ({"tolerance": True}, "tolerance"),
        ({"tolerance": {"success": 99}}, "tolerance.success"),
        ({"tolerance": {"consent": 1}}, "tolerance.consent"),
        ({"tolerance": {"tone": 1}}, "tolerance.tone"),
        ({"also": {"success": [9]}}, "also.success"),
        ({"also": {"success": 2}}, "also.success"),
        ({"also": {"consent": [0]}}, "also.consent"),
        ({"also": {"tone": [1]}}, "also.tone"),
        ({"note": "x" * 2001}, "note"),
    ],
)
def test_terms_that_make_no_sense_are_refused_at_their_field(project, terms, field):
    with pytest.raises(Invalid) as refused:
        propose_gold(actor=make.lead_of(project), queue_item=settled(project), **terms)
    assert field in refused.value.errors
    assert not GoldItem.objects.exists()


def test_tolerance_and_alternatives_are_kept_per_criterion(project):
    gold = make.gold(settled(project), tolerance={"success": 0}, also={"process": [0]})
    assert gold.key.expected == {
        "authorised": {"value": 1, "also": [], "tolerance": 0},
        "consent": {"value": 1, "also": [], "tolerance": 0},
        "success": {"value": 3, "also": [], "tolerance": 0},
        "process": {"value": 2, "also": [0], "tolerance": 1},
    }


# --- Versions ---------------------------------------------------------------------------------------------------------
def test_a_correction_supersedes_what_held_and_both_are_kept(project, lena):
    gold = make.gold(settled(project))
    key = propose_change(
        actor=make.lead_of(project), gold_item=gold, values={"success": 1, "consent": "fail"}, note="No yes was given."
    )
    gold.refresh_from_db()
    assert gold.key.number == 1, "until it is approved what held before goes on"
    approve_gold(actor=lena, key=key)
    gold.refresh_from_db()
    assert (gold.key.number, gold.key.source) == (2, KeySource.CORRECTION)
    assert (gold.key.expected["success"]["value"], gold.key.expected["consent"]["value"]) == (1, 0)
    assert gold.keys.get(number=1).expected["success"]["value"] == 3
    page = gold_page(gold.queue, gold)
    assert [key.number for key, _lines in page.keys] == [2, 1]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"values": {"success": 1}}, "note"),
        ({"values": {"success": 7}, "note": "x"}, "values.success"),
        ({"values": {"consent": 1}, "note": "x"}, "values.consent"),
        ({"values": {"tone": 1}, "note": "x"}, "values.tone"),
    ],
)
def test_a_correction_that_says_nothing_sensible_is_refused(project, change, field):
    with pytest.raises(Invalid) as refused:
        propose_change(actor=make.lead_of(project), gold_item=make.gold(settled(project)), **change)
    assert field in refused.value.errors


def test_only_one_change_waits_at_a_time_and_retiring_waits_for_it(project):
    gold, lea = make.gold(settled(project)), make.lead_of(project)
    propose_change(actor=lea, gold_item=gold)
    with pytest.raises(Conflict, match="proposed for this gold item already"):
        propose_change(actor=lea, gold_item=gold)
    with pytest.raises(Conflict, match="Approve or decline that first"):
        retire_gold(actor=lea, gold_item=gold)


def test_a_newer_guideline_puts_gold_in_doubt_until_somebody_confirms_it(project):
    gold, lea = make.gold(settled(project)), make.lead_of(project)
    assert gold_pool(gold.queue).doubtful == []
    write_guideline(actor=lea, project=project, name=gold.queue.guideline.name, text="Judge the tone as well.")
    (row,) = gold_pool(gold.queue).doubtful
    assert [doubt.kind for doubt in row.doubts] == ["guideline"]
    key = propose_change(actor=lea, gold_item=gold)
    assert (key.source, key.guideline.version) == (KeySource.REVIEW, 2)
    approve_gold(actor=make.second_of(project), key=key)
    assert gold_pool(gold.queue).doubtful == []


def test_an_item_decided_anew_puts_its_gold_in_doubt(project, lena):
    item = settled(project)
    gold = make.gold(item)
    adjudicate(actor=lena, queue_item=item, payload=make_decision(success=1))
    (row,) = gold_pool(gold.queue).doubtful
    assert [doubt.kind for doubt in row.doubts] == ["relabelled"]
    assert row.gold.key.expected["success"]["value"] == 3


def met_by_twelve(project, answered):
    """Two gold items that twelve raters meet; `answered(late)` is what they say on the first, and their seconds."""
    queue = golden.queue_with_gold(project, gold=2, plain=1, overlap=12)
    first = GoldItem.objects.filter(queue=queue).order_by("pk").first()
    for number in range(12):
        rater = make.expert(project, f"Rater {number}")
        for _ in range(2):
            GoldSchedule.objects.update_or_create(queue=queue, rater=rater, defaults={"plain_left": 0})
            mine = claim(actor=rater, queue=queue)
            is_first = mine.item_id == first.queue_item.item_id
            payload, seconds = answered(number >= 6) if is_first else (make.passing(), 300)
            submit(actor=rater, uid=mine.uid, payload=payload, idempotency_key=str(mine.uid))
            with pgtrigger.ignore():
                Judgment.objects.filter(assignment=mine).update(active_seconds=seconds)
    return queue, first


def kinds_of_doubt(queue):
    return {row.gold: [doubt.kind for doubt in row.doubts] for row in gold_pool(queue).doubtful}


def test_gold_on_which_later_answers_are_right_and_fast_may_have_been_passed_on_and_its_lead_hears_of_it(project):
    queue, first = met_by_twelve(project, lambda late: (make.passing(), 20) if late else (make.passing(success=0), 600))
    assert kinds_of_doubt(queue) == {first: ["leaked"]}
    said = [(hint.words, hint.page) for hint in hints(queue, overview(queue), None)]
    words = "1 doubt about gold in use: missed by most, perhaps passed on, or decided otherwise."
    assert (words, "goldsets:gold") in said


def test_many_answers_on_gold_are_gone_through_by_the_worker_and_not_while_a_lead_waits(project, monkeypatch):
    monkeypatch.setattr("goldsets.queries.doubts.FEW_ANSWERS", 5)
    queue, _first = met_by_twelve(project, lambda late: (make.passing(success=0), 300))
    assert doubts_about_gold(queue) == {}
    review_all_standings()
    assert doubts_about_gold(queue) == {"missed": 1}


def test_gold_that_most_miss_may_be_what_is_wrong(project):
    queue, first = met_by_twelve(project, lambda late: (make.passing(success=0), 300))
    assert kinds_of_doubt(queue) == {first: ["missed"]}


def test_gold_that_is_met_as_ever_is_in_no_doubt(project):
    queue, _first = met_by_twelve(project, lambda late: (make.passing(), 300))
    assert kinds_of_doubt(queue) == {}
    assert not any(
        hint.page == "goldsets:gold" and "doubt" in hint.words for hint in hints(queue, overview(queue), None)
    )


def test_retired_gold_keeps_its_reason(project):
    gold = make.gold(settled(project))
    retire_gold(actor=make.lead_of(project), gold_item=gold, reason="It was passed on.")
    retire_gold(actor=make.lead_of(project), gold_item=gold, reason="Again.")
    gold.refresh_from_db()
    assert (gold.state, gold.retired_because) == (GoldState.RETIRED, "It was passed on.")
    assert Event.objects.filter(verb="gold.retired").count() == 1


# --- From a file ------------------------------------------------------------------------------------------------------
def row(queue_item, **changes):
    payload = make.passing()
    return {"item": str(queue_item.uid), "gates": payload["gates"], "criteria": payload["criteria"], **changes}


def imported(queue, *rows):
    content = "\n".join(json.dumps(entry) if not isinstance(entry, str) else entry for entry in rows)
    return import_gold(actor=make.lead_of(queue.project), queue=queue, content=content.encode())


def test_a_file_proposes_what_it_can_and_says_why_not_of_the_rest(project):
    queue = make.queue(project, items=3, overlap=1)
    one, two, three = QueueItem.objects.filter(queue=queue).order_by("pk")
    judge(queue, make.expert(project, "Alice"), make.passing(success=1))
    receipt = imported(
        queue,
        row(one, also={"success": [2]}, tolerance=0, note="From the old desk."),
        row(two, item=None, task=two.item.trajectory.task.key),
        row(three, criteria={"success": 9, "process": 1}),
        row(three, item="nobody"),
        row(three, gates={"authorised": "fail", "consent": "pass"}, criteria={}),
        row(three, tone=3),
        "{broken",
        row(one),
    )
    assert receipt.proposed == 2
    assert [place for place, _reason in receipt.refused] == [f"line {n}" for n in (3, 4, 5, 6, 7, 8)]
    reasons = [reason for _place, reason in receipt.refused]
    assert "no such level" in reasons[0]
    assert "by its id" in reasons[1]
    assert "name the first decisive step" in reasons[2]
    assert "no field “tone”" in reasons[3]
    assert "not valid JSON" in reasons[4]
    assert "proposed already" in reasons[5]
    key = GoldKey.objects.get(gold_item__queue_item=one)
    assert (key.source, key.note) == (KeySource.IMPORT, "From the old desk.")
    assert key.expected["success"] == {"value": 3, "also": [2], "tolerance": 0}
    assert key.settles is None, "the item's own label stands; gold expects something else"


def test_an_item_that_nobody_judged_is_settled_by_the_approval(project):
    queue = make.queue(project, items=1, overlap=2)
    item = QueueItem.objects.get(queue=queue)
    fails = {"gates": {"authorised": "fail", "consent": "pass"}, "criteria": {}}
    failure = {"step": 3, "who": "agent", "cause": "unauthorised_access"}
    assert imported(queue, row(item, **fails, failure=failure)).proposed == 1
    gold = GoldItem.objects.get(queue_item=item)
    approve_gold(actor=make.second_of(project), key=gold.keys.get())
    item.refresh_from_db()
    gold.refresh_from_db()
    assert (item.state, item.label.basis, item.label.failure_step) == (QueueItemState.SETTLED, Basis.ADJUDICATED, 3)
    assert item.label.adjudication.lead == make.lead_of(project)
    assert gold.key.label == item.label
    with pytest.raises(NothingToDeal):
        claim(actor=make.expert(project, "Alice"), queue=queue)


def test_an_item_that_raters_have_begun_is_left_to_them(project):
    queue = make.queue(project, items=1, overlap=2)
    item = QueueItem.objects.get(queue=queue)
    imported(queue, row(item))
    judge(queue, make.expert(project, "Alice"), make.passing())
    with pytest.raises(Conflict, match="Somebody has judged this item by now"):
        approve_gold(actor=make.second_of(project), key=GoldKey.objects.get())
    decline_gold(actor=make.second_of(project), key=GoldKey.objects.get())
    assert "Raters are judging this item" in imported(queue, row(item)).refused[0][1]


def test_what_is_proposed_and_not_settled_is_decided_before_what_waited_longer(project):
    queue = make.queue(project, items=2, overlap=2)
    older, newer = QueueItem.objects.filter(queue=queue).order_by("pk")
    imported(queue, row(newer))
    for process, name in ((0, "Alice"), (2, "Bob")):
        person = make.expert(project, name)
        for _item in range(2):
            judge(queue, person, make.passing(process=process))
    assert [found.queue_item for found in inbox(queue, make.lead_of(project)).rows] == [newer, older]


def test_what_is_declined_waits_in_its_turn_again_unless_a_lead_put_it_first(project):
    queue = make.queue(project, items=2, overlap=2)
    by_proposal, by_the_lead = QueueItem.objects.filter(queue=queue).order_by("pk")
    put_first(actor=make.lead_of(project), queue_item=by_the_lead, first=True)
    imported(queue, row(by_proposal), row(by_the_lead))
    assert set(queue.queue_items.values_list("decide_first", flat=True)) == {True}
    for key in GoldKey.objects.all():
        decline_gold(actor=make.second_of(project), key=key)
    assert dict(queue.queue_items.values_list("pk", "decide_first")) == {by_proposal.pk: False, by_the_lead.pk: True}


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"", "empty"), (b"\xff", "UTF-8"), (b"[1, 2", "not valid JSON"), (b'{"a": "\x00"}', "cannot be stored")],
)
def test_a_file_that_cannot_be_read_is_refused_as_a_whole(project, content, says):
    queue = make.queue(project, items=1)
    with pytest.raises(Invalid) as refused:
        import_gold(actor=make.lead_of(project), queue=queue, content=content)
    assert says in refused.value.errors["file"]


def test_a_json_list_is_read_as_well(project):
    item = settled(project)
    content = json.dumps([row(item), 7]).encode()
    receipt = import_gold(actor=make.lead_of(project), queue=item.queue, content=content)
    assert (receipt.proposed, receipt.refused) == (1, [("row 2", "A row is a JSON object.")])


# --- The pool ---------------------------------------------------------------------------------------------------------
def test_the_pool_says_what_each_item_is_worth_and_who_has_met_it(project):
    queue = make.queue(project, items=2, overlap=1)
    gwen = make.expert(project, "Gwen")
    judge(queue, gwen, make.passing())
    judge(queue, gwen, make.failing())
    passes, _fails = (make.gold(item) for item in QueueItem.objects.filter(queue=queue).order_by("pk"))
    pool = gold_pool(queue)
    assert {row.right.n_units for row in pool.rows} == {0}
    assert [(balance.title, balance.counts) for balance in pool.balance][:2] == [
        ("Only authorised accounts", (("pass", 1), ("fail", 1))),
        ("Consent before action", (("pass", 2), ("fail", 0))),
    ]
    assert pool.families == [("refunds", 2)]
    assert [(row.rater, row.met, row.own, row.left) for row in pool.exposure] == [("Gwen", 0, 2, 0)]
    set_gold_rate(actor=make.lead_of(project), queue=queue, rate="0.1")
    retire_gold(actor=make.lead_of(project), gold_item=passes)
    pool = gold_pool(queue)
    assert (len(pool.active), len(pool.retired), pool.forecast.pool) == (1, 1, 1)


@pytest.mark.parametrize("given", [{"items": 0, "days": None}, {"items": None, "days": -1}, {"items": 1.5, "days": 2}])
def test_feedback_after_nonsense_is_refused(project, given):
    with pytest.raises(Invalid):
        set_feedback(actor=make.lead_of(project), queue=make.queue(project, items=0), **given)
