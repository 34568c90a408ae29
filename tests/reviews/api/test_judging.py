"""A rater at work over HTTP: claim, read, draft, submit; and what is refused, and what never comes across."""

import json
from urllib.parse import unquote

import pytest

from reviews.models import Judgment
from tests import factories as make
from tests.reviews.api.talking import by, is_problem, nobody

pytestmark = pytest.mark.django_db


@pytest.fixture
def queue(project):
    return make.queue(project, items=2, overlap=1)


def claimed(client, queue):
    response = client.post(f"/api/v1/queues/{queue.uid}/claim/")
    assert response.status_code == 201, response.content
    return response.json()


def submit(client, uid, payload, key="k1"):
    return client.post(f"/api/v1/assignments/{uid}/judgment/", payload, format="json", headers={"Idempotency-Key": key})


def test_alice_claims_reads_and_submits_until_nothing_is_left(queue, alice):
    client = by(alice)
    for _ in range(2):
        assignment = claimed(client, queue)
        assert assignment["state"] == "leased"
        assert [step["role"] for step in assignment["item"]["steps"]["rows"]] == ["user", "agent", "tool", "agent"]
        assert submit(client, assignment["uid"], make.passing()).status_code == 201
    nothing = client.post(f"/api/v1/queues/{queue.uid}/claim/")
    assert nothing.status_code == 204
    assert nothing.content == b""
    assert unquote(nothing["X-Assay-Reason"]).startswith("Nothing is waiting for you in this queue")


def test_the_item_has_what_a_judgment_needs(queue, alice):
    item = claimed(by(alice), queue)["item"]
    assert item["request"] == "I want my money back."
    assert item["requester"] == {"Owns": "A-5017"}
    assert item["policy"]["lines"][1] == {
        "number": 2,
        "text": "Get a yes before any action that changes money.",
    }
    assert [criterion["key"] for criterion in item["rubric"]["criteria"]] == [
        "authorised",
        "consent",
        "success",
        "process",
    ]
    assert "levels" not in item["rubric"]["criteria"][0]
    assert item["rubric"]["criteria"][2]["levels"][0] == make.LEVELS[0]
    assert item["guideline"]["text"] == "Judge what was done, not the tone."
    call = item["steps"]["rows"][2]
    assert call["tool"] == "read_account"
    assert call["fields"][0] == {"path": "arguments/account_id", "label": "account_id", "text": "A-5071"}
    assert "next" not in item["steps"]


def test_a_failed_gate_goes_in_with_evidence_that_stands_in_the_text_the_api_gave(queue, alice):
    client = by(alice)
    uid = claimed(client, queue)["uid"]
    receipt = submit(client, uid, make.failing())
    assert receipt.status_code == 201
    assert receipt.json()["failure"]["step"] == 3
    assert receipt.json()["evidence"][0]["quote"] == "A-5071"
    assert receipt.json()["criteria"] == {}


def test_nothing_of_outcome_model_source_peers_or_dates_reaches_a_rater(project, queue, alice):
    bob = make.expert(project, "Bob")
    assignment = claimed(by(bob), queue)
    submit(by(bob), assignment["uid"], make.passing())
    text = json.dumps(claimed(by(alice), queue))
    for secret in ("secret-model-9", "runs.jsonl", "reward", "outcome", "created", "content_hash", "Bob", "settled"):
        assert secret not in text
    item_uid = str(Judgment.objects.get().item.uid)
    assert item_uid not in json.dumps(assignment)


def test_claiming_again_gives_the_item_alice_holds(queue, alice):
    client = by(alice)
    assert claimed(client, queue)["uid"] == claimed(client, queue)["uid"]


def test_submitting_twice_gives_one_judgment_and_the_same_receipt(queue, alice):
    client = by(alice)
    uid = claimed(client, queue)["uid"]
    first, again = submit(client, uid, make.passing()), submit(client, uid, make.passing(), key="another")
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    assert client.get(f"/api/v1/assignments/{uid}/judgment/").json() == first.json()
    assert Judgment.objects.count() == 1


