"""Comparisons over the API: made once, read with their candidates, many at a time with a receipt for each."""

import uuid

import pytest

from reviews.trajectories.schema import Step
from tests import factories as make
from tests.factories.runs import another_run
from tests.reviews.api.talking import by, is_problem

pytestmark = pytest.mark.django_db

ENDING = Step(role="agent", text="You will hear from us.")


@pytest.fixture
def runs():
    first = make.item(make.project())
    return [first, another_run(first, (*make.STEPS[:2], ENDING))]


@pytest.fixture
def client(runs):
    return by(make.lead_of(runs[0].project))


def address(runs, bulk=""):
    return f"/api/v1/projects/{runs[0].project.slug}/comparisons/{bulk}"


def test_runs_are_laid_beside_each_other_once(client, runs):
    asked = {"items": [run.uid for run in runs], "differs_in": "whether it pays"}
    first = client.post(address(runs), asked, format="json")
    assert first.status_code == 201
    item = first.json()
    assert (item["kind"], item["differs_in"]) == ("comparison", "whether it pays")
    assert [(c["position"], c["item"], c["step_count"], c["shared"]) for c in item["candidates"]] == [
        (1, str(runs[0].uid), 4, 2),
        (2, str(runs[1].uid), 3, 2),
    ]
    assert item["task"]["key"] == runs[0].subject.key
    assert "step_count" not in item
    again = client.post(address(runs), asked | {"items": asked["items"][::-1]}, format="json")
    assert again.status_code == 200
    assert again.json()["uid"] == item["uid"]
    assert client.get(f"/api/v1/items/{item['uid']}/").json() == item
    listed = client.get("/api/v1/items/", {"project": runs[0].project.slug, "kind": "comparison"}).json()["results"]
    assert [row["uid"] for row in listed] == [item["uid"]]


def test_many_at_once_with_a_receipt_for_each(client, runs):
    rows = [{"items": [run.uid for run in runs]}, {"items": [runs[0].uid, uuid.uuid4()]}]
    answer = client.post(address(runs, "bulk/"), {"comparisons": rows}, format="json").json()
    assert (answer["created"], answer["already_there"], answer["refused"]) == (1, 0, 1)
    assert answer["comparisons"][1] == {"status": "refused", "reason": "There is no such item."}
    again = client.post(address(runs, "bulk/"), {"per_task": 5}, format="json").json()
    assert again["comparisons"] == [{"status": "already_there", "item": answer["comparisons"][0]["item"]}]


@pytest.mark.parametrize(
    ("bulk", "body", "field"),
    [
        ("", {}, "items"),
        ("", {"items": "all"}, "items"),
        ("", {"items": [str(uuid.uuid4())] * 2}, "items.0"),
        ("", {"items": [], "shared": "2"}, "shared"),
        ("bulk/", {}, "comparisons"),
        ("bulk/", {"comparisons": [], "per_task": 1}, "comparisons"),
        ("bulk/", {"per_task": 0}, "most"),
        ("bulk/", {"per_task": 1, "size": 9}, "size"),
        ("bulk/", {"per_task": 1, "queue": str(uuid.uuid4())}, "queue"),
    ],
)
def test_what_cannot_be_made_is_named_at_its_field(client, runs, bulk, body, field):
    response = client.post(address(runs, bulk), body, format="json")
    assert field in is_problem(response, response.status_code)["errors"]
    assert response.status_code in (400, 422)
