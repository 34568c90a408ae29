"""Items, labels and events as lists and pages: what each role finds, and what stays hidden until an item is settled."""

import pytest
from django.conf import settings
from django.urls import reverse
from django.utils.module_loading import import_string

from reviews.actions.dealing import claim
from reviews.actions.events import record
from reviews.actions.scoring import post_scores
from reviews.enums import Role
from tests import factories as make
from tests.factories.furnished import desk
from tests.reviews.api.talking import by
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db


@pytest.fixture
def made():
    return desk()


def item_page(made, row):
    return reverse("reviews:item", args=[made.project.slug, row.item.uid])


def test_a_lead_sees_no_outcome_until_the_item_is_settled(made):
    client = enter(made.lead)
    assert "secret-model-9" not in client.get(item_page(made, made.waiting[0])).content.decode()
    assert "secret-model-9" in client.get(item_page(made, made.settled[0])).content.decode()


def test_what_graders_said_later_too_is_read_by_who_may_know_how_the_run_ended(made):
    for row in (made.waiting[0], made.settled[0]):
        said = {"item": row.item.uid, "grader": "politeness-judge", "value": 0.25, "explanation": "<i>Short.</i>"}
        post_scores(actor=made.lead, project=made.project, scores=[said])
    for reader, row, seen in (
        (made.lead, made.waiting[0], False),
        (made.lead, made.settled[0], True),
        (made.engineer, made.waiting[0], True),
    ):
        page = enter(reader).get(item_page(made, row)).content.decode()
        assert ("politeness-judge" in page, "&lt;i&gt;Short.&lt;/i&gt;" in page) == (seen, seen)
        answer = by(reader).get(f"/api/v1/items/{row.item.uid}/").json()
        assert [score["value"] for score in answer.get("later_scores", ())] == [0.25] * seen


def test_a_family_is_read_as_words_and_asked_for_by_its_name(made):
    make.item(made.project, family="duplicate_charge")
    place = reverse("reviews:items", args=[made.project.slug])
    answer = enter(made.lead).get(place, {"family": "duplicate_charge"})
    assert answer.context["page"].paginator.count == 1
    page = answer.content.decode()
    assert "<td>duplicate charge</td>" in page
    assert '<option value="duplicate_charge" selected>duplicate charge</option>' in page


def test_a_lead_finds_nothing_by_outcome_or_model(made):
    place = reverse("reviews:items", args=[made.project.slug])
    page = enter(made.lead).get(place, {"model": "another-model", "result": "crash"})
    assert "secret-model-9" not in page.content.decode()
    assert page.context["page"].paginator.count == 10


def test_an_engineer_finds_runs_by_how_they_ended(made):
    make.item(made.project, result="crash", model="other-model-2")
    place = reverse("reviews:items", args=[made.project.slug])
    page = enter(made.engineer).get(place, {"result": "crash"})
    assert page.context["page"].paginator.count == 1
    assert "other-model-2" in page.content.decode()


def test_an_item_in_ones_own_hands_is_what_a_rater_sees(made):
    make.queue(made.project, items=[made.settled[0].item])
    own = make.queue(made.project, items=[made.settled[0].item])
    claim(actor=made.lead, queue=own)
    page = enter(made.lead).get(item_page(made, made.settled[0])).content.decode()
    assert "You are judging this item just now" in page
    assert "secret-model-9" not in page
    assert "Label," not in page


def test_items_are_found_by_queue_state_and_words(made):
    place, client = reverse("reviews:items", args=[made.project.slug]), enter(made.lead)
    assert client.get(place, {"state": "waiting"}).context["page"].paginator.count == 3
    assert client.get(place, {"queue": made.queue.slug}).context["page"].paginator.count == 9
    assert client.get(place, {"q": "nothing like it"}).context["page"].paginator.count == 0
    assert client.get(place, {"page": "nonsense", "state": "nonsense"}).status_code == 200


def test_an_expert_browses_no_items(made):
    client = enter(made.experts[0])
    assert client.get(reverse("reviews:items", args=[made.project.slug])).status_code == 403
    assert client.get(item_page(made, made.settled[0])).status_code == 403
    steps = reverse("reviews:item_steps", args=[made.project.slug, made.settled[0].item.uid])
    assert client.get(steps).status_code == 403