def test_a_judgment_without_a_key_is_refused(queue, alice):
    client = by(alice)
    uid = claimed(client, queue)["uid"]
    refused = client.post(f"/api/v1/assignments/{uid}/judgment/", make.passing(), format="json")
    assert is_problem(refused, 422)["field"] == "idempotency_key"


def test_quality_under_a_failed_gate_is_refused_with_its_field(queue, alice):
    client = by(alice)
    uid = claimed(client, queue)["uid"]
    refused = submit(client, uid, {**make.failing(), "criteria": {"success": 3}})
    problem = is_problem(refused, 422)
    assert problem["errors"] == {"criteria.success": "Quality is not scored until every gate passes."}
    assert problem["field"] == "criteria.success"
    assert not Judgment.objects.exists()


@pytest.mark.parametrize("body", [[], "text", 7, None, [{"gates": {}}]])
def test_a_judgment_that_is_no_object_is_refused(queue, alice, body):
    client = by(alice)
    uid = claimed(client, queue)["uid"]
    refused = client.generic(
        "POST",
        f"/api/v1/assignments/{uid}/judgment/",
        json.dumps(body),
        content_type="application/json",
        headers={"Idempotency-Key": "k"},
    )
    is_problem(refused, 422)


def test_a_draft_grows_by_version_and_a_second_tab_gets_both_texts(queue, alice):
    client = by(alice)
    address = f"/api/v1/assignments/{claimed(client, queue)['uid']}/draft/"
    assert client.get(address).json() == {"version": 0, "data": {}}
    first = client.put(address, {"version": 0, "data": {"rationale": "first tab"}}, format="json")
    assert first.json() == {"version": 1, "data": {"rationale": "first tab"}}
    late = client.put(address, {"version": 0, "data": {"rationale": "second tab"}}, format="json")
    assert is_problem(late, 409)["current"] == {
        "theirs": {"version": 1, "data": {"rationale": "first tab"}},
        "yours": {"version": 0, "data": {"rationale": "second tab"}},
    }
    assert client.get(address).json() == {"version": 1, "data": {"rationale": "first tab"}}


def test_a_draft_comes_with_the_assignment(queue, alice):
    client = by(alice)
    uid = claimed(client, queue)["uid"]
    client.put(f"/api/v1/assignments/{uid}/draft/", {"version": 0, "data": {"confidence": 2}}, format="json")
    assert client.get(f"/api/v1/assignments/{uid}/").json()["draft"] == {"version": 1, "data": {"confidence": 2}}


def test_skip_needs_a_reason_and_ends_the_assignment(queue, alice):
    client = by(alice)
    uid = claimed(client, queue)["uid"]
    refused = client.post(f"/api/v1/assignments/{uid}/skip/", {"reason": "dull"}, format="json")
    assert is_problem(refused, 422)["field"] == "reason"
    skipped = client.post(f"/api/v1/assignments/{uid}/skip/", {"reason": "not_my_field"}, format="json")
    assert skipped.json()["state"] == "skipped"
    conflict = submit(client, uid, make.passing())
    assert is_problem(conflict, 409)["detail"] == "You have skipped this item. It went to somebody else."
    assert "item" not in client.get(f"/api/v1/assignments/{uid}/").json()


def test_release_gives_the_item_back_and_renew_keeps_it(queue, alice):
    client = by(alice)
    assignment = claimed(client, queue)
    renewed = client.post(f"/api/v1/assignments/{assignment['uid']}/renew/").json()
    assert renewed["expires_at"] >= assignment["expires_at"]
    boasted = client.post(f"/api/v1/assignments/{assignment['uid']}/renew/", {"active_seconds": 3600}, format="json")
    assert boasted.json()["active_seconds"] <= 60
    assert client.post(f"/api/v1/assignments/{assignment['uid']}/release/").json()["state"] == "released"
    is_problem(client.post(f"/api/v1/assignments/{assignment['uid']}/renew/"), 409)


