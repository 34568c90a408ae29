"""Every refusal is a problem document, and whatever a stranger sends, the answer is a refusal and never a crash."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from kombu.exceptions import OperationalError

from tests import factories as make
from tests.reviews.api.talking import by, is_problem, nobody

pytestmark = pytest.mark.django_db

LONE_SURROGATE = b'"\\ud800"'


@pytest.fixture
def lead(project):
    return by(make.lead_of(project))


def post(client, address, body, content_type="application/json", **headers):
    return client.generic("POST", address, body, content_type=content_type, headers=headers)


# --- Addresses, methods, media types ----------------------------------------------------------------------------------
@pytest.mark.parametrize("address", ["", "nothing/", "projects", "projects/x/y/z/", "queues/not-a-uuid/", "items/7/"])
@pytest.mark.parametrize("method", ["get", "post", "put", "patch", "delete", "head", "options"])
def test_what_is_no_address_is_a_problem_whatever_the_method(lead, address, method):
    response = getattr(lead, method)(f"/api/v1/{address}")
    if method == "head":
        assert response.status_code == 404
    else:
        assert "Addresses of the API end with a slash" in is_problem(response, 404)["detail"]


def test_another_method_is_405_and_says_which_there_are(lead, project):
    response = lead.delete(f"/api/v1/projects/{project.slug}/")
    is_problem(response, 405)
    assert "GET" in response["Allow"]


@pytest.mark.parametrize("content_type", ["text/plain", "application/xml", "application/x-www-form-urlencoded", "x"])
def test_another_media_type_is_415(lead, content_type):
    is_problem(post(lead, "/api/v1/projects/", b"name=x", content_type=content_type), 415)


@pytest.mark.parametrize("address", ["items/?project=a%00", "projects/%00/", "items/?%00=x"])
def test_a_nul_byte_in_the_address_is_400(lead, address):
    is_problem(lead.get(f"/api/v1/{address}"), 400)


def test_an_upload_larger_than_the_server_takes_is_413(lead, project, settings):
    settings.UPLOAD_MAX_BYTES = 1000
    is_problem(post(lead, f"/api/v1/projects/{project.slug}/imports/", b"x" * 2000, "multipart/form-data"), 413)


def test_an_answer_in_another_format_is_406(lead):
    is_problem(lead.get("/api/v1/projects/", headers={"Accept": "text/html"}), 406)


def test_without_a_token_401_and_how_to_sign_in():
    response = nobody().get("/api/v1/projects/")
    is_problem(response, 401)
    assert response["WWW-Authenticate"] == "Token"


@pytest.mark.parametrize("token", ["x", "assay_" + "0" * 64, "", "x y", "\u00e9"])
def test_a_wrong_token_is_401(token):
    client = nobody()
    client.credentials(HTTP_AUTHORIZATION=f"Token {token}")
    is_problem(client.get("/api/v1/projects/"), 401)


def test_a_person_who_was_switched_off_is_401(project):
    alice = make.expert(project, "Alice")
    client = by(alice)
    alice.is_active = False
    alice.save()
    is_problem(client.get("/api/v1/projects/"), 401)


def test_the_browsers_session_needs_its_csrf_token(project):
    client = nobody().__class__(enforce_csrf_checks=True)
    client.force_login(make.lead_of(project), backend="allauth.account.auth_backends.AuthenticationBackend")
    assert client.get("/api/v1/projects/").status_code == 200
    is_problem(client.post("/api/v1/projects/", {"name": "x"}, format="json"), 403)


# --- Bodies -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"",
        b"\xff\xfe{}",
        b"\x00",
        b'{"name": NaN}',
        b'{"name": Infinity}',
        b'{"name": "x", "name": "y"}',
        b'{"name": ' + b"[" * 200 + b"]" * 200 + b"}",
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b'{"name": ' + b"9" * 5000 + b"}",
        b"{} {}",
        b"'name'",
    ],
)
def test_a_body_that_cannot_be_read_is_refused(lead, body):
    response = post(lead, "/api/v1/projects/", body)
    assert response.status_code in (400, 422)
    is_problem(response, response.status_code)


@pytest.mark.parametrize(
    ("value", "field"),
    [
        (LONE_SURROGATE, "name"),
        (b'"a\\u0000b"', "name"),
        (b"123456789012345678901234567890", "name"),
        (b"1e999", "name"),
        (b"-1e999", "name"),
        (b"7", "name"),
        (b"true", "name"),
        (b"null", "name"),
        (b'["x"]', "name"),
        (b'{"x": 1}', "name"),
        (b'""', "name"),
        (b'"   "', "name"),
        (b'"' + b"x" * 121 + b'"', "name"),
    ],
)
def test_a_value_that_cannot_be_taken_is_named_by_its_field(lead, value, field):
    problem = is_problem(post(lead, "/api/v1/projects/", b'{"name": ' + value + b"}"), 422)
    assert problem["field"] == field
    assert problem["errors"][field]


def test_a_hostile_value_deep_inside_is_named_by_its_place(lead, project):
    body = b'{"name": "R", "criteria": [{"key": "a", "hint": ' + LONE_SURROGATE + b'}, {"title": "\\u0000"}]}'
    problem = is_problem(post(lead, f"/api/v1/projects/{project.slug}/rubrics/", body), 422)
    assert set(problem["errors"]) == {"criteria.0.hint", "criteria.1.title"}


def test_a_key_that_cannot_be_stored_is_refused(lead):
    is_problem(post(lead, "/api/v1/projects/", b'{"a\\u0000": 1}'), 422)
    is_problem(post(lead, "/api/v1/projects/", b'{"\\udfff": {"x": 1}}'), 422)


@pytest.mark.parametrize("body", [b"[]", b"null", b"7", b'"text"', b"[[]]", b"true"])
def test_a_body_that_is_no_object_is_refused_everywhere(lead, project, body):
    queue = make.queue(project, items=1)
    for address in (
        "projects/",
        f"projects/{project.slug}/rubrics/",
        f"projects/{project.slug}/guidelines/",
        f"projects/{project.slug}/queues/",
        f"projects/{project.slug}/invitations/",
        f"queues/{queue.uid}/items/",
        "adjudications/",
        "gold/",
        "datasets/",
    ):
        is_problem(post(lead, f"/api/v1/{address}", body), 422)


def test_a_body_larger_than_the_server_takes_is_413(lead, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    is_problem(post(lead, "/api/v1/projects/", b'{"name": "' + b"x" * 2000 + b'"}'), 413)


@pytest.mark.parametrize(
    "data",
    [
        b'{"rationale": "\\u0000"}',
        b'{"rationale": ' + LONE_SURROGATE + b"}",
        b'{"n": 1e400}',
        b'{"n": 99999999999999999999}',
        b'{"\\u0000": 1}',
        b'{"deep": ' + b"[" * 80 + b"]" * 80 + b"}",
        b"[]",
        b"7",
        b"null",
    ],
)
def test_a_draft_that_the_database_could_not_hold_is_refused(project, data):
    queue = make.queue(project, items=1)
    alice = by(make.expert(project, "Alice"))
    uid = alice.post(f"/api/v1/queues/{queue.uid}/claim/").json()["uid"]
    body = b'{"version": 0, "data": ' + data + b"}"
    response = alice.generic("PUT", f"/api/v1/assignments/{uid}/draft/", body, content_type="application/json")
    assert response.status_code in (400, 422), response.content
    is_problem(response, response.status_code)
    assert alice.get(f"/api/v1/assignments/{uid}/draft/").json()["version"] == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"gates": []},
        {"gates": {"authorised": 1, "consent": None}},
        {"gates": {"authorised": ["pass"], "consent": {"x": 1}}},
        {"criteria": {"success": "3", "process": True}},
        {"criteria": {"success": 2**40, "process": -1}},
        {"failure": 7},
        {"failure": {"step": 2**60, "who": [], "cause": {}}},
        {"failure": {"step": "1", "who": "agent", "cause": "other", "note": 7}},
        {"evidence": {}},
        {"evidence": [7, None, "x", []]},
        {"evidence": [{"criterion": 7, "step": 1}]},
        {"evidence": [{"criterion": "authorised", "policy_line": "1"}]},
        {
            "evidence": [
                {"criterion": "authorised", "step": 1, "field": "text", "start": -1, "end": 2**50, "quote": "x"}
            ]
        },
        {"evidence": [{"step": 1, "field": "text", "start": 0, "end": 2, "quote": "no"}] * 101},
        {"rationale": 7},
        {"rationale": "x" * 20_001},
        {"confidence": "3"},
        {"confidence": True},
        {"confidence": 4},
        {"weights": {"authorised": 1}},
    ],
)
def test_a_judgment_of_wrong_types_is_refused_with_its_field(project, changes):
    queue = make.queue(project, items=1)
    alice = by(make.expert(project, "Alice"))
    uid = alice.post(f"/api/v1/queues/{queue.uid}/claim/").json()["uid"]
    body = json.dumps({**make.passing(), **changes}).encode()
    problem = is_problem(post(alice, f"/api/v1/assignments/{uid}/judgment/", body, **{"Idempotency-Key": "k"}), 422)
    assert problem["field"].split(".")[0] == next(iter(changes))


@pytest.mark.parametrize("key", ["", "x" * 81])
def test_a_key_that_is_none_is_refused(project, key):
    queue = make.queue(project, items=1)
    alice = by(make.expert(project, "Alice"))
    uid = alice.post(f"/api/v1/queues/{queue.uid}/claim/").json()["uid"]
    body = json.dumps(make.passing()).encode()
    response = post(alice, f"/api/v1/assignments/{uid}/judgment/", body, **{"Idempotency-Key": key})
    assert is_problem(response, 422)["field"] == "idempotency_key"


# --- Decisions --------------------------------------------------------------------------------------------------------
@pytest.fixture
def waiting(project):
    """An item on which Alice and Bob differ."""
    queue = make.queue(project, items=1, overlap=2)
    for name, level in (("Alice", 3), ("Bob", 1)):
        client = by(make.expert(project, name))
        uid = client.post(f"/api/v1/queues/{queue.uid}/claim/").json()["uid"]
        body = json.dumps(make.passing(success=level)).encode()
        post(client, f"/api/v1/assignments/{uid}/judgment/", body, **{"Idempotency-Key": "k"})
    return queue.queue_items.get()


def test_a_lead_sees_what_differs_under_letters_and_decides(lead, waiting):
    address = f"/api/v1/queues/{waiting.queue.uid}/disagreements/"
    response = lead.get(address)
    (row,) = response.json()["results"]
    assert row["differing"] == ["success"]
    assert sorted(said["criteria"]["success"] for said in row["judgments"]) == [1, 3]
    assert [said["rater"] for said in row["judgments"]] == ["A", "B"]
    for hidden in ("Alice", "Bob", "submitted_at", "secret-model-9", "reward"):
        assert hidden not in response.content.decode()
    decision = {
        "queue_item": row["uid"],
        "gates": {"authorised": "pass", "consent": "pass"},
        "criteria": {"success": 3, "process": 2},
        "note": "All was done.",
    }
    refused = lead.post("/api/v1/adjudications/", decision, format="json")
    assert is_problem(refused, 422)["field"] == "reasons.success"
    label = lead.post("/api/v1/adjudications/", {**decision, "reasons": {"success": "rater_error"}}, format="json")
    assert label.status_code == 201
    assert label.json()["basis"] == "adjudicated"
    assert label.json()["values"][2] == {
        "criterion": "success",
        "value": 3,
        "name": "Strong",
        "basis": "adjudicated",
        "reason": "rater_error",
    }
    assert label.json()["stands"] is True
    assert lead.get(address).json()["results"] == []
    ask = {"project": waiting.queue.project.slug}
    assert lead.get("/api/v1/labels/", ask).json()["results"] == [label.json()]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"queue_item": "x"},
        {"queue_item": None},
        {"queue_item": ["x"]},
    ],
)
def test_a_decision_without_an_item_is_refused(lead, body):
    refused = lead.post("/api/v1/adjudications/", body, format="json")
    assert is_problem(refused, 422)["field"] == "queue_item"


@pytest.mark.parametrize(
    "changes",
    [
        {"gates": "pass"},
        {"gates": {"authorised": "unsure", "consent": "pass"}},
        {"criteria": {"success": 9, "process": 2}},
        {"reasons": ["rater_error"]},
        {"reasons": {"success": ["rater_error"]}},
        {"reasons": {"success": {"a": 1}}},
        {"notes": 7},
        {"notes": {"success": 7}},
        {"note": {"x": 1}},
        {"basis": "unanimous"},
    ],
)
def test_a_decision_of_wrong_types_is_refused_with_its_field(lead, waiting, changes):
    decision = {
        "queue_item": str(waiting.uid),
        "gates": {"authorised": "pass", "consent": "pass"},
        "criteria": {"success": 3, "process": 2},
        "reasons": {"success": "rater_error"},
    }
    problem = is_problem(lead.post("/api/v1/adjudications/", {**decision, **changes}, format="json"), 422)
    assert problem["field"].split(".")[0] == next(iter(changes))


def test_a_body_without_a_length_is_411(lead):
    is_problem(post(lead, "/api/v1/projects/", b"", **{"Transfer-Encoding": "chunked"}), 411)


def test_work_that_cannot_be_queued_is_said(lead, project, monkeypatch):
    def away(*_args):
        raise OperationalError("Connection refused")

    monkeypatch.setattr("reviews.api.imports.run_import.delay", away)
    file = SimpleUploadedFile("runs.jsonl", b"{}")
    is_problem(lead.post(f"/api/v1/projects/{project.slug}/imports/", {"file": file}, format="multipart"), 503)


def test_a_server_error_is_a_problem_too(lead, monkeypatch):
    def broken(*_args, **_kwargs):
        raise RuntimeError("secret detail")

    monkeypatch.setattr("reviews.api.projects.projects_with_role", broken)
    response = lead.get("/api/v1/projects/")
    assert "secret" not in response.content.decode()
    is_problem(response, 500)
