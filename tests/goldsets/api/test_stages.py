"""A reviewer at work in a queue over the API: begun, read, let decide, taken out; told of settled items alone."""

import uuid

import pytest

from goldsets.actions.staging import run_stage
from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from tests import factories as make
from tests.factories import stages
from tests.factories.stages import OTHER, REFUND
from tests.reviews.api.talking import by

pytestmark = pytest.mark.django_db


@pytest.fixture
def queue():
    return stages.keeping_queue(make.project())


@pytest.fixture
def lead(queue):
    return by(make.lead_of(queue.project))


def settle(queue, count, said=True):
    alice = make.expert(queue.project)
    for _ in range(count):
        mine = claim(actor=alice, queue=queue)
        submit(actor=alice, uid=mine.uid, payload={"criteria": {"keep": said}, "confidence": 3}, idempotency_key="k")


def test_from_shadow_to_deciding_and_out_again(queue, lead):
    reviewer = stages.signed(queue)
    at = f"/api/v1/queues/{queue.uid}/stages/"
    begun = lead.post(at, {"reviewer": str(reviewer.uid), "audit_share": 0.25, "work": "requeue"}, format="json")
    assert begun.status_code == 201
    told = begun.json()
    assert (told["state"], told["audit_share"], told["work"], told["takes"]) == ("shadow", 0.25, "requeue", [])
    assert "secret" not in begun.content.decode()
    assert lead.post(at, {"reviewer": str(reviewer.uid)}, format="json").status_code == 409
    here = f"/api/v1/stages/{told['uid']}/"
    stages.more(queue, *[REFUND] * 13, OTHER)
    stage = queue.stages.get()
    run_stage(stage_id=stage.pk)
    assert lead.get(f"{here}verdicts/").json()["results"] == []
    refused = lead.post(f"{here}decide/")
    assert (refused.status_code, "13 more without an error" in refused.json()["detail"]) == (409, True)
    settle(queue, 13)
    verdicts = lead.get(f"{here}verdicts/").json()["results"]
    assert len(verdicts) == 13
    assert {(one["verdict"], one["outcome"], one["basis"]) for one in verdicts} == {(1, "watched", "unanimous")}
    live = lead.get(here).json()
    passes = live["kinds"][0]
    assert (passes["holds"], passes["agreement"]["value"], passes["agreement"]["n_units"]) == (True, 1.0, 13)
    assert live["counts"] == {"watched": 14, "deferred": 0, "taken": 0, "audited": 0}
    assert lead.post(f"{here}decide/").json()["takes"] == [1]
    assert lead.patch(here, {"audit_share": 0.5}, format="json").json()["audit_share"] == 0.5
    ended = lead.post(f"{here}roll-back/", {"why": "Experts complain."}, format="json").json()
    assert (ended["state"], ended["why"]) == ("rolled_back", "Experts complain.")
    assert [one["state"] for one in lead.get(at).json()["results"]] == ["rolled_back"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "reviewer"),
        ({"reviewer": str(uuid.UUID(int=1))}, "reviewer"),
        ({"reviewer": "{signed}", "audit_share": 0}, "audit_share"),
        ({"reviewer": "{signed}", "audit_share": True}, "audit_share"),
        ({"reviewer": "{signed}", "work": "burn"}, "work"),
    ],
)
def test_what_is_wrong_is_named_at_its_field(queue, lead, body, field):
    signed = str(stages.signed(queue).uid)
    sent = {name: signed if value == "{signed}" else value for name, value in body.items()}
    refused = lead.post(f"/api/v1/queues/{queue.uid}/stages/", sent, format="json")
    assert refused.status_code == 422
    assert field in refused.json()["errors"]
    assert not queue.stages.exists()


def test_it_is_retired_with_a_reason_and_for_leads_alone(queue, lead):
    stage = stages.shadow(queue)
    here = f"/api/v1/stages/{stage.uid}/"
    assert lead.post(f"{here}retire/", {"why": ""}, format="json").status_code == 422
    for who in (make.expert(queue.project), stage.reviewer.created_by):
        assert by(who).get(here).status_code == 403
        assert by(who).get(f"{here}verdicts/").status_code == 403
    assert by(make.person("Sam")).get(here).status_code == 404
    assert lead.post(f"{here}retire/", {"why": "Another will do."}, format="json").json()["state"] == "retired"
