"""Rules on arrival: what they bring where, how early it is dealt, and who makes them."""

import json

import pytest

from reviews.actions.dealing import claim
from reviews.actions.importing import run_import, start_import
from reviews.actions.judging import submit
from reviews.actions.queueing import add_items, change_queue
from reviews.actions.routing import change_rule, create_rule, remove_rule, try_rule
from reviews.arrival import read_conditions
from reviews.errors import Conflict, Forbidden, Invalid
from reviews.models import Event, QueueItem
from tests import factories as make

pytestmark = pytest.mark.django_db


def runs(*results, first=0):
    return [
        {
            "task_id": f"t-{number}",
            "messages": [{"role": "user", "content": f"Ticket {number}"}, {"role": "assistant", "content": "Done."}],
            "outcome": {"result": result, "reward": 1.0 if result == "success" else 0.0},
        }
        for number, result in enumerate(results, start=first)
    ]


def bring(actor, project, rows, tmp_path, **options):
    file = tmp_path / "runs.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return run_import(job_id=start_import(actor=actor, project=project, name="runs.jsonl", path=file, **options).pk)


def rule(lead, project, queue, lines="", **given):
    conditions = read_conditions(lines)
    return create_rule(actor=lead, project=project, queue=queue, conditions=conditions, **{"name": "Rule", **given})


def test_failures_go_to_their_queue_and_remember_the_rule(project, lead, tmp_path):
    queue = make.queue(project, items=0)
    failed = rule(lead, project, queue, "outcome.result in failure, crash", name="Failures", priority=5)
    bring(lead, project, runs("success", "failure", "crash", "timeout"), tmp_path)
    placed = QueueItem.objects.filter(queue=queue).order_by("pk")
    assert [row.item.trajectory.outcome.result for row in placed] == ["failure", "crash"]
    assert {(row.rule, row.priority) for row in placed} == {(failed, 5)}
    assert Event.objects.get(verb="queue.filled").data == {"items": 2, "rule": "Failures"}


def test_an_item_goes_to_every_queue_that_fits_by_the_first_rule_of_each(project, lead, tmp_path):
    one, other = make.queue(project, items=0), make.queue(project, items=0)
    first = rule(lead, project, one, "outcome.reward < 0.5", name="Low")
    rule(lead, project, one, name="Everything", priority=3)
    second = rule(lead, project, other, name="All to the other")
    bring(lead, project, runs("failure"), tmp_path)
    assert {(row.queue, row.rule) for row in QueueItem.objects.all()} == {(one, first), (other, second)}


def test_what_is_there_already_is_not_routed_again(project, lead, tmp_path):
    bring(lead, project, runs("failure"), tmp_path)
    queue = make.queue(project, items=0)
    rule(lead, project, queue)
    bring(lead, project, runs("failure"), tmp_path)
    assert not QueueItem.objects.exists()


def test_a_share_takes_the_same_items_in_whatever_order_they_come(project, lead, tmp_path):
    queue = make.queue(project, items=0)
    half = rule(lead, project, queue, share=0.5)
    rows = runs(*["success"] * 40)
    bring(lead, project, rows[:20], tmp_path)
    bring(lead, project, rows[::-1], tmp_path)
    assert 8 < QueueItem.objects.filter(rule=half).count() < 32


def test_a_closed_queue_takes_nothing_and_holds_up_no_import(project, lead, tmp_path):
    queue = make.queue(project, items=0)
    rule(lead, project, queue)
    change_queue(actor=lead, queue=queue, state="closed")
    assert bring(lead, project, runs("failure"), tmp_path).created == 1
    assert not QueueItem.objects.exists()


def test_the_queue_of_the_import_takes_what_no_rule_brought(project, lead, tmp_path):
    queue = make.queue(project, items=0)
    failed = rule(lead, project, queue, "outcome.result = failure", priority=2)
    bring(lead, project, runs("success", "failure"), tmp_path, queue=queue)
    assert {row.rule for row in queue.queue_items.all()} == {None, failed}


def test_a_project_without_rules_leaves_items_where_they_are(project, lead, tmp_path):
    make.queue(project, items=0)
    bring(lead, project, runs("failure"), tmp_path)
    assert not QueueItem.objects.exists()


# --- Priority ---------------------------------------------------------------------------------------------------------
def dealt(rater, queue):
    """The titles of the items that a rater gets, one after another, until nothing is left."""
    found = []
    for _ in range(queue.slots.filter(number=1).count()):
        assignment = claim(actor=rater, queue=queue)
        found.append(assignment.item_id)
        submit(actor=rater, uid=assignment.uid, payload=make.passing(), idempotency_key=str(assignment.uid))
    return found


@pytest.mark.parametrize("order", ["arrival", "shuffled"])
def test_the_higher_priority_is_dealt_first_and_equals_as_they_came(project, lead, order):
    queue = make.queue(project, items=0, overlap=1, order=order)
    plain = [make.item(project) for _ in range(3)]
    add_items(actor=lead, queue=queue, items=plain)
    by = {number: rule(lead, project, queue, name=f"P{number}", priority=number) for number in (2, 5, 9)}
    put = {}
    for number, name in ((5, "a"), (2, "b"), (9, "c"), (5, "d"), (9, "e")):
        put[name] = make.item(project)
        add_items(actor=lead, queue=queue, items=[put[name]], rule=by[number])
    early = [put[name].pk for name in "ceadb"]
    got = dealt(make.expert(project, "Alice"), queue)
    assert got[:5] == early
    assert set(got[5:]) == {item.pk for item in plain}


