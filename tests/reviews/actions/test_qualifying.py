"""Qualifications: passed, not yet or undecided by interval; asked for by queues; waived by leads."""

import pytest
from django.db import DatabaseError, transaction

from reviews.actions.dealing import claim, skip
from reviews.actions.judging import submit
from reviews.actions.qualifying import bounds, confidence_of, looks, require_qualification, waive
from reviews.errors import Conflict, Forbidden, Invalid, NothingToDeal
from reviews.models import Event, Qualification, Queue
from reviews.queries.home import home_page
from tests import factories as make
from tests.factories.training import judge, practice, qualification, settled_queue

pytestmark = pytest.mark.django_db

WRONG = make.failing()


@pytest.fixture
def desk():
    project = make.project()
    return project, settled_queue(project, items=15), make.expert(project, "Alice")


def results(queue, rater):
    return list(Qualification.objects.filter(queue=queue, rater=rater).values_list("outcome", "right", "n"))


def test_looks_share_what_may_go_wrong():
    assert looks(12) == [5, 10, 12]
    assert looks(10) == [5, 10]
    assert looks(3) == [3]
    assert confidence_of(10) == pytest.approx(0.975)
    # Wilson by hand: z for 97.5 % is 2.2414, and all of n right gives n / (n + z^2).
    assert bounds(10, 10, size=10) == (pytest.approx(10 / (10 + 2.2414**2), abs=1e-4), 1.0)


def test_alice_passes_as_soon_as_the_whole_interval_is_above_the_mark(desk):
    project, queue, alice = desk
    exam = qualification(project, queue, items=10, mark=0.45)
    for number in range(5):
        assert results(exam, alice) == []
        judge(exam, alice, make.passing(process=1 + number % 2))
    assert results(exam, alice) == [("passed", 5, 5)]
    with pytest.raises(NothingToDeal, match="passed"):
        claim(actor=alice, queue=exam)
    assert Event.objects.get(verb="qualification.weighed").data["outcome"] == "passed"


def test_not_yet_as_soon_as_it_is_below(desk):
    project, queue, alice = desk
    exam = qualification(project, queue, items=10, mark=0.6)
    for _ in range(5):
        judge(exam, alice, WRONG)
    assert results(exam, alice) == [("not_yet", 0, 5)]
    with pytest.raises(NothingToDeal, match="over for you"):
        claim(actor=alice, queue=exam)
    assert home_page(alice).lessons == []


def test_undecided_asks_for_more_and_stays_so_at_the_end(desk):
    project, queue, alice = desk
    exam = qualification(project, queue, items=10, mark=0.6)
    for number in range(10):
        judge(exam, alice, WRONG if number % 2 else make.passing())
    assert results(exam, alice) == [("undecided", 3, 5), ("undecided", 5, 10)]
    with pytest.raises(NothingToDeal, match="every item"):
        claim(actor=alice, queue=exam)


def test_a_level_more_than_one_off_is_not_right(desk):
    project, queue, alice = desk
    exam = qualification(project, queue, items=5, mark=0.4)
    for _ in range(5):
        judge(exam, alice, make.passing(success=1))
    # None of five: the interval ends at 0.43.
    assert results(exam, alice) == [("undecided", 0, 5)]


def test_a_queue_deals_nothing_until_its_qualification_is_passed(desk):
    project, queue, alice = desk
    exam, lead = qualification(project, queue), make.lead_of(project)
    work = make.queue(project, items=2)
    require_qualification(actor=lead, queue=work, qualification=exam)
    work.refresh_from_db()
    with pytest.raises(NothingToDeal, match="begins with a qualification") as refused:
        claim(actor=alice, queue=work)
    assert refused.value.qualification == exam.uid
    (card,) = [card for card in home_page(alice).cards if card.queue == work]
    assert card.asks_for == exam
    for _ in range(5):
        judge(exam, alice, make.passing())
    assert claim(actor=alice, queue=work)
    (card,) = [card for card in home_page(alice).cards if card.queue == work]
    assert card.asks_for is None


def test_an_item_in_hand_is_finished_when_a_qualification_comes_to_be_asked_for(desk):
    project, queue, alice = desk
    work = make.queue(project, items=2)
    mine = claim(actor=alice, queue=work)
    exam = qualification(project, queue)
    work = require_qualification(actor=make.lead_of(project), queue=work, qualification=exam)
    assert claim(actor=alice, queue=work) == mine
    judge(work, alice, make.passing())
    with pytest.raises(NothingToDeal):
        claim(actor=alice, queue=work)


def test_a_lead_waives_it_with_a_reason(desk):
    project, queue, alice = desk
    exam, lead = qualification(project, queue), make.lead_of(project)
    work = require_qualification(actor=lead, queue=make.queue(project, items=2), qualification=exam)
    with pytest.raises(Forbidden):
        waive(actor=alice, queue=exam, rater_id=alice.pk, why="I know it.")
    with pytest.raises(Invalid) as refused:
        waive(actor=lead, queue=exam, rater_id=make.person("Sam").pk, why=" ")
    assert set(refused.value.errors) == {"rater", "why"}
    waive(actor=lead, queue=exam, rater_id=alice.pk, why="Judged here for years.")
    waive(actor=lead, queue=exam, rater_id=alice.pk, why="Twice.")
    assert Event.objects.get(verb="qualification.waived").data["why"] == "Judged here for years."
    assert claim(actor=alice, queue=work)


def test_what_a_queue_cannot_ask_for(desk):
    project, queue, alice = desk
    lead, other = make.lead_of(project), make.project()
    elsewhere = qualification(other, settled_queue(other, items=5))
    for wrong in (practice(project, queue), elsewhere, queue):
        with pytest.raises(Invalid):
            require_qualification(actor=lead, queue=queue, qualification=wrong)
    with pytest.raises(Forbidden):
        require_qualification(actor=alice, queue=queue, qualification=None)


def test_nothing_is_skipped_in_a_qualification_and_nothing_follows_its_end(desk):
    project, queue, alice = desk
    exam = qualification(project, queue, items=10, mark=0.4)
    with pytest.raises(Invalid, match="every item is judged"):
        skip(actor=alice, uid=claim(actor=alice, queue=exam).uid, reason="not_my_field")
    for _ in range(4):
        judge(exam, alice, make.passing())
    mine = claim(actor=alice, queue=exam)
    Qualification.objects.create(queue=exam, rater=alice, outcome="passed", n=4, right=4)
    with pytest.raises(Conflict, match="decided"):
        submit(actor=alice, uid=mine.uid, payload=make.passing(), idempotency_key="late")
    assert mine.judgments.count() == 0


def test_results_are_never_changed(desk):
    project, queue, alice = desk
    exam = qualification(project, queue)
    for _ in range(5):
        judge(exam, alice, make.passing())
    with pytest.raises(DatabaseError), transaction.atomic():
        Qualification.objects.update(outcome="passed")


def test_a_queue_for_work_has_no_mark():
    queue = make.queue(make.project())
    with pytest.raises(DatabaseError), transaction.atomic():
        Queue.objects.filter(pk=queue.pk).update(mark=0.5)
