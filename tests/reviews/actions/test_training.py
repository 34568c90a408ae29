"""Practice: made from settled items, judged like any, shown what stands, repeated, and counted nowhere."""

import pytest

from reviews.actions.correcting import correct
from reviews.actions.dealing import claim, release, skip
from reviews.actions.training import Pick, move_training, open_training, practise_again
from reviews.errors import Conflict, Forbidden, Invalid, NotFound, NothingToDeal
from reviews.models import Assignment, Event, Label, Queue, QueueItem
from reviews.queries.history import own_judgments
from reviews.queries.home import home_page, queue_by_uid
from reviews.queries.judging import judged_today
from reviews.queries.training import feedback_of, training_page
from tests import factories as make
from tests.factories.training import judge, practice, settled_queue

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk():
    project = make.project()
    return project, settled_queue(project), make.expert(project, "Alice")


def test_alice_and_bob_both_go_through_every_item_once(desk):
    project, queue, alice = desk
    bob = make.expert(project, "Bob")
    made = practice(project, queue)
    for rater in (alice, bob, alice, bob, alice, bob):
        judge(made, rater, make.passing())
    for rater in (alice, bob):
        assert Assignment.objects.filter(queue=made, rater=rater, state="submitted").count() == 3
        with pytest.raises(NothingToDeal, match="whole practice set"):
            claim(actor=rater, queue=made)


def test_feedback_lays_what_alice_said_beside_what_stands(desk):
    project, queue, alice = desk
    made = practice(project, queue)
    judgment = judge(made, alice, make.passing(success=1, process=1))
    shown = feedback_of(judgment.assignment)
    by_title = {line.title: line for line in shown.compared.lines}
    assert (by_title["Task success"].said.words, by_title["Task success"].stands.words) == ("1 Weak", "3 Strong")
    assert not by_title["Task success"].right
    assert by_title["Process"].right
    assert by_title["Process"].near
    assert shown.guideline_line == "Judge what was done, not the tone."
    assert shown.policy_line == "Get a yes before any action that changes money."
    assert (shown.done, shown.total) == (1, 3)
    assert shown.words.startswith("One answer differs")


def test_a_failed_gate_where_all_pass_differs_on_it_and_on_what_was_not_asked(desk):
    project, queue, alice = desk
    shown = feedback_of(judge(practice(project, queue), alice, make.failing()).assignment)
    assert [line.title for line in shown.compared.differing] == [
        "Only authorised accounts",
        "Task success",
        "Process",
    ]
    assert shown.compared.lines[2].said is None


def test_nothing_is_shown_before_alice_has_said_anything_nor_of_work(desk):
    project, queue, alice = desk
    made = practice(project, queue)
    assert feedback_of(claim(actor=alice, queue=made)) is None
    assert feedback_of(Assignment.objects.filter(queue=queue).first()) is None


def test_practice_can_be_repeated_and_leads_see_the_first_time(desk):
    project, queue, alice = desk
    made = practice(project, queue)
    for _ in range(3):
        judge(made, alice, make.passing(success=0))
    assert practise_again(actor=alice, queue=made) == 3
    assert Event.objects.filter(verb="practice.repeated").count() == 1
    again = [judge(made, alice, make.passing()) for _ in range(3)]
    assert {judgment.revision for judgment in again} == {2}
    (learner,) = training_page(made).learners
    assert (learner.done, learner.right, learner.tries) == (3, 0, 2)
    assert learner.differs_most == [("Task success", 3)]


def test_an_item_given_back_comes_again(desk):
    project, queue, alice = desk
    made = practice(project, queue, items=1)
    first = claim(actor=alice, queue=made)
    release(actor=alice, uid=first.uid)
    assert claim(actor=alice, queue=made).uid == first.uid