def test_more_steps_and_fields_are_fetched(made):
    client, row = enter(made.lead), made.settled[0]
    steps = client.get(reverse("reviews:item_steps", args=[made.project.slug, row.item.uid]), {"from": "3", "to": "4"})
    assert "read_account" in steps.content.decode()
    assert "My order came" not in steps.content.decode()
    place = reverse("reviews:item_field", args=[made.project.slug, row.item.uid, 1])
    assert "came a week late" in client.get(place, {"path": "text", "from": "9"}).content.decode()
    assert client.get(place, {"path": "nothing"}).status_code == 404


def test_an_item_of_another_project_is_not_found(made):
    other = make.item(make.project())
    assert enter(made.lead).get(reverse("reviews:item", args=[made.project.slug, other.uid])).status_code == 404


def test_script_in_a_run_is_text(made):
    from reviews.trajectories.schema import Step

    bad = make.item(made.project, steps=(Step(role="user", text="<script>alert(1)</script>", pointer="/0"),))
    page = enter(made.lead).get(reverse("reviews:item", args=[made.project.slug, bad.uid])).content.decode()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_labels_say_what_they_rest_on(made):
    place, client = reverse("reviews:labels", args=[made.project.slug]), enter(made.engineer)
    page = client.get(place)
    assert page.context["page"].paginator.count == 5
    assert "Unanimous" in page.content.decode()
    assert client.get(place, {"basis": "adjudicated"}).context["page"].paginator.count == 0
    assert enter(made.experts[0]).get(place).status_code == 403


def test_events_are_narrowed_by_deed_person_and_day(made):
    place, client = reverse("reviews:events", args=[made.project.slug]), enter(made.lead)
    rows = client.get(place, {"about": "Queues"}).context["rows"]
    assert {row.event.verb.partition(".")[0] for row in rows} == {"queue"}
    rows = client.get(place, {"actor": made.experts[0].email}).context["rows"]
    assert {row.event.actor for row in rows} == {made.experts[0]}
    assert client.get(place, {"day": "1999-01-01"}).context["rows"] == []
    assert client.get(place, {"day": "yesterday"}).status_code == 200


def test_what_an_event_is_about_is_a_link_for_whoever_may_follow_it(made):
    place, ada = reverse("reviews:events", args=[made.project.slug]), make.person("Ada")
    make.member(made.project, ada, Role.ADMIN)
    queue = ("queue", reverse("goldsets:overview", args=[made.queue.uid]))
    found = {}
    for person in (made.lead, ada):
        client = enter(person)
        found[person] = {row.about for row in client.get(place).context["rows"] if row.about}
        assert not {address for _words, address in found[person] if client.get(address).status_code != 200}
    assert queue in found[made.lead]
    assert queue not in found[ada]


def test_details_of_events_are_words(made):
    sha = "0123456789abcdef" * 4
    # The database's own number of a label says nothing to anybody.
    told = {
        "missing": ["17 more fails"],
        "sha256": sha,
        "by_rule": True,
        "counts": {"pass": 3},
        "why": None,
        "label": 137,
    }
    record(project=made.project, actor=made.lead, verb="dataset.read", target=made.queue, **told)
    page = enter(made.lead).get(reverse("reviews:events", args=[made.project.slug]))
    details = page.context["rows"][0].details
    assert {detail.name: detail.words for detail in details} == {
        "missing": "17 more fails",
        "sha256": "0123456789ab…",
        "by rule": "yes",
        "counts": "pass 3",
        "why": "none",
    }
    assert f'title="{sha}"' in page.content.decode()


def test_every_deed_is_found_under_one_topic():
    topics = [
        prefix for path in settings.EVENT_TOPICS for prefixes in import_string(path).values() for prefix in prefixes
    ]
    verbs = {verb.partition(".")[0] for path in settings.EVENT_VERBS for verb in import_string(path).values}
    assert sorted(topics) == sorted(verbs)


def test_only_leads_and_admins_read_the_log(made):
    place = reverse("reviews:events", args=[made.project.slug])
    ada = make.person("Ada")
    make.member(made.project, ada, Role.ADMIN)
    assert enter(ada).get(place).status_code == 200
    assert enter(made.engineer).get(place).status_code == 403
    assert enter(made.experts[0]).get(place).status_code == 403
