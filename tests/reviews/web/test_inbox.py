"""The inbox in the order of worth, several alike settled in one go, and the history of what came of it."""

import pytest
from django.urls import reverse

from reviews.actions.adjudicating import adjudicate, adjudicate_alike
from reviews.actions.correcting import correct
from reviews.actions.scoring import post_scores
from reviews.errors import Conflict, Invalid
from reviews.models import Assignment, Label
from reviews.queries.alike import batches
from reviews.queries.disagreements import Filters, doubts_about, inbox
from reviews.queries.label_history import label_history
from tests import factories as make
from tests.factories.furnished import desk
from tests.reviews.api.talking import by
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db


@pytest.fixture
def made():
    """The first two wait because of Process alone, the third because of a gate."""
    return desk()


def settle_alike(made, **changes):
    items = [row.uid for row in made.waiting[:2]]
    given = {"items": items, "criterion": "process", "value": 1, "reason": "guideline_unclear", "note": "The middle."}
    return adjudicate_alike(actor=made.lead, queue=made.queue, **given | changes)


def test_an_item_on_which_graders_are_split_comes_before_an_older_one_like_it(made):
    older, newer = made.waiting[:2]
    scores = [{"item": newer.item.uid, "grader": name, "value": value} for name, value in (("one", 1), ("two", 0))]
    scores += [{"item": older.item.uid, "grader": name, "value": 1} for name in ("one", "two")]
    post_scores(actor=made.lead, project=made.project, scores=scores)
    assert doubts_about([older.item.trajectory_id, newer.item.trajectory_id]) == {
        older.item.trajectory_id: 0.0,
        newer.item.trajectory_id: 1.0,
    }
    assert [row.queue_item for row in inbox(made.queue, made.lead).rows] == [made.waiting[2], newer, older]
    by_age = inbox(made.queue, made.lead, filters=Filters(order="age"))
    assert [row.queue_item for row in by_age.rows] == made.waiting


def test_the_inbox_narrows_down_by_gates_and_family(made):
    assert [row.queue_item for row in inbox(made.queue, made.lead, filters=Filters(gates="failed")).rows] == [
        made.waiting[2]
    ]
    assert len(inbox(made.queue, made.lead, filters=Filters(gates="passed", family="refunds")).rows) == 2
    assert inbox(made.queue, made.lead, filters=Filters(family="orders")).rows == []


def test_items_that_differ_in_one_value_alone_stand_together(made):
    (batch,) = batches(made.queue, inbox(made.queue, made.lead).rows)
    assert (batch.criterion.key, batch.said) == ("process", ("0 Poor", "1 Weak", "2 Sound"))
    assert [row.queue_item for row in batch.rows] == made.waiting[:2]


def test_several_are_settled_in_one_go_each_with_a_label_of_its_own(made):
    wait = made.waiting
    address = reverse("reviews:alike", args=[made.queue.uid])
    form = {"items": [row.uid for row in wait[:2]], "criterion": "process", "kind.process": "ordinal"}
    form |= {"criteria.process": "1", "reason": "guideline_unclear", "note": "The middle."}
    assert enter(made.lead).post(address, form).status_code == 302
    for row in wait[:2]:
        label = Label.objects.get(queue=made.queue, item=row.item)
        assert {value.criterion.key: value.value for value in label.values.all()}["process"] == 1
        assert (label.rationale, label.adjudication.lead) == ("The middle.", made.lead)
    assert made.waiting == [wait[2]]


@pytest.mark.parametrize(
    ("changes", "refused"),
    [
        ({"value": 9}, Invalid),
        ({"reason": "because"}, Invalid),
        ({"items": []}, Invalid),
        ({"criterion": "success"}, Conflict),
    ],
)
def test_what_does_not_fit_settles_none_of_them(made, changes, refused):
    with pytest.raises(refused):
        settle_alike(made, **changes)
    assert len(made.waiting) == 3


def test_a_contested_gate_is_never_settled_in_a_batch(made):
    with pytest.raises(Conflict):
        settle_alike(made, items=[row.uid for row in made.waiting])


def test_only_leads_settle_several(made):
    address = f"/api/v1/queues/{made.queue.uid}/disagreements/alike/"
    body = {"queue_items": [str(row.uid) for row in made.waiting[:2]], "criterion": "process", "value": 2}
    body["reason"] = "rater_error"
    assert by(made.engineer).post(address, body, format="json").status_code == 403
    answer = by(made.lead).post(address, body, format="json")
    assert (answer.status_code, len(answer.json())) == (201, 2)


# --- History ----------------------------------------------------------------------------------------------------------
def test_the_history_has_every_revision_with_the_judgments_behind_it(made):
    first, _second = settle_alike(made)
    row = first.item.queue_items.get()
    payload = make.passing(process=2)
    decision = {"gates": payload["gates"], "criteria": payload["criteria"], "reasons": {"process": "rater_error"}}
    adjudicate(actor=made.lead, queue_item=row, payload=decision)
    history = label_history(made.project, first.uid, reader=made.lead)
    later, earlier = history.revisions
    assert (later.label.revision, later.stands, earlier.stands) == (2, True, False)
    process = {line.title: line for line in later.lines}["Process"]
    assert (process.words, process.changed, process.reason, process.same, process.asked) == (
        "2 Sound",
        True,
        "Rater error",
        1,
        3,
    )
    assert [judgment.rater for judgment in earlier.behind] == ["Alice", "Bob", "Charlie"]
    page = enter(made.lead).get(reverse("reviews:label", args=[made.project.slug, first.uid])).content.decode()
    assert "superseded" in page
    assert "1 of 3" in page


def test_an_engineer_reads_pseudonyms_and_an_expert_nothing(made):
    label = made.settled[0].label
    address = f"/api/v1/labels/{label.uid}/history/"
    said = by(made.engineer).get(address).json()
    assert not {"Alice", "Bob", "Charlie"} & {row["rater"] for row in said["revisions"][0]["judgments"]}
    assert len(said["revisions"][0]["judgments"]) == 3
    assert by(made.experts[0]).get(address).status_code == 403


def test_what_was_said_after_the_label_is_behind_no_revision_of_it(made):
    first, _second = settle_alike(made)
    alice = made.experts[0]
    mine = Assignment.objects.get(queue=made.queue, item=first.item, rater=alice)
    said = make.passing(process=2)
    correct(actor=alice, uid=mine.uid, payload=said, idempotency_key="later", seen_revision=1)
    decision = {name: said[name] for name in ("gates", "criteria")} | {"reasons": {"process": "rater_error"}}
    adjudicate(actor=made.lead, queue_item=first.item.queue_items.get(), payload=decision)
    for revision in label_history(made.project, first.uid, reader=made.lead).revisions:
        assert {judgment.revision for judgment in revision.behind} == {1}
