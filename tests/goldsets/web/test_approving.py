"""Who is to approve gold finds that it waits, and reads the run and what is expected of it before they say."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from goldsets.actions.gold import add_key, approve_gold, decline_gold, propose_gold, start_gold
from goldsets.enums import KeySource, KeyState
from reviews.enums import Role
from reviews.models import QueueItem
from reviews.task_review import task_review
from tests import factories as make
from tests.factories import tasks
from tests.factories.furnished import desk
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db

WAITS = "1 gold proposal waits for a second person."


@pytest.fixture
def made():
    return desk()


@pytest.fixture
def key(made):
    """What the only lead proposes."""
    return propose_gold(actor=made.lead, queue_item=made.settled[3], note="Nobody should miss this.")


def place(key, name="gold_proposal", **more):
    return reverse(f"goldsets:{name}", kwargs={"uid": key.gold_item.queue.uid, "key_uid": key.uid, **more})


def first_pages(made, person):
    client = enter(person)
    project = reverse("reviews:project", args=[made.project.slug])
    return [client.get(reverse("reviews:home")).content.decode(), client.get(project).content.decode()]


def test_the_admin_of_a_project_with_one_lead_finds_what_waits_on_their_first_pages(made, key):
    home, project = first_pages(made, make.second_of(made.project))
    proposals = reverse("goldsets:gold_proposals", args=[made.queue.uid])
    assert "1 gold proposal to approve" in home
    assert WAITS in project
    assert proposals in home
    assert proposals in project


def test_who_proposed_it_and_who_may_not_approve_read_nothing_of_it(made, key):
    for person in (made.lead, made.engineer):
        home, project = first_pages(made, person)
        assert "gold proposal" not in home
        assert WAITS not in project


def test_the_first_page_costs_the_same_for_many_projects_as_for_one(made, key, django_assert_num_queries):
    admin = make.second_of(made.project)
    client = enter(admin)
    with CaptureQueriesContext(connection) as one:
        client.get(reverse("reviews:home"))
    for _ in range(3):
        make.member(make.project(), admin, Role.ADMIN)
    with django_assert_num_queries(len(one)):
        assert "1 gold proposal to approve" in client.get(reverse("reviews:home")).content.decode()


def test_with_a_second_lead_they_find_it_and_the_admin_does_not(made, key):
    second = make.person("Lou")
    make.member(made.project, second, Role.LEAD)
    admin = next(row.user for row in made.project.memberships.filter(role=Role.ADMIN))
    assert WAITS in first_pages(made, second)[1]
    assert WAITS not in first_pages(made, admin)[1]


def test_the_approver_reads_the_run_the_guideline_and_what_is_expected(made, key):
    page = enter(make.second_of(made.project)).get(place(key)).content.decode()
    step = key.gold_item.queue_item.item.run.steps.order_by("position").first()
    assert f'id="step-{step.position}"' in page
    assert made.queue.guideline.text.splitlines()[0].strip("# ") in page
    assert "Nobody should miss this." in page
    assert 'value="approve"' in page
    answer = enter(make.second_of(made.project)).post(place(key), {"decision": "approve"})
    key.refresh_from_db()
    assert (answer.status_code, key.state) == (302, KeyState.APPROVED)


def test_a_long_run_is_read_to_its_end_and_a_run_that_is_not_there_is_not_found(made, key):
    client = enter(make.second_of(made.project))
    run = place(key, "gold_proposal_run", place=1)
    assert 'id="step-1"' in client.get(f"{run}steps/?from=1&to=1").content.decode()
    assert client.get(f"{run}steps/1/field/?path=text&from=0").status_code == 200
    assert client.get(f"{run}steps/99/field/?path=text&from=0").status_code == 404
    assert client.get(f"{run}steps/1/images/0/").status_code == 404
    assert client.get(place(key, "gold_proposal_run", place=2)).status_code == 404


def test_nobody_else_reads_a_run_by_its_proposal(made, key):
    for person, status in ((made.experts[0], 403), (made.engineer, 403), (make.person("Mallory"), 404)):
        client = enter(person)
        assert client.get(place(key)).status_code == status
        assert client.get(place(key, "gold_proposal_run", place=1) + "steps/").status_code == status


def test_the_proposer_reads_it_too_and_is_told_why_they_do_not_decide(made, key):
    page = enter(made.lead).get(place(key)).content.decode()
    assert "Nobody should miss this." in page
    assert 'value="approve"' not in page


@pytest.mark.parametrize("decide", [approve_gold, decline_gold])
def test_nothing_of_the_run_is_read_by_a_proposal_that_was_decided(made, key, decide):
    admin = make.second_of(made.project)
    client, run = enter(admin), place(key, "gold_proposal_run", place=1)
    read = [place(key), run, f"{run}steps/", f"{run}steps/1/field/?path=text&from=0"]
    assert [client.get(address).status_code for address in read] == [200] * 4
    decide(actor=admin, key=key)
    assert [client.get(address).status_code for address in (*read, f"{run}steps/1/images/0/")] == [404] * 5


def test_a_task_is_read_with_all_its_parts(project):
    whole, lead = task_review(), make.lead_of(project)
    rubric = {"item_kind": "task", "marks": whole["marks"]}
    queue = make.queue(project, items=[tasks.task(project)], criteria=whole["criteria"], rubric=rubric)
    gold = start_gold(actor=lead, queue_item=QueueItem.objects.get(queue=queue))
    key = add_key(actor=lead, gold=gold, expected={}, guideline=queue.guideline, source=KeySource.IMPORT, note="")
    page = enter(make.second_of(project)).get(place(key)).content.decode()
    assert "finance is owned by d.marsh" in page
    assert "Asks the owner before a right is given back." in page
    assert "she can read it" in page


def test_the_only_lead_is_told_who_approves(made):
    page = enter(made.lead).get(reverse("goldsets:gold_candidates", args=[made.queue.uid])).content.decode()
    assert "so an admin approves what you propose. It stands on their first page" in page
