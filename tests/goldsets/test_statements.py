"""What a rater does sends the same statements for gold and plain items, also where it was the last of an item."""

import re
from functools import partial

import pytest
from django.db import connection, transaction

from goldsets.models import GoldPlacement, GoldPolicy, GoldSchedule
from reviews.actions.auditing import audit_verdicts, show_verdicts
from reviews.actions.correcting import correct
from reviews.actions.dealing import claim, release, renew, skip
from reviews.actions.judging import save_draft, submit
from reviews.actions.queueing import add_items
from reviews.actions.scoring import post_scores
from reviews.actions.settling import settle_marked
from reviews.models import QueueItem
from reviews.task_review import task_review
from reviews.tasks import weigh_answers
from tests import factories as make
from tests.factories import tasks
from tests.goldsets.test_blindness import COMPARING, PREFERRED
from tests.goldsets.test_gold_beyond_the_rubric import WORDS
from tests.reviews.actions.test_tasks import answers

pytestmark = [pytest.mark.django_db, pytest.mark.worker_away]

# The number of a savepoint.
NUMBER = re.compile(r"s\d+_x\d+")
OTHER_PAYLOAD = {"rationale": "Looked at again."}


class Desk:
    """Runs of which Alex gets one: as gold, settled by others long ago, or as the plain item that Alex judges last."""

    made_with = {}

    def __init__(self, *, plain=3, **settings):
        self.project = make.project()
        self.lead = make.lead_of(self.project)
        self.overlap = settings["overlap"]
        self.queue = make.queue(self.project, items=[self.item(0)], **self.made_with, **settings)
        self.others = [make.expert(self.project, f"Gwen {number}") for number in range(self.overlap)]
        for other in self.others:
            self.judged_by(other)
        settle_marked()
        weigh_answers()
        self.row = QueueItem.objects.get(queue=self.queue)
        assert self.row.state == "settled"
        make.gold(self.row)
        add_items(actor=self.lead, queue=self.queue, items=[self.item(number + 1) for number in range(plain)])

    def item(self, number):
        return make.item(self.project)

    def payload(self, mine, **changes):
        return make.passing(**changes)

    def judged_by(self, rater, **changes):
        mine = claim(actor=rater, queue=self.queue)
        submit(actor=rater, uid=mine.uid, payload=self.payload(mine, **changes), idempotency_key=f"k-{mine.uid}")
        return mine

    def alex_gets(self, *, gold, **said):
        """An assignment on gold, or on the plain item that all the others have judged, saying `said`."""
        for other in self.others[1:]:
            self.judged_by(other, **said)
        settle_marked()
        # Not by the action, which would shuffle what waits: Alex is to get the plain item that the others have judged.
        GoldPolicy.objects.create(queue=self.queue, rate="0.1")
        alex = make.expert(self.project, "Alex")
        GoldSchedule.objects.create(queue=self.queue, rater=alex, plain_left=0 if gold else 9)
        mine = claim(actor=alex, queue=self.queue)
        assert GoldPlacement.objects.filter(assignment=mine).exists() == gold
        return mine

    def plain_row(self):
        return QueueItem.objects.filter(queue=self.queue).order_by("pk")[1]


class ComparingDesk(Desk):
    made_with = {"criteria": COMPARING, "rubric": {"item_kind": "comparison"}}

    def item(self, number):
        return make.comparison(self.project, 2)

    def payload(self, mine, **changes):
        first = mine.candidate_order.index(1) + 1
        return PREFERRED | {"criteria": {"better": {"prefers": first, "strength": 1}}} | changes


class TaskDesk(Desk):
    made_with = {
        "criteria": task_review()["criteria"],
        "rubric": {"item_kind": "task", "marks": task_review()["marks"]},
    }

    def item(self, number):
        return tasks.task(self.project, key=f"T-{number}")

    def payload(self, mine, **changes):
        return answers(**changes)


class StepDesk(Desk):
    made_with = {"rubric": {"step_labels": {"words": WORDS}}}

    def payload(self, mine, **changes):
        return make.passing(steps={"2": 1, "3": 0, "4": -1}, **changes)


class AuditedDesk(Desk):
    """Each run has a verdict of a grader that raters check after their own answer."""

    made_with = {"rubric": {"audits": True}}

    def item(self, number):
        made = make.item(self.project)
        score = {"item": made.uid, "grader": "judge", "value": 0, "explanation": "A stranger's account."}
        (receipt,) = post_scores(actor=self.lead, project=self.project, scores=[score])
        assert receipt.status == "created"
        return made


def statements(*deeds):
    """By deed the statements it sent, as they go to the database, without their values."""
    sent = []

    def note(execute, sql, params, many, context):
        sent[-1].append(NUMBER.sub("s", sql))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        for deed in deeds:
            sent.append([])
            deed()
    return sent


