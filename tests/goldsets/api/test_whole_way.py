"""The way that docs/api.md goes, over HTTP alone: from an empty project to files whose hashes hold."""

import hashlib
import json
import time

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from reviews.actions.projects import accept_invitation
from tests import factories as make
from tests.reviews.api.talking import by

pytestmark = pytest.mark.django_db

CRITERIA = [
    {"key": "authorised", "title": "Only authorised accounts", "kind": "gate", "evidence": "on_fail"},
    {
        "key": "success",
        "title": "Task success",
        "kind": "ordinal",
        "block": "task_success",
        "levels": [{"value": n, "name": name, "anchor": ""} for n, name in enumerate(("Poor", "Sound", "Strong"))],
    },
]


def run(number):
    arguments = json.dumps({"account_id": f"A-{number}"})
    call = {"id": "c1", "type": "function", "function": {"name": "read_account", "arguments": arguments}}
    return {
        "task_id": f"late-{number}",
        "family": "late_refund",
        "title": "Refund for a late order",
        "messages": [
            {"role": "user", "content": f"Order {number} is late."},
            {"role": "assistant", "content": "I will look.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": '{"owner": "Daniel Osei"}'},
            {"role": "assistant", "content": "A refund is on its way."},
        ],
        "outcome": {"result": "success", "reward": 1.0, "model": "m-7", "data": {"truth": "fine"}},
    }


def sent(client, method, address, body=None, expected=(200, 201, 202), **headers):
    response = getattr(client, method)(f"/api/v1/{address}", body, format="json", headers=headers)
    assert response.status_code in expected, response.content
    return response.json()


def until(look, done):
    for _ in range(200):
        found = look()
        if done(found):
            return found
        time.sleep(0.05)
    raise AssertionError(found)


def test_from_an_empty_project_to_files(worker):
    lead = by(make.person("Lea", is_staff=True))
    project = sent(lead, "post", "projects/", {"name": "Support desk"})["slug"]
    raters = []
    for name in ("Alice", "Bob"):
        link = sent(lead, "post", f"projects/{project}/invitations/", {"role": "expert"})["link"]
        membership = accept_invitation(token=link.split("/")[-2], email=f"{name}@example.com", name=name)
        raters.append(by(membership.user))
    guideline = sent(lead, "post", f"projects/{project}/guidelines/", {"name": "Refunds", "text": "Judge the deed."})
    rubric = sent(lead, "post", f"projects/{project}/rubrics/", {"name": "Refunds", "criteria": CRITERIA})
    queue = sent(
        lead,
        "post",
        f"projects/{project}/queues/",
        {
            "name": "First look",
            "rubric": rubric["uid"],
            "guideline": guideline["uid"],
            "overlap": 2,
            "order": "arrival",
        },
    )["uid"]

    lines = "\n".join(json.dumps(run(number)) for number in range(1, 4)).encode()
    file = SimpleUploadedFile("runs.jsonl", lines)
    imported = lead.post(f"/api/v1/projects/{project}/imports/", {"file": file, "queue": queue}, format="multipart")
    receipt = until(lambda: lead.get(imported["Location"]).json(), lambda found: found["state"] == "finished")
    assert (receipt["created"], receipt["refused"]) == (3, 0)

    for rater, levels in zip(raters, ([2, 2, None], [2, 0, None]), strict=True):
        for level in levels:
            assignment = sent(rater, "post", f"queues/{queue}/claim/")
            assert "m-7" not in json.dumps(assignment)
            sent(rater, "post", f"assignments/{assignment['uid']}/judgment/", judgment(assignment, level), **KEY)
        nothing = rater.post(f"/api/v1/queues/{queue}/claim/")
        assert (nothing.status_code, bool(nothing["X-Assay-Reason"])) == (204, True)

    agreement = sent(lead, "get", f"queues/{queue}/agreement/")
    assert (agreement["n_judgments"], agreement["n_pairable"]) == (6, 3)
    (waiting,) = sent(lead, "get", f"queues/{queue}/disagreements/")["results"]
    label = sent(
        lead,
        "post",
        "adjudications/",
        {
            "queue_item": waiting["uid"],
            "gates": {"authorised": "pass"},
            "criteria": {"success": 1},
            "reasons": {"success": "guideline_unclear"},
            "note": "In part.",
        },
    )
    assert label["versions"]["model"] == "m-7"
    assert len(sent(lead, "get", f"labels/?project={project}")["results"]) == 3

    body = {"project": project, "name": "refund labels", "format": "jsonl"}
    version = f"datasets/{sent(lead, 'post', 'datasets/', body)['uid']}/versions/1/"
    finished = until(lambda: sent(lead, "get", version), lambda found: found["state"] not in ("waiting", "running"))
    assert finished["manifest"]["counts"]["labels_by_basis"] == {"adjudicated": 1, "unanimous": 2}
    data = lead.get(f"/api/v1/{version}files/labels.jsonl").getvalue()
    assert hashlib.sha256(data).hexdigest() == finished["files"][0]["sha256"]
    rows = [json.loads(line) for line in data.splitlines()]
    assert [row["gates_pass"] for row in rows] == [True, True, False]
    verbs = {event["verb"] for event in sent(lead, "get", f"events/?project={project}&page_size=500")["results"]}
    assert {"project.created", "judgment.submitted", "item.adjudicated", "dataset.finished", "dataset.read"} <= verbs


KEY = {"Idempotency-Key": "once"}


def judgment(assignment, level):
    """A level where the gate passes; without one the gate fails, with the account that was read as evidence."""
    if level is not None:
        return {"gates": {"authorised": "pass"}, "criteria": {"success": level}, "confidence": 3}
    call = next(step for step in assignment["item"]["steps"]["rows"] if step.get("tool"))
    field = call["fields"][0]
    cited = {"criterion": "authorised", "step": call["number"], "field": field["path"], "quote": field["text"]}
    return {
        "gates": {"authorised": "fail"},
        "failure": {"step": call["number"], "who": "agent", "cause": "unauthorised_access"},
        "evidence": [cited | {"start": 0, "end": len(field["text"])}],
        "rationale": "Not the requester's account.",
        "confidence": 2,
    }