def test_practice_settles_nothing_and_counts_nowhere(desk):
    project, queue, alice = desk
    labels = Label.objects.count()
    made = practice(project, queue)
    for rater in (alice, make.expert(project, "Bob"), make.expert(project, "Charlie")):
        judge(made, rater, make.failing())
        skip(actor=rater, uid=claim(actor=rater, queue=made).uid, reason="not_my_field")
    assert Label.objects.count() == labels
    assert set(QueueItem.objects.filter(queue=made).values_list("state", flat=True)) == {"settled"}
    assert judged_today(alice) == 0
    assert not own_judgments(alice)
    assert queue_by_uid(made.uid) is None
    assert made not in Queue.objects.all()
    assert made not in project.queues.all()


def test_a_judgment_in_practice_is_not_corrected(desk):
    project, queue, alice = desk
    judgment = judge(practice(project, queue), alice, make.passing())
    with pytest.raises(Conflict, match="stays as you submitted it"):
        correct(actor=alice, uid=judgment.assignment.uid, payload=make.failing(), idempotency_key="k", seen_revision=1)


def test_what_a_set_refuses(desk):
    project, queue, alice = desk
    lead, label = make.lead_of(project), Label.objects.filter(queue=queue).first()
    foreign = Label.objects.filter(queue=settled_queue(make.project(), items=1)).first()

    def opened(actor=lead, purpose="practice", name="Set", picks=None, mark=None):
        picks = [Pick(label)] if picks is None else picks
        return open_training(actor=actor, queue=queue, purpose=purpose, name=name, picks=picks, mark=mark)

    for terms, field in (
        ({"name": " "}, "name"),
        ({"purpose": "work"}, "purpose"),
        ({"picks": ()}, "picks"),
        ({"picks": (Pick(label), Pick(label))}, "picks"),
        ({"picks": (Pick(foreign),)}, "picks.0"),
        ({"picks": (Pick(label, guideline_line=2),)}, "picks.0"),
        ({"picks": (Pick(label, policy_line=3),)}, "picks.0"),
        ({"purpose": "qualification"}, "mark"),
        ({"purpose": "qualification", "mark": 1.0}, "mark"),
        ({"purpose": "qualification", "mark": 0.7}, "picks"),
    ):
        with pytest.raises(Invalid) as refused:
            opened(**terms)
        assert list(refused.value.errors) == [field], terms
    with pytest.raises(Forbidden):
        opened(actor=alice)
    opened()
    with pytest.raises(Invalid) as refused:
        opened(name="Another")
    assert "no other set" in refused.value.errors["picks.0"]


def test_an_item_that_another_queue_still_collects_judgments_of_is_not_trained_with(desk):
    project, queue, _alice = desk
    label = Label.objects.filter(queue=queue).first()
    make.queue(project, items=[label.item])
    with pytest.raises(Invalid, match="wait for no judgment"):
        open_training(actor=make.lead_of(project), queue=queue, purpose="practice", name="Set", picks=[Pick(label)])


def test_a_closed_set_deals_nothing_and_strangers_hear_of_none(desk):
    project, queue, alice = desk
    made = practice(project, queue)
    with pytest.raises(Forbidden):
        move_training(actor=alice, queue=made, state="closed")
    made = move_training(actor=make.lead_of(project), queue=made, state="closed")
    with pytest.raises(NothingToDeal, match="closed"):
        claim(actor=alice, queue=made)
    with pytest.raises(Conflict, match="not open"):
        practise_again(actor=alice, queue=made)
    with pytest.raises(NotFound):
        claim(actor=make.person("Sam"), queue=made)


def test_the_first_page_says_what_is_left(desk):
    project, queue, alice = desk
    made = practice(project, queue)
    (lesson,) = home_page(alice).lessons
    assert lesson.words == "Practice: 3 items"
    judge(made, alice, make.passing())
    (lesson,) = home_page(alice).lessons
    assert lesson.words == "Practice: 2 items left"
    for _ in range(2):
        judge(made, alice, make.passing())
    assert home_page(alice).lessons == []
