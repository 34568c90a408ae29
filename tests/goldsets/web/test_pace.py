"""The lead's page of pace: who took how long, what is worth a look, and whose name stays hidden for now."""

import pytest
from django.test import Client
from django.urls import reverse

from goldsets.queries.agreement import count_agreement
from goldsets.queries.pace import queue_pace
from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.models import Assignment, QueueItem
from tests import factories as make
from tests.reviews.api.talking import by

pytestmark = pytest.mark.django_db


def enter(person):
    client = Client()
    client.force_login(person, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client


def judge(queue, rater, seconds):
    """The rater's next item, judged as if it had taken so long."""
    assignment = claim(actor=rater, queue=queue)
    Assignment.objects.filter(pk=assignment.pk).update(active_seconds=seconds)
    submit(actor=rater, uid=assignment.uid, payload=make.passing(), idempotency_key="k", worked=0)
    return assignment


def queue_of(project, alice, *, overlap):
    """Alice took 50 to 73 seconds for two dozen runs and 2 for another."""
    queue = make.queue(project, items=25, overlap=overlap)
    for seconds in range(50, 74):
        judge(queue, alice, seconds)
    return queue, judge(queue, alice, 2)


def test_a_hasty_judgment_is_worth_a_look_with_its_item_and_what_was_expected(project, alice):
    queue, hasty = queue_of(project, alice, overlap=1)
    (one,) = queue_pace(queue).look_at
    assert (one.item, one.rater, one.seconds, one.fast) == (hasty.item.uid, "Alice", 2, True)
    assert one.times == pytest.approx(30, rel=0.1)
    text = enter(make.lead_of(project)).get(reverse("goldsets:pace", args=[queue.uid])).content.decode()
    assert "Worth a look" in text
    assert reverse("reviews:item", args=[project.slug, hasty.item.uid]) in text
    assert "times faster" in text


def test_until_its_item_is_settled_nobody_is_named(project, alice):
    queue, hasty = queue_of(project, alice, overlap=2)
    found = queue_pace(queue)
    assert (found.look_at, found.kept_back) == ([], 1)
    answer = by(make.lead_of(project)).get(f"/api/v1/queues/{queue.uid}/pace/").json()
    assert (answer["look_at"], answer["kept_back"], answer["n"]) == ([], 1, 25)
    judge(queue, make.expert(project, "Bob"), 60)
    QueueItem.objects.filter(queue=queue, item=hasty.item).update(state="settled")
    answer = by(make.lead_of(project)).get(f"/api/v1/queues/{queue.uid}/pace/").json()
    assert [(one["item"], one["rater"]) for one in answer["look_at"]] == [(str(hasty.item.uid), "Alice")]


def test_judgments_without_a_time_are_left_out_and_counted(project, alice):
    queue = make.queue(project, items=3, overlap=1)
    for seconds in (0, 40, 80):
        judge(queue, alice, seconds)
    found = queue_pace(queue)
    assert (found.pace.n, found.untimed, found.pace.median.value) == (2, 1, 60)
    assert found.pace.words == "Too few to mark any: 2 of the 20 judgments needed."


def test_an_empty_queue_and_others_than_leads(project, alice):
    queue = make.queue(project)
    page = reverse("goldsets:pace", args=[queue.uid])
    assert "There is no judgment with a time yet." in enter(make.lead_of(project)).get(page).content.decode()
    assert enter(alice).get(page).status_code == 403
    assert enter(make.person("Sam")).get(page).status_code == 404


def test_a_rater_much_faster_than_the_others_is_worth_a_look_and_no_more(project, alice):
    """Alice takes 2 s on each of six runs, Bob 55 and Charlie 65: the overview and the list of raters say so."""
    queue = make.queue(project, items=6, overlap=3)
    for rater, seconds in ((alice, 2), (make.expert(project, "Bob"), 55), (make.expert(project, "Charlie"), 65)):
        for _ in range(6):
            judge(queue, rater, seconds)
    client = enter(make.lead_of(project))
    assert "Agreement is being counted." in client.get(reverse("goldsets:overview", args=[queue.uid])).content.decode()
    count_agreement(queue)
    overview = client.get(reverse("goldsets:overview", args=[queue.uid])).content.decode()
    assert (
        "Alice takes 2 s (median of 6 judgments, 95% 2 to 2 s) on an item, the others 60 s (median of 2 raters, no "
        "interval). That may be right"
    ) in overview
    assert "Bob takes" not in overview
    raters = client.get(reverse("goldsets:raters", args=[queue.uid])).content.decode()
    assert raters.count("others 1 min 0 s, n 2") == 1
    assert "[2 s, 2 s]" in raters
    own = client.get(reverse("goldsets:rater", args=[queue.uid, alice.pk])).content.decode()
    assert "[2 s, 2 s], n 6; the others usually take 1 min 0 s, n 2" in own
    new = make.expert(project, "Dora")
    assert client.get(reverse("goldsets:rater", args=[queue.uid, new.pk])).status_code == 200
    assert '<th scope="col" class="n">Drift</th>' in raters
