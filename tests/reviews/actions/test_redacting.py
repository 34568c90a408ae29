"""What a project redacts: from the file to the steps, the receipt, and the original that only admins open."""

import json

import pytest

from reviews.actions.importing import receipt_of, run_import, start_import
from reviews.actions.originals import read_original
from reviews.actions.redacting import set_redaction
from reviews.errors import Forbidden, Invalid
from reviews.models import ContextDocument, Event, Item, Outcome, Redaction, Step, Task
from tests import factories as make

pytestmark = pytest.mark.django_db

ROW = {
    "title": "For alice@example.com",
    "messages": [
        {"role": "user", "content": "I am alice@example.com, order ORD-12."},
        {"role": "assistant", "content": "Sent to alice@example.com."},
    ],
    "context": {"request": "I am alice@example.com"},
    "outcome": {"result": "success", "data": {"to": "alice@example.com"}},
}
OWN = [{"name": "order", "pattern": r"ORD-\d+"}]


def bring(actor, project, tmp_path, row=ROW, **options):
    file = tmp_path / "runs.jsonl"
    file.write_text(json.dumps(row) + "\n")
    job = start_import(actor=actor, project=project, name="runs.jsonl", path=file, **options)
    return run_import(job_id=job.pk)


def member(project, role):
    user = make.person("Eve")
    make.member(project, user, role)
    return user


def test_nothing_that_is_read_holds_the_address_and_the_receipt_counts_it(project, lead, tmp_path):
    set_redaction(actor=lead, project=project, kinds=["e-mail"], own=OWN)
    job = bring(lead, project, tmp_path, policy="Ask desk@example.com.")
    texts = [*Step.objects.values_list("body", flat=True), *ContextDocument.objects.values_list("text", flat=True)]
    texts += [json.dumps([task.title, task.context]) for task in Task.objects.all()]
    texts += [json.dumps(outcome.data) for outcome in Outcome.objects.all()]
    assert "@example.com" not in "".join(texts)
    assert "⟦e-mail 1⟧, order ⟦order 1⟧." in texts[0]
    counts = Item.objects.get().trajectory.redactions
    assert counts["order"] == 1
    assert counts["e-mail"] >= 4
    assert receipt_of(job)["redactions"] == counts


@pytest.mark.parametrize("role", ["expert", "lead", "engineer"])
def test_the_original_of_a_redacted_run_opens_to_nobody_but_admins(project, lead, tmp_path, role):
    set_redaction(actor=lead, project=project, kinds=["e-mail"])
    bring(lead, project, tmp_path)
    item = Item.objects.get()
    with pytest.raises(Forbidden, match="Only admins"):
        read_original(actor=member(project, role), uid=item.uid)
    assert not Event.objects.filter(verb="original.read").exists()


def test_an_admin_reads_it_and_that_is_an_event(project, lead, tmp_path):
    set_redaction(actor=lead, project=project, kinds=["card"])
    bring(lead, project, tmp_path)
    admin = member(project, "admin")
    item = Item.objects.get()
    assert json.loads(read_original(actor=admin, uid=item.uid)[1]) == ROW
    assert Event.objects.filter(verb="original.read", actor=admin, target_id=item.pk).count() == 1


def test_it_stays_closed_when_the_project_redacts_no_more(project, lead, tmp_path):
    set_redaction(actor=lead, project=project, kinds=["e-mail"])
    bring(lead, project, tmp_path)
    set_redaction(actor=lead, project=project, kinds=[])
    with pytest.raises(Forbidden, match="Only admins"):
        read_original(actor=member(project, "engineer"), uid=Item.objects.get().uid)


def test_runs_that_were_in_before_stay_as_they_are_and_are_known_again(project, lead, tmp_path):
    bring(lead, project, tmp_path)
    set_redaction(actor=lead, project=project, kinds=["e-mail"])
    assert bring(lead, project, tmp_path).already_there == 1
    assert Item.objects.get().trajectory.redactions is None
    assert json.loads(read_original(actor=member(project, "engineer"), uid=Item.objects.get().uid)[1]) == ROW


def test_hostile_text_goes_in_redacted_as_well(project, lead, tmp_path):
    set_redaction(actor=lead, project=project, kinds=["e-mail", "phone", "card", "key"], own=OWN, region="US")
    evil = "<script>alert(1)</script>\u202e\x00\ud800😀 ORD-1 alice@example.com 4111111111111111"
    call = {"id": "c", "type": "function", "function": {"name": evil, "arguments": json.dumps({evil: evil})}}
    messages = [{"role": "user", "content": evil}, {"role": "assistant", "content": evil, "tool_calls": [call]}]
    job = bring(lead, project, tmp_path, {"messages": messages, "title": evil, "metadata": {evil: [evil]}})
    assert (job.created, job.refused) == (1, 0)
    assert "alice@" not in "".join(Step.objects.values_list("body", flat=True))


def test_the_event_names_the_expressions_and_not_what_they_are(project, lead):
    set_redaction(actor=lead, project=project, kinds=["key", "e-mail"], own=OWN, region="US")
    set_redaction(actor=lead, project=project, kinds=["key", "e-mail"], own=OWN, region="US")
    assert Redaction.objects.get().kinds == ["e-mail", "key"]
    event = Event.objects.filter(verb="redaction.changed").first()
    assert event.data == {"kinds": ["e-mail", "key"], "own": ["order"], "region": "US"}


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"kinds": ["face"]}, "kinds"),
        ({"kinds": "e-mail"}, "kinds"),
        ({"kinds": [["e-mail"]]}, "kinds"),
        ({"region": "Utopia"}, "region"),
        ({"own": [{"name": "twice", "pattern": r"(.)\1"}]}, "own"),
        ({"own": [{"name": "nothing", "pattern": "x*"}]}, "own"),
        ({"own": [{"name": "", "pattern": "x"}]}, "own"),
        ({"own": [{"name": "⟦x", "pattern": "x"}]}, "own"),
        ({"own": [{"name": "e-mail", "pattern": "x"}]}, "own"),
        ({"own": OWN * 2}, "own"),
        ({"own": [{"name": "x"}]}, "own"),
        ({"own": [{"name": "x", "pattern": 3}]}, "own"),
        ({"own": [{"name": f"n{n}", "pattern": "x"} for n in range(51)]}, "own"),
        ({"own": "x"}, "own"),
    ],
)
def test_what_cannot_be_used_is_refused_by_its_field(project, lead, given, field):
    with pytest.raises(Invalid) as refused:
        set_redaction(actor=lead, project=project, **{"kinds": [], **given})
    assert set(refused.value.errors) == {field}
    assert not Redaction.objects.exists()


def test_leads_and_admins_decide_and_others_do_not(project, lead):
    set_redaction(actor=member(project, "admin"), project=project, kinds=["e-mail"])
    for role in ("expert", "engineer"):
        with pytest.raises(Forbidden, match="Only leads and admins"):
            set_redaction(actor=member(project, role), project=project, kinds=[])