def judging(desk, mine, *, between=lambda: None, **changes):
    """All that Alex does with an item: a draft, a sign of life, the answer twice, and two corrections."""
    alex = mine.rater
    his = {"actor": alex, "uid": mine.uid}
    other = desk.payload(mine, **OTHER_PAYLOAD)
    return statements(
        lambda: save_draft(**his, data={"rationale": "Half"}, version=0),
        lambda: renew(**his),
        lambda: submit(**his, payload=desk.payload(mine, **changes), idempotency_key="k"),
        lambda: submit(**his, payload=desk.payload(mine, **changes), idempotency_key="k"),
        between,
        lambda: save_draft(**his, data={"rationale": "Half"}, version=0, correcting=True),
        lambda: correct(**his, payload=other, idempotency_key="c", seen_revision=1),
        between,
        lambda: correct(**his, payload=desk.payload(mine), idempotency_key="d", seen_revision=2),
        between,
        lambda: claim(actor=alex, queue=desk.queue),
    )


def without(sent, *places):
    """What Alex waited for, and not what the worker did in between."""
    return [found for place, found in enumerate(sent) if place not in places]


@pytest.mark.parametrize("room", [Desk, ComparingDesk, TaskDesk, StepDesk])
@pytest.mark.parametrize("overlap", [1, 2, 3])
def test_judging_and_correcting_sends_the_same_statements(room, overlap):
    plain, gold = room(overlap=overlap), room(overlap=overlap)
    mine, known = plain.alex_gets(gold=False), gold.alex_gets(gold=True)
    assert judging(gold, known) == judging(plain, mine)
    settle_marked()
    assert plain.plain_row().state == "settled"


@pytest.mark.parametrize(
    ("made", "becomes"),
    [
        ({"overlap": 1, "settle_rule": "majority"}, "settled"),
        ({"overlap": 2}, "waiting"),
        ({"overlap": 2, "overlap_cap": 3}, "collecting"),
        ({"overlap": 2, "overlap_cap": 3, "sure_from": 0.9}, "collecting"),
        ({"overlap": 3, "settle_rule": "majority"}, "settled"),
    ],
)
def test_nor_does_it_matter_what_becomes_of_the_item_and_when(made, becomes):
    """The others said something else than Alex, and the worker looks after every deed, before the next."""
    plain, gold = Desk(**made), Desk(**made)
    mine, known = plain.alex_gets(gold=False, process=1), gold.alex_gets(gold=True, process=1)
    became = []

    def settle():
        settle_marked()
        became.append(plain.plain_row().state)

    worker = (4, 7, 9)
    said = {"between": settle, "process": 2}
    sent = judging(plain, mine, **said)
    assert became[0] == becomes
    assert without(judging(gold, known, **said), *worker) == without(sent, *worker)


@pytest.mark.parametrize("deed", [release, partial(skip, reason="not_my_field")])
@pytest.mark.parametrize("skipped", [0, 2])
def test_passing_an_item_on_sends_the_same_statements(deed, skipped):
    """Also by the third who skips it, which brings it to a lead once the worker has looked."""

    def passed_on(*, gold):
        desk = Desk(overlap=1, plain=1)
        for number in range(skipped):
            other = make.expert(desk.project, f"Hal {number}")
            skip(actor=other, uid=claim(actor=other, queue=desk.queue).uid, reason="not_my_field")
        mine = desk.alex_gets(gold=gold)
        sent = statements(lambda: deed(actor=mine.rater, uid=mine.uid))
        settle_marked()
        return desk, sent

    (plain, by_plain), (gold, by_gold) = passed_on(gold=False), passed_on(gold=True)
    assert by_gold == by_plain
    assert plain.plain_row().state == ("waiting" if skipped and deed is not release else "collecting")
    gold.row.refresh_from_db()
    assert gold.row.state == "settled"


@pytest.mark.parametrize("overlap", [1, 2])
def test_checking_what_graders_said_sends_the_same_statements(overlap):
    def checked(*, gold):
        desk = AuditedDesk(overlap=overlap)
        mine = desk.alex_gets(gold=gold)
        his = {"actor": mine.rater, "uid": mine.uid}
        found = {"verdicts": [{"grader": "judge", "right": False, "evidence": [], "note": ""}]}
        return statements(
            lambda: submit(**his, payload=desk.payload(mine), idempotency_key="k"),
            lambda: show_verdicts(**his),
            lambda: audit_verdicts(**his, payload=found),
        )

    assert checked(gold=True) == checked(gold=False)


def test_a_second_occasion_sends_the_same_statements_as_a_first():
    """The fourth is the earliest that can come again. Chance decides; it is drawn until there was one of each."""
    desk = Desk(overlap=1, plain=8, repeat_rate=0.3, repeat_after=2)
    alex = make.expert(desk.project, "Alex")
    for _ in range(3):
        desk.judged_by(alex)
    sent = {}
    for _ in range(60):
        before = transaction.savepoint()
        mine = claim(actor=alex, queue=desk.queue)
        his = {"actor": alex, "uid": mine.uid}
        sent[mine.occasion] = statements(
            partial(submit, **his, payload=desk.payload(mine), idempotency_key="k"),
            partial(correct, **his, payload=desk.payload(mine), idempotency_key="c", seen_revision=1),
        )
        transaction.savepoint_rollback(before)
        if len(sent) == 2:
            break
    assert sent[2] == sent[1]
