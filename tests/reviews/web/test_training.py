"""The pages of practice, qualification and norming, without script: what opens, what is refused, where one lands."""

import pytest
from django.test import Client
from django.urls import reverse

from reviews.actions.projects import invite
from reviews.models import Label, Queue, QueueItem
from tests import factories as make
from tests.factories.training import judge, practice, qualification, settled_queue

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk():
    project = make.project()
    return project, settled_queue(project, items=12), make.expert(project, "Alice")


def signed_in(person):
    client = Client()
    client.force_login(person, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client


FORM = {"gates.authorised": "pass", "gates.consent": "pass", "criteria.success": "1", "criteria.process": "2"}
FORM |= {"rationale": "Done.", "confidence": "3"}


def test_alice_practises_and_reads_what_stands_before_the_next_item(desk):
    project, queue, alice = desk
    made, client = practice(project, queue, items=2), signed_in(alice)
    start = reverse("reviews:judge", args=[made.uid])
    assert "2 items to get to know the work" in client.get(start).content.decode()
    item = client.post(start)
    answer = client.post(f"{item.url}submit/", FORM, follow=True)
    text = answer.content.decode()
    assert answer.redirect_chain[-1][0].endswith("/feedback/")
    assert "1 Weak" in text
    assert "3 Strong" in text
    assert "Done as asked." in text
    assert "Get a yes before any action" in text
    last = client.post(start)
    client.post(f"{last.url}submit/", FORM)
    done = client.post(start).content.decode()
    assert "whole practice set" in done
    assert "Practise again" in done
    assert client.post(reverse("reviews:practise_again", args=[made.uid])).status_code == 302
    assert client.post(start).status_code == 302


def test_feedback_is_for_ones_own_practice_only(desk):
    project, queue, alice = desk
    mine = judge(practice(project, queue), alice, make.passing()).assignment
    work = queue.assignments.first()
    page = reverse("reviews:feedback", args=[mine.uid])
    assert signed_in(alice).get(page).status_code == 200
    assert signed_in(make.expert(project, "Bob")).get(page).status_code == 404
    assert signed_in(work.rater).get(reverse("reviews:feedback", args=[work.uid])).status_code == 404


def test_a_queue_leads_to_its_qualification_and_back(desk):
    project, queue, alice = desk
    exam, lead = qualification(project, queue), signed_in(make.lead_of(project))
    work = make.queue(project, items=1)
    asks = reverse("reviews:queue_requires", args=[work.uid])
    assert lead.post(asks, {"qualification": str(exam.uid)}).status_code == 302
    client = signed_in(alice)
    said = client.post(reverse("reviews:judge", args=[work.uid])).content.decode()
    assert "begins with a qualification" in said
    assert "Begin the qualification" in said
    assert "Qualify for it" in client.get("/").content.decode()
    for _ in range(4):
        judge(exam, alice, make.passing())
    item = client.post(reverse("reviews:judge", args=[exam.uid]))
    done = client.post(f"{item.url}submit/", FORM | {"criteria.success": "3"}).content.decode()
    assert "5 of 5 were right" in done
    assert client.post(reverse("reviews:judge", args=[work.uid])).status_code == 302


def test_leads_open_sets_on_a_page_and_keep_what_they_ticked_when_something_is_wrong(desk):
    project, queue, alice = desk
    lead = signed_in(make.lead_of(project))
    page = reverse("reviews:training_new", args=[queue.uid])
    label = Label.objects.filter(queue=queue).first()
    form = {"name": "", "purpose": "practice", "label": [str(label.uid)], f"line-{label.uid}": "policy-1"}
    wrong = lead.post(page, form)
    assert wrong.status_code == 422
    assert f'value="{label.uid}" id="l-{label.uid}"' in wrong.content.decode()
    assert " checked>" in wrong.content.decode()
    assert '<option value="policy-1" selected>' in wrong.content.decode()
    made = lead.post(page, form | {"name": "First steps"}, follow=True)
    assert "Nobody has begun yet" in made.content.decode()
    assert Queue.every.get(name="First steps").queue_items.get().reference.policy_line == 1
    assert signed_in(alice).get(page).status_code == 403
    assert signed_in(alice).get(made.request["PATH_INFO"]).status_code == 403


def test_leads_read_who_sat_a_qualification_and_waive_it(desk):
    project, queue, alice = desk
    exam, lead = qualification(project, queue), signed_in(make.lead_of(project))
    for _ in range(5):
        judge(exam, alice, make.passing(success=0))
    bob = make.expert(project, "Bob")
    page = reverse("reviews:training_set", args=[exam.uid])
    text = lead.get(page).content.decode()
    assert "0/5" in text
    assert "undecided" in text
    assert "Task success" in text
    told = lead.post(reverse("reviews:waive", args=[exam.uid]), {"rater": bob.pk, "why": "A colleague."}, follow=True)
    assert "A colleague." in told.content.decode()
    assert signed_in(alice).post(reverse("reviews:waive", args=[exam.uid]), {"rater": alice.pk}).status_code == 403


def test_a_session_on_its_pages(desk):
    project, queue, alice = desk
    bob, charlie = make.expert(project, "Bob"), make.expert(project, "Charlie")
    lead = signed_in(make.lead_of(project))
    rows = [str(uid) for uid in QueueItem.objects.filter(queue=queue).values_list("uid", flat=True)[:1]]
    form = {"name": "Consent", "item": rows, "member": [alice.pk, bob.pk]}
    new = reverse("reviews:norming_new", args=[queue.uid])
    assert lead.post(new, form | {"member": [alice.pk]}).status_code == 422
    place = lead.post(new, form).url
    session = Queue.every.get(name="Consent")
    judge(session, alice, make.passing(success=1))
    assert "1 of 2 votes are in" in signed_in(bob).get(place).content.decode()
    assert "1 Weak" not in signed_in(bob).get(place).content.decode()
    assert lead.post(f"{place}reveal/").status_code == 422
    judge(session, bob, make.passing())
    assert signed_in(alice).post(f"{place}reveal/").status_code == 403
    lead.post(f"{place}reveal/")
    text = signed_in(alice).get(place).content.decode()
    assert "1 Weak" in text
    assert "3 Strong" in text
    assert "Vote again" in text
    item = session.queue_items.get().uid
    said = {"item": item, "criterion": "success", "text": "Hm."}
    assert signed_in(bob).post(f"{place}discuss/", said).status_code == 302
    assert signed_in(bob).post(f"{place}discuss/", said | {"text": " "}).status_code == 422
    mine = session.assignments.get(rater=alice)
    again = FORM | {"criteria.success": "3", "revision": "1"}
    answer = signed_in(alice).post(f"/assignments/{mine.uid}/correct/", again)
    assert answer.url == place
    lead.post(f"{place}close/", {"change": "Refunds count."})
    assert "Refunds count." in signed_in(alice).get(place).content.decode()
    assert signed_in(charlie).get(place).status_code == 404


def test_pages_of_work_know_no_set(desk):
    project, queue, _alice = desk
    made, lead = practice(project, queue), signed_in(make.lead_of(project))
    for name in ("disagreements", "queue_settings"):
        assert lead.get(reverse(f"reviews:{name}", args=[made.uid])).status_code == 404
    for name in ("overview", "agreement", "raters", "gold"):
        assert lead.get(reverse(f"goldsets:{name}", args=[made.uid])).status_code == 404
    for page in (reverse("reviews:project", args=[project.slug]), reverse("goldsets:datasets", args=[project.slug])):
        assert "First steps" not in lead.get(page).content.decode()


def test_somebody_new_lands_on_practice(desk):
    project, queue, _alice = desk
    made = practice(project, queue)
    link = invite(actor=make.lead_of(project), project=project, role="expert")
    token = link.token if hasattr(link, "token") else link[1]
    answer = Client().post(reverse("reviews:join", args=[token]), {"email": "dora@example.com", "name": "Dora"})
    assert answer.url == reverse("reviews:judge", args=[made.uid])
