"""Criteria that come in with a run and are asked of it alone."""

import json

import pytest

from reviews.actions.dealing import claim
from reviews.actions.ingesting import ingest_runs
from reviews.models import Criterion, Item
from reviews.queries.judging import judge_page
from tests import factories as make
from tests.reviews.api.talking import by

pytestmark = pytest.mark.django_db

OWN = [
    {"key": "names_the_fee", "title": "Names the fee of $15", "kind": "binary", "evidence": "always"},
    {"key": "no_second_refund", "title": "No second refund", "kind": "gate"},
]


def row(criteria=OWN, text="Hello"):
    asked = {} if criteria is None else {"assay": {"criteria": criteria}}
    return {"messages": [{"role": "user", "content": text}, {"role": "assistant", "content": "Done."}], **asked}


def send(project, *rows, queue=None):
    body = "\n".join(json.dumps(each) for each in rows).encode()
    return ingest_runs(actor=make.lead_of(project), project=project, body=body, queue=queue)


def test_a_run_brings_its_criteria_gates_first(project):
    (receipt,) = send(project, row())
    own = receipt.item.own_criteria.all()
    assert [(one.key, one.kind, one.position) for one in own] == [
        ("no_second_refund", "gate", 1),
        ("names_the_fee", "binary", 2),
    ]
    assert "assay" not in receipt.item.run.outcome.data


def test_the_same_run_again_changes_nothing(project):
    send(project, row())
    (again,) = send(project, row())
    (other,) = send(project, row([{"key": "other", "title": "Other", "kind": "binary"}]))
    assert [again.status, other.status] == ["already_there", "already_there"]
    assert Criterion.objects.filter(item=again.item).count() == 2


@pytest.mark.parametrize(
    ("criteria", "said"),
    [
        ("all good", "assay.criteria is a list"),
        ([], "assay.criteria: A rubric has 1 to 40 criteria."),
        ([{"key": "A B", "title": "A", "kind": "binary"}], "assay.criteria.0.key"),
        ([OWN[0], OWN[0]], "is used twice"),
        ([{"key": "a", "title": "A", "kind": "preference", "settings": {"form": "pair"}}], "candidates are compared"),
        ([{**OWN[0], "scope": "candidate"}], "has no candidates"),
        ([{**OWN[1], "weight": 3}], "carries no weight"),
    ],
)
def test_a_mistake_refuses_its_row_alone(project, criteria, said):
    good, bad = send(project, row(text="One"), row(criteria, text="Two"))
    assert (good.status, bad.status, bad.place) == ("created", "refused", "line 2")
    assert said in bad.reason
    assert Item.objects.filter(project=project).count() == 1


def test_a_rater_answers_them_with_the_rubric(project):
    queue = make.queue(project, items=0, overlap=1)
    send(project, row(), queue=queue)
    alice = by(make.expert(project, "Alice"))
    uid = alice.post(f"/api/v1/queues/{queue.uid}/claim/").json()["uid"]
    place = f"/api/v1/assignments/{uid}/judgment/"
    missing = alice.post(place, make.passing(), format="json", headers={"Idempotency-Key": "k"})
    assert "gates.no_second_refund" in missing.json()["errors"]
    whole = make.passing()
    whole["gates"]["no_second_refund"] = "pass"
    whole["criteria"]["names_the_fee"] = True
    whole["evidence"] = [{"criterion": "names_the_fee", "step": 2}]
    assert alice.post(place, whole, format="json", headers={"Idempotency-Key": "k"}).status_code == 201


def test_a_key_of_the_rubric_keeps_the_run_out_of_the_queue(project):
    queue = make.queue(project, items=0)
    clash = [{"key": "success", "title": "Success of its own", "kind": "binary"}]
    (receipt,) = send(project, row(clash), queue=queue)
    assert receipt.status == "created"
    assert not queue.queue_items.exists()


def test_the_api_asks_for_them_in_the_order_of_the_page(project):
    queue = make.queue(project, items=0, overlap=1)
    send(project, row(), queue=queue)
    alice = make.expert(project, "Alice")
    item = by(alice).post(f"/api/v1/queues/{queue.uid}/claim/").json()["item"]
    asked = [criterion["key"] for criterion in item["rubric"]["criteria"]]
    assert asked == ["authorised", "consent", "success", "process", "no_second_refund", "names_the_fee"]
    page = judge_page(claim(actor=alice, queue=queue), payload={}, version=0)
    assert {question.key for question in (*page.rubric.gates, *page.rubric.qualities)} == set(asked)
