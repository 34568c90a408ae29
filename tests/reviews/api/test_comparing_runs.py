"""Comparisons judged over the API: candidates in the rater's order, told by place alone."""

import json

import pytest

from reviews.models import Assignment
from reviews.trajectories.schema import Step
from tests import factories as make
from tests.factories.runs import another_run
from tests.reviews.api.talking import by, is_problem

pytestmark = pytest.mark.django_db

BETTER = {
    "key": "better",
    "title": "Better",
    "kind": "preference",
    "settings": {"form": "pair", "strength": 2, "ties": ["equally_good"]},
}
GATE = {"key": "authorised", "title": "Authorised", "kind": "gate", "scope": "candidate"}
ENDINGS = ("You will hear from us.", "It is done.")


@pytest.fixture
def queue():
    project = make.project()
    first = make.item(project)
    others = [another_run(first, (*make.STEPS[:2], Step(role="agent", text=words))) for words in ENDINGS[:1]]
    pairs = [make.comparison(project, [first, *others], shared=2)]
    return make.queue(project, items=pairs, criteria=[GATE, BETTER], rubric={"item_kind": "comparison"}, overlap=2)


def claimed(queue, name="Alice"):
    client = by(make.expert(queue.project, name))
    return client, client.post(f"/api/v1/queues/{queue.uid}/claim/").json()


def last_words(candidate):
    return candidate["steps"]["rows"][-1]["fields"][0]["text"]


def test_candidates_come_in_the_raters_order_by_place_alone(queue):
    (_, alice), (_, bob) = claimed(queue), claimed(queue, "Bob")
    orders = [Assignment.objects.get(uid=one["uid"]).candidate_order for one in (alice, bob)]
    assert sorted(orders) == [[1, 2], [2, 1]]  # balanced over the slots
    for answer, order in zip((alice, bob), orders, strict=True):
        item = answer["item"]
        assert "steps" not in item
        words = {1: make.STEPS[3].text, 2: ENDINGS[0]}
        assert [last_words(candidate) for candidate in item["candidates"]] == [words[position] for position in order]
        assert [set(candidate) for candidate in item["candidates"]] == [{"shared", "steps"}] * 2
        assert {candidate["shared"] for candidate in item["candidates"]} == {2}
        told = json.dumps(item)
        assert "secret-model" not in told
        assert "position" not in told


def test_more_steps_are_asked_for_by_place(queue):
    client, answer = claimed(queue)
    address = f"/api/v1/assignments/{answer['uid']}/steps/"
    second = client.get(address, {"candidate": 2, "from": 3}).json()
    assert second["rows"][0]["number"] == 3
    assert second["rows"] == answer["item"]["candidates"][1]["steps"]["rows"][2:]
    assert "candidate" in is_problem(client.get(address), 422)["errors"]
    is_problem(client.get(address, {"candidate": 3}), 404)
    is_problem(client.get(address, {"candidate": "B"}), 422)


def test_a_judgment_names_candidates_as_they_were_given(queue):
    client, answer = claimed(queue)
    address = f"/api/v1/assignments/{answer['uid']}/judgment/"
    passing = {"gates": {"authorised": "pass"}}
    said = {
        "candidates": [passing, passing],
        "criteria": {"better": {"prefers": 2, "strength": 1}},
        "confidence": 2,
    }
    wrong = client.post(address, said | {"criteria": {}}, format="json", headers={"Idempotency-Key": "k"})
    assert list(is_problem(wrong, 422)["errors"]) == ["criteria.better"]
    receipt = client.post(address, said, format="json", headers={"Idempotency-Key": "k"})
    assert receipt.status_code == 201
    assert receipt.json()["criteria"] == said["criteria"]
    assert receipt.json()["candidates"][0]["gates"] == passing["gates"]
