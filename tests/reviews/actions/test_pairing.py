"""Laying runs beside each other: the same runs once, what they share found, and what is no comparison refused."""

import pytest

from reviews.actions.pairing import make_comparison, make_comparisons, make_comparisons_by_task
from reviews.enums import Role, Verb
from reviews.errors import Conflict, Forbidden, Invalid, NotFound
from reviews.models import Event, Item, QueueItem
from reviews.trajectories.schema import Step
from tests import factories as make
from tests.factories.runs import another_run

pytestmark = pytest.mark.django_db

ENDINGS = ("Your refund is on its way.", "You will hear from us.", "I cannot help with that.", "Done.")
COMPARING = [{"key": "better", "title": "Better", "kind": "preference", "settings": {"form": "pair"}}]


def runs_of_one_task(project, count):
    """Runs that are the same for two steps and then end in words of their own."""
    first = make.item(project)
    endings = [Step(role="agent", text=words) for words in ENDINGS[: count - 1]]
    return [first, *(another_run(first, (*make.STEPS[:2], ending)) for ending in endings)]


def made(project, items, **more):
    return make_comparison(actor=make.lead_of(project), project=project, items=items, **more)


def refused(project, items, **more):
    with pytest.raises(Invalid) as error:
        made(project, items, **more)
    assert not Item.objects.filter(kind="comparison").exists()
    return error.value.errors


def test_two_runs_stand_beside_each_other_with_what_they_share(project):
    one, other = runs_of_one_task(project, 2)
    receipt = made(project, [one, other], differs_in=" waits for a yes ", provenance="contrastive")
    item = receipt.item
    assert receipt.status == "created"
    assert (item.kind, item.subject, item.provenance, item.differs_in) == (
        "comparison",
        one.subject,
        "contrastive",
        "waits for a yes",
    )
    assert [(c.position, c.trajectory, c.shared) for c in item.candidates.all()] == [(1, one.run, 2), (2, other.run, 2)]
    event = Event.objects.get(verb=Verb.COMPARISON_MADE)
    assert (event.target_id, event.data) == (item.pk, {"candidates": 2})


def test_the_same_runs_are_one_comparison_in_whatever_order_they_are_named(project):
    items = runs_of_one_task(project, 3)
    first = made(project, items)
    again = made(project, items[::-1])
    assert (again.status, again.item) == ("already_there", first.item)
    assert made(project, items[:2]).item != first.item
    assert Event.objects.filter(verb=Verb.COMPARISON_MADE).count() == 2


def test_fewer_steps_may_be_shown_as_shared_and_never_more(project):
    items = runs_of_one_task(project, 2)
    assert list(refused(project, items, shared=3)) == ["shared"]
    assert {c.shared for c in made(project, items, shared=1).item.candidates.all()} == {1}


def test_runs_of_two_tasks_that_begin_with_one_request_can_be_compared(project):
    one = make.item(project, steps=(Step(role="user", text="Hello"), Step(role="agent", text="Hi")))
    other = make.item(project, steps=(Step(role="user", text="Hello"), Step(role="agent", text="Good day")))
    assert [c.shared for c in made(project, [one, other]).item.candidates.all()] == [1, 1]


def test_what_is_no_comparison_is_refused_in_words(project):
    items = runs_of_one_task(project, 2)
    stranger = make.item(project, steps=(Step(role="user", text="Something else"),))
    assert "are 1" in refused(project, items[:1])["items"]
    assert "are 9" in refused(project, [make.item(project) for _ in range(9)])["items"]
    assert "twice" in refused(project, [items[0], items[0]])["items"]
    assert "read alike" in refused(project, [items[0], another_run(items[0], make.STEPS)])["items"]
    assert "several tasks" in refused(project, [items[0], stranger])["items"]
    assert "another project" in refused(project, [items[0], make.item(make.project())])["items"]
    assert list(refused(project, items, provenance="thin air")) == ["provenance"]
    assert list(refused(project, items, differs_in="x" * 201)) == ["differs_in"]


def test_a_comparison_is_not_compared_with_another(project):
    items = runs_of_one_task(project, 3)
    pair = made(project, items[:2]).item
    with pytest.raises(Invalid, match="Only runs"):
        made(project, [pair, items[2]])


@pytest.mark.parametrize("role", [Role.EXPERT, Role.ADMIN])
def test_only_leads_and_engineers_lay_runs_beside_each_other(project, role):
    alice = make.person("Alice")
    make.member(project, alice, role)
    items = runs_of_one_task(project, 2)
    with pytest.raises(Forbidden, match="Only leads and engineers"):
        make_comparison(actor=alice, project=project, items=items)
    with pytest.raises(NotFound):
        make_comparison(actor=make.person("Sam"), project=project, items=items)


# --- Many -------------------------------------------------------------------------------------------------------------
def test_a_row_that_cannot_be_taken_hinders_no_other_and_what_is_made_goes_into_the_queue(project):
    a, b, c = runs_of_one_task(project, 3)
    queue = make.queue(project, items=0, criteria=COMPARING, rubric={"item_kind": "comparison"}, overlap=1)
    rows = [{"items": [a.uid, b.uid]}, {"items": [a.uid]}, {"items": [b.uid, a.uid]}, {"items": [b.uid, c.uid]}]
    receipts = make_comparisons(actor=make.lead_of(project), project=project, rows=rows, queue=queue)
    assert [receipt.status for receipt in receipts] == ["created", "refused", "already_there", "created"]
    assert "are 1" in receipts[1].reason
    assert set(QueueItem.objects.filter(queue=queue).values_list("item", flat=True)) == {
        receipts[0].item.pk,
        receipts[3].item.pk,
    }
    assert Event.objects.get(verb=Verb.COMPARISONS_MADE).data == {"created": 2, "already_there": 1, "refused": 1}


def test_a_queue_for_runs_takes_no_comparisons(project):
    a, b = runs_of_one_task(project, 2)
    queue = make.queue(project, items=0)
    with pytest.raises(Conflict, match="does not take comparisons"):
        make_comparisons(actor=make.lead_of(project), project=project, rows=[{"items": [a.uid, b.uid]}], queue=queue)
    assert not Item.objects.filter(kind="comparison").exists()


def test_every_task_gives_as_many_pairs_as_it_can_up_to_a_number_and_the_same_again(project):
    runs_of_one_task(project, 2)
    runs_of_one_task(project, 4)
    make.item(project)

    def by_task(**wanted):
        return make_comparisons_by_task(actor=make.lead_of(project), project=project, **wanted)

    first = by_task(most=3)
    assert [receipt.status for receipt in first] == ["created"] * 4  # one pair of the first task, three of the second
    assert [receipt.item for receipt in by_task(most=3)] == [receipt.item for receipt in first]
    everything = by_task(most=50)
    assert [receipt.status for receipt in everything].count("created") == 3  # the other three of six
    assert [receipt.item.candidates.count() for receipt in by_task(size=4)] == [4]
    assert by_task(size=5) == []
    for wrong in ({"size": 1}, {"size": 9}, {"most": 0}, {"most": 51}):
        with pytest.raises(Invalid):
            by_task(**wrong)