def test_steps_come_in_windows_and_not_from_beyond_the_run(queue, alice):
    client = by(alice)
    address = f"/api/v1/assignments/{claimed(client, queue)['uid']}/steps/"
    window = client.get(address, {"from": 3}).json()
    assert [step["number"] for step in window["rows"]] == [3, 4]
    assert window["count"] == 4
    is_problem(client.get(address, {"from": 5}), 404)
    assert is_problem(client.get(address, {"from": "x"}), 422)["field"] == "from"


def test_a_long_run_is_read_window_after_window_without_a_gap(project, alice, monkeypatch):
    monkeypatch.setattr("reviews.queries.blind_item.WINDOW_STEPS", 3)
    queue = make.queue(project, items=[make.item(project, steps=make.STEPS * 2)])
    client = by(alice)
    window = claimed(client, queue)
    address, window = f"/api/v1/assignments/{window['uid']}/steps/", window["item"]["steps"]
    numbers = [step["number"] for step in window["rows"]]
    while "next" in window:
        window = client.get(address, {"from": window["next"]}).json()
        numbers += [step["number"] for step in window["rows"]]
    assert numbers == [1, 2, 3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("get", ""),
        ("get", "steps/"),
        ("get", "draft/"),
        ("put", "draft/"),
        ("get", "judgment/"),
        ("post", "judgment/"),
        ("post", "skip/"),
        ("post", "release/"),
        ("post", "renew/"),
    ],
)
def test_alices_assignment_does_not_exist_for_bob_her_lead_or_a_stranger(project, queue, alice, method, path):
    address = f"/api/v1/assignments/{claimed(by(alice), queue)['uid']}/{path}"
    body = {"version": 0, "data": {}, "reason": "conflict"}
    headers = {"Idempotency-Key": "k"}
    for other in (make.expert(project, "Bob"), make.lead_of(project), make.person("Charlie")):
        refused = getattr(by(other), method)(address, body, format="json", headers=headers)
        assert is_problem(refused, 404)["detail"] == "There is no such assignment, or it is not yours."
    is_problem(getattr(nobody(), method)(address, body, format="json", headers=headers), 401)


def put(client, uid, payload, *, revision=1, key="c1"):
    address = f"/api/v1/assignments/{uid}/judgment/?revision={revision}"
    return client.put(address, payload, format="json", headers={"Idempotency-Key": key})


def test_a_judgment_is_corrected_as_a_revision_and_two_machines_hear_of_each_other(queue, alice):
    client = by(alice)
    uid = claimed(client, queue)["uid"]
    submit(client, uid, make.passing())
    assert client.get(f"/api/v1/assignments/{uid}/").json()["item"], "it can be read again while it can be corrected"
    corrected = put(client, uid, make.passing(success=1))
    assert (corrected.status_code, corrected.json()["revision"]) == (201, 2)
    assert put(client, uid, make.passing(success=1)).status_code == 200
    refused = is_problem(put(client, uid, make.passing(success=0), key="other"), 409)
    assert refused["current"]["theirs"]["criteria"]["success"] == 1
    assert refused["current"]["yours"]["criteria"]["success"] == 0
    assert client.get(f"/api/v1/assignments/{uid}/judgment/").json()["criteria"]["success"] == 1


def test_a_correction_says_which_revision_it_corrects(queue, alice):
    client = by(alice)
    uid = claimed(client, queue)["uid"]
    is_problem(put(client, uid, make.passing()), 409)
    submit(client, uid, make.passing())
    address = f"/api/v1/assignments/{uid}/judgment/"
    for wrong in (address, f"{address}?revision=0", f"{address}?revision=one"):
        assert is_problem(client.put(wrong, make.passing(), format="json"), 422)["field"] == "revision"