def test_what_arrives_in_the_midst_of_the_work_comes_next_for_everybody(project, lead):
    queue = make.queue(project, items=6, overlap=2)
    alice, bob = make.expert(project, "Alice"), make.expert(project, "Bob")
    for _ in range(3):
        assignment = claim(actor=alice, queue=queue)
        submit(actor=alice, uid=assignment.uid, payload=make.passing(), idempotency_key=str(assignment.uid))
    urgent = [make.item(project) for _ in range(3)]
    add_items(actor=lead, queue=queue, items=urgent, rule=rule(lead, project, queue, priority=9))
    for item in urgent:
        assignment = claim(actor=alice, queue=queue)
        assert assignment.item_id == item.pk
        submit(actor=alice, uid=assignment.uid, payload=make.passing(), idempotency_key=str(assignment.uid))
    # Bob is further behind: he comes by everything that lies between, and misses none of them.
    assert set(dealt(bob, queue)) == {row.item_id for row in queue.queue_items.all()}


def test_more_priority_items_than_there_is_room_for_stay_in_front(project, lead):
    queue = make.queue(project, items=2, overlap=1)
    by = rule(lead, project, queue, priority=1)
    queue.slots.filter(item=queue.queue_items.order_by("pk").first().item).update(place=3)
    urgent = [make.item(project) for _ in range(5)]
    add_items(actor=lead, queue=queue, items=urgent, rule=by)
    assert dealt(make.expert(project, "Alice"), queue)[:5] == [item.pk for item in urgent]


def test_priority_nought_takes_its_turn(project, lead):
    queue = make.queue(project, items=2, overlap=1)
    late = make.item(project)
    add_items(actor=lead, queue=queue, items=[late], rule=rule(lead, project, queue, priority=0))
    assert dealt(make.expert(project, "Alice"), queue)[-1] == late.pk


# --- Making rules -----------------------------------------------------------------------------------------------------
def test_a_rule_is_changed_and_removed_and_each_leaves_an_event(project, lead, tmp_path):
    queue = make.queue(project, items=0)
    made = rule(lead, project, queue)
    made = change_rule(actor=lead, rule=made, name="Failures", conditions=read_conditions("outcome.result = failure"))
    remove_rule(actor=lead, rule=made)
    with pytest.raises(Conflict):
        remove_rule(actor=lead, rule=made)
    with pytest.raises(Conflict):
        change_rule(actor=lead, rule=made, name="Again")
    bring(lead, project, runs("failure"), tmp_path)
    assert not QueueItem.objects.exists()
    verbs = Event.objects.filter(target_type="arrivalrule").order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["rule.created", "rule.changed", "rule.removed"]
    assert rule(lead, project, queue, name="Failures").active


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 81}, "name"),
        ({"share": 0}, "share"),
        ({"share": 1.5}, "share"),
        ({"share": True}, "share"),
        ({"priority": 10}, "priority"),
        ({"priority": -1}, "priority"),
        ({"position": -1}, "position"),
        ({"conditions": [{"field": "gender", "op": "=", "value": 1}]}, "conditions"),
    ],
)
def test_what_is_no_rule_is_refused_by_its_field(project, lead, given, field):
    queue = make.queue(project, items=0)
    with pytest.raises(Invalid) as refused:
        create_rule(actor=lead, project=project, queue=queue, **{"name": "Rule", **given})
    assert set(refused.value.errors) == {field}


def test_a_queue_of_another_project_and_a_name_in_use_are_refused(project, lead):
    with pytest.raises(Invalid, match="another project"):
        rule(lead, project, make.queue(make.project(), items=0))
    queue = make.queue(project, items=0)
    rule(lead, project, queue)
    with pytest.raises(Conflict, match="called “Rule” already"):
        rule(lead, project, queue)


@pytest.mark.parametrize("role", ["expert", "engineer", "admin"])
def test_only_leads_make_rules(project, lead, role):
    queue = make.queue(project, items=0)
    made = rule(lead, project, queue)
    user = make.person("Eve")
    make.member(project, user, role)
    for attempt in (
        lambda: rule(user, project, queue, name="Mine"),
        lambda: change_rule(actor=user, rule=made, name="Mine"),
        lambda: remove_rule(actor=user, rule=made),
        lambda: try_rule(actor=user, project=project, queue=queue),
    ):
        with pytest.raises(Forbidden, match="Only leads"):
            attempt()


def test_a_trial_counts_and_writes_nothing(project, lead, tmp_path):
    bring(lead, project, runs("failure", "failure", "success"), tmp_path)
    queue = make.queue(project, items=0)
    conditions = read_conditions("outcome.result = failure")
    assert try_rule(actor=lead, project=project, queue=queue, conditions=conditions) == (2, 3)
    assert not QueueItem.objects.exists()
    assert not Event.objects.filter(verb__startswith="rule.").exists()
