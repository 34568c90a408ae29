"""The pages of what happens on arrival: a file looked at before it is imported, rules, and redaction."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from reviews.actions.importing import run_import
from reviews.actions.redacting import set_redaction
from reviews.actions.routing import create_rule
from reviews.arrival import read_conditions
from reviews.enums import ImportState, Role
from reviews.models import ArrivalRule, ImportJob, Item, QueueItem, Redaction
from tests import factories as make
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db

LONG = "A long line of a long letter.\n" * 400
RUN = {
    "messages": [
        {"role": "user", "content": "I am alice@example.com"},
        {"role": "tool", "tool_call_id": "x", "content": LONG},
    ],
    "outcome": {"result": "failure", "reward": 0.0, "model": "secret-model-7"},
}


@pytest.fixture
def lead(project):
    return enter(make.lead_of(project))


@pytest.fixture
def engineer(project):
    user = make.person("Enno")
    make.member(project, user, Role.ENGINEER)
    return enter(user)


def place(name, project, *more):
    return reverse(f"reviews:{name}", args=[project.slug, *more])


def look_at(client, project, content=None, **fields):
    data = content if content is not None else json.dumps(RUN).encode() + b"\n{broken\n"
    file = SimpleUploadedFile("runs.jsonl", data)
    return client.post(place("imports", project), {"file": file, "format": "auto", "preview": "1", **fields})


# --- A look before the import -----------------------------------------------------------------------------------------
def test_a_file_is_looked_at_and_then_imported_in_two_plain_steps(project, lead):
    queue = make.queue(project, items=0)
    answer = look_at(lead, project, queue=queue.pk, policy="Be quick.")
    assert answer.status_code == 302
    page = lead.get(answer.url).content.decode()
    assert "OpenAI chat" in page
    assert "I am alice@example.com" in page
    assert "line 2" in page
    assert "Nothing is imported yet." in page
    assert not Item.objects.exists()
    job = ImportJob.objects.get()
    confirmed = lead.post(place("import_confirm", project, job.uid))
    assert confirmed.url == answer.url
    run_import(job_id=job.pk)
    assert queue.queue_items.count() == 1
    assert "created" in lead.get(answer.url).content.decode()
    again = lead.post(place("import_confirm", project, job.uid), follow=True).content.decode()
    assert "past its preview" in again


def test_a_lead_is_not_shown_how_the_first_run_ended_and_an_engineer_is(project, lead, engineer):
    where = look_at(lead, project).url
    assert "secret-model-7" not in lead.get(where).content.decode()
    assert "secret-model-7" in engineer.get(where).content.decode()


def test_long_output_of_the_first_run_unfolds(project, lead):
    where = look_at(lead, project).url
    page = lead.get(where).content.decode()
    assert "Show more of" in page
    more = f"{where}steps/2/field/?path=result&from=1000"
    assert "A long line" in lead.get(more, HTTP_HX_REQUEST="true").content.decode()
    assert lead.get(more).status_code == 200
    assert lead.get(f"{where}steps/9/field/?path=result").status_code == 404
    assert lead.get(f"{where}steps/2/field/?path=nothing").status_code == 404


def test_a_file_that_is_none_says_why_and_offers_no_import(project, lead):
    where = look_at(lead, project, b"nothing here").url
    page = lead.get(where).content.decode()
    assert "could be read as a run" in page
    assert place("import_confirm", project, ImportJob.objects.get().uid) not in page


def test_a_file_that_is_not_wanted_is_let_go(project, lead):
    where = look_at(lead, project).url
    job = ImportJob.objects.get()
    lead.post(place("import_cancel", project, job.uid))
    job.refresh_from_db()
    assert job.state == ImportState.CANCELLED
    assert lead.get(where).status_code == 200


def test_the_form_that_was_wrong_stays_filled(project, lead):
    answer = look_at(lead, project, family="x" * 101)
    assert answer.status_code == 422
    assert not ImportJob.objects.exists()


def test_others_see_no_preview(project, lead):
    where = look_at(lead, project).url
    job = ImportJob.objects.get()
    alice, sam = enter(make.expert(project, "Alice")), enter(make.person("Sam"))
    assert look_at(alice, project).status_code == 403
    assert alice.get(where).status_code == 403
    assert alice.post(place("import_confirm", project, job.uid)).status_code == 403
    assert sam.get(where).status_code == 404
    assert lead.get(place("import_confirm", project, job.uid)).status_code == 405


def test_the_receipt_counts_what_was_replaced(project, lead):
    set_redaction(actor=make.lead_of(project), project=project, kinds=["e-mail"])
    where = look_at(lead, project).url
    assert "⟦e-mail 1⟧" in lead.get(where).content.decode()
    job = ImportJob.objects.get()
    lead.post(place("import_confirm", project, job.uid))
    run_import(job_id=job.pk)
    assert "Replaced in new runs: e-mail" in lead.get(where).content.decode()


# --- Rules ------------------------------------------------------------------------------------------------------------
def rule_form(queue, **fields):
    given = {"name": "Failures", "queue": queue.pk, "conditions": "outcome.result in failure, crash\nstep_count > 1"}
    return {**given, "percent": "50", "priority": "7", "position": "", **fields}


def test_a_rule_is_tried_made_changed_and_removed(project, lead):
    queue = make.queue(project, items=[make.item(project, result="failure"), make.item(project)])
    tried = lead.post(place("rules", project), rule_form(queue, percent="100", **{"try": "1"}))
    assert "would have taken 1 of the latest 2 items" in tried.content.decode()
    assert not ArrivalRule.objects.exists()
    made = lead.post(place("rules", project), rule_form(queue), follow=True).content.decode()
    assert "Failures holds for what comes in from now on." in made
    assert "outcome.result in failure, crash" in made
    rule = ArrivalRule.objects.get()
    assert (rule.share, rule.priority, len(rule.conditions)) == (0.5, 7, 2)
    one = place("rule", project, rule.uid)
    assert "step_count &gt; 1" in lead.get(one).content.decode()
    assert lead.post(one, rule_form(queue, percent="5", position="3", conditions="")).status_code == 302
    rule.refresh_from_db()
    assert (rule.share, rule.position, rule.conditions) == (0.05, 3, [])
    gone = lead.post(place("rule_remove", project, rule.uid), follow=True).content.decode()
    assert "Failures is removed." in gone
    assert lead.get(one).status_code == 404


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"conditions": "family"}, "conditions"),
        ({"conditions": "gender = x"}, "conditions"),
        ({"percent": "0"}, "percent"),
        ({"priority": "10"}, "priority"),
        ({"name": ""}, "name"),
        ({"queue": "0"}, "queue"),
    ],
)
def test_a_rule_with_a_mistake_is_refused_at_its_field(project, lead, fields, field):
    answer = lead.post(place("rules", project), {**rule_form(make.queue(project, items=0)), **fields})
    assert answer.status_code == 422
    assert field in answer.context["form"].errors
    assert not ArrivalRule.objects.exists()


def test_a_name_in_use_is_refused(project, lead):
    queue = make.queue(project, items=0)
    lead.post(place("rules", project), rule_form(queue))
    assert lead.post(place("rules", project), rule_form(queue)).status_code == 422


def test_only_leads_come_to_the_rules(project, lead, engineer):
    rule = create_rule(actor=make.lead_of(project), project=project, name="All", queue=make.queue(project, items=0))
    for client in (engineer, enter(make.expert(project, "Alice"))):
        assert client.get(place("rules", project)).status_code == 403
        assert client.post(place("rule_remove", project, rule.uid)).status_code == 403
    assert enter(make.person("Sam")).get(place("rules", project)).status_code == 404
    other = make.project()
    assert enter(make.lead_of(other)).get(place("rule", other, rule.uid)).status_code == 404


def test_the_items_page_names_the_rule_to_whoever_may_know_the_outcome(project, lead, engineer, tmp_path):
    queue = make.queue(project, items=0)
    create_rule(
        actor=make.lead_of(project),
        project=project,
        name="Broken ones",
        queue=queue,
        conditions=read_conditions("outcome.result = failure"),
    )
    look_at(engineer, project)
    job = ImportJob.objects.get()
    engineer.post(place("import_confirm", project, job.uid))
    run_import(job_id=job.pk)
    item = place("item", project, QueueItem.objects.get().item.uid)
    assert "brought by Broken ones" in engineer.get(item).content.decode()
    assert "Broken ones" not in lead.get(item).content.decode()


# --- Redaction --------------------------------------------------------------------------------------------------------
def test_redaction_is_said_on_its_page(project, lead):
    where = place("redaction", project)
    fields = {"kinds": ["e-mail", "card"], "region": "us", "own": "order: ORD-[0-9]+\n\nname: a:b"}
    assert lead.post(where, fields).status_code == 302
    redaction = Redaction.objects.get()
    assert (redaction.kinds, redaction.region) == (["e-mail", "card"], "US")
    assert redaction.own == [{"name": "order", "pattern": "ORD-[0-9]+"}, {"name": "name", "pattern": "a:b"}]
    assert "order: ORD-[0-9]+" in lead.get(where).content.decode()


@pytest.mark.parametrize("own", ["no colon", r"twice: (.)\1", ": x", "e-mail: x"])
def test_an_expression_with_a_mistake_is_refused(project, lead, own):
    answer = lead.post(place("redaction", project), {"own": own})
    assert answer.status_code == 422
    assert answer.context["form"].errors["own"]
    assert not Redaction.objects.exists()


def test_admins_come_to_redaction_and_open_originals_of_redacted_runs(project, lead, engineer):
    admin = make.person("Ada")
    make.member(project, admin, Role.ADMIN)
    admin = enter(admin)
    assert admin.post(place("redaction", project), {"kinds": ["e-mail"]}).status_code == 302
    assert "Redaction" in admin.get(place("redaction", project)).content.decode()
    look_at(engineer, project)
    job = ImportJob.objects.get()
    engineer.post(place("import_confirm", project, job.uid))
    run_import(job_id=job.pk)
    uid = Item.objects.get().uid
    assert "kept for" in engineer.get(place("item", project, uid)).content.decode()
    assert engineer.get(place("original", project, uid)).status_code == 403
    answer = admin.get(place("original", project, uid))
    assert answer.status_code == 200
    assert json.loads(b"".join(answer)) == RUN


def test_raters_and_engineers_do_not_come_to_redaction(project, engineer):
    assert engineer.get(place("redaction", project)).status_code == 403
    assert enter(make.expert(project, "Alice")).get(place("redaction", project)).status_code == 403
