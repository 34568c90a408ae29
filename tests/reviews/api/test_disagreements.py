"""Disagreements by API: in the inbox's order, narrowed down as the page does it, and names opened with an Event."""

import pytest
from django.urls import reverse

from reviews.actions.referring import put_first
from reviews.enums import Verb
from reviews.models import Event, RunScore
from tests import factories as make
from tests.factories.furnished import desk, judge
from tests.reviews.api.talking import by
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db


@pytest.fixture
def made():
    """Waiting: two on which raters differ by a level, then one of which one of them failed a gate."""
    return desk()


def asked(made, **query):
    response = by(made.lead).get(f"/api/v1/queues/{made.queue.uid}/disagreements/", query)
    assert response.status_code == 200, response.content
    return response.json()


def uids(made, **query):
    return [row["uid"] for row in asked(made, **query)["results"]]


def test_what_failed_a_gate_comes_first_and_what_was_put_first_before_it(made):
    by_level, other, by_gate = made.waiting
    assert uids(made) == [str(by_gate.uid), str(by_level.uid), str(other.uid)]
    put_first(actor=made.lead, queue_item=other, first=True)
    assert uids(made) == [str(other.uid), str(by_gate.uid), str(by_level.uid)]
    assert uids(made, order="age") == [str(by_level.uid), str(other.uid), str(by_gate.uid)]


def test_the_fields_that_it_is_ordered_by_are_told(made):
    by_level, other, by_gate = made.waiting
    for value, grader in ((1, "one"), (0, "other")):
        run = other.item.trajectory
        RunScore.objects.create(trajectory=run, grader=grader, value=value, content_hash=grader)
    rows = {row["uid"]: row for row in asked(made)["results"]}
    assert rows[str(by_gate.uid)]["failed_gates"] == ["authorised"]
    assert (rows[str(other.uid)]["doubt"], rows[str(by_level.uid)]["doubt"]) == (1, 0)
    assert list(rows) == [str(by_gate.uid), str(other.uid), str(by_level.uid)], "graders are undecided about it"
    assert rows[str(other.uid)]["first"] is False


def test_the_pages_filters_narrow_it_down(made):
    by_gate = str(made.waiting[2].uid)
    assert uids(made, gates="failed") == [by_gate]
    assert by_gate not in uids(made, gates="passed")
    assert by_gate not in uids(made, criterion="process")
    assert len(uids(made, family="refunds")) == 3
    assert uids(made, family="orders") == []
    assert uids(made, waits_for="apart") == []


@pytest.mark.parametrize("field", ["gates", "waits_for", "order"])
def test_a_word_that_is_none_is_refused_by_its_field(made, field):
    response = by(made.lead).get(f"/api/v1/queues/{made.queue.uid}/disagreements/", {field: "nonsense"})
    assert response.status_code == 422
    assert list(response.json()["errors"]) == [field]


def test_pages_go_on_behind_what_was_read_though_it_was_settled_since(made):
    lead = by(made.lead)
    everything = uids(made)
    first = asked(made, page_size=1)
    assert ([row["uid"] for row in first["results"]], first["previous"]) == (everything[:1], None)
    made.waiting[2].item.queue_items.update(state="collecting", waits_for="", waiting_since=None)
    second = lead.get(first["next"]).json()
    third = lead.get(second["next"]).json()
    assert [row["uid"] for page in (second, third) for row in page["results"]] == everything[1:]
    assert third["next"] is None
    assert lead.get(third["previous"]).json()["results"] == second["results"]


@pytest.mark.parametrize("cursor", ["nonsense", "W10=", "WyJhZnRlciIsIngiXQ==", "MQ==", "WzEsMl0="])
def test_a_cursor_of_no_list_is_refused(made, cursor):
    address = f"/api/v1/queues/{made.queue.uid}/disagreements/"
    assert by(made.lead).get(address, {"cursor": cursor}).status_code == 404


def test_names_are_opened_with_an_event_and_are_those_behind_the_letters(made):
    row = made.waiting[2]
    lead = by(made.lead)
    opened = [lead.post(f"/api/v1/queue-items/{row.uid}/names/") for _ in range(2)]
    assert [response.status_code for response in opened] == [200, 200]
    names = {one["rater"]: one["name"] for one in opened[0].json()}
    assert sorted(names) == ["A", "B", "C"]
    assert {name.split()[0] for name in names.values()} == {"Alice", "Bob", "Charlie"}
    event = Event.objects.get(verb=Verb.NAMES_OPENED)
    assert (event.actor, event.target_id) == (made.lead, row.pk)
    failed = next(said["rater"] for said in asked(made)["results"][0]["judgments"] if "fail" in said["gates"].values())
    judgment = row.item.judgments.get(failure_step__isnull=False)
    assert names[failed] == str(judgment.rater)


def test_names_of_what_still_comes_in_or_is_settled_are_not_opened(made):
    for row in (made.settled[0], made.queue.queue_items.get(state="collecting")):
        assert by(made.lead).post(f"/api/v1/queue-items/{row.uid}/names/").status_code == 409
    assert not Event.objects.filter(verb=Verb.NAMES_OPENED).exists()


def test_letters_are_shuffled_anew_for_each_item_and_do_not_say_who_came_first(project):
    """Alice submits first, then Bob, then Charlie, on each of twelve items, and says which of them she or he is.

    In the order of submission A would be the first everywhere. Twelve items in one order by chance: 1 in 362 millions.
    """
    queue = make.queue(project, items=12, overlap=3)
    for name, level in (("first", 1), ("second", 2), ("third", 3)):
        rater = make.expert(project, name)
        for _ in range(12):
            judge(queue, rater, make.passing(process=level, rationale=name))
    lead = make.lead_of(project)
    rows = by(lead).get(f"/api/v1/queues/{queue.uid}/disagreements/").json()["results"]
    orders = [[said["rationale"] for said in row["judgments"]] for row in rows]
    assert len(orders) == 12
    assert all(sorted(order) == ["first", "second", "third"] for order in orders)
    assert len({tuple(order) for order in orders}) > 1
    for row, order in zip(rows[:3], orders, strict=False):
        page = enter(lead).get(reverse("reviews:adjudicate", args=[queue.uid, row["uid"]])).context["page"]
        assert [rater.rationale for rater in page.raters] == order, "the page has the same letters"
