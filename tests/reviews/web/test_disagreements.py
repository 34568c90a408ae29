"""Disagreements as leads meet them: the order of the inbox, raters as letters, the decision and the next item."""

import pytest
from django.urls import reverse

from reviews.actions.adjudicating import adjudicate
from reviews.actions.dealing import claim, skip
from reviews.enums import QueueItemState, Role, Verb
from reviews.models import Event, Label
from reviews.trajectories.schema import Step
from tests import factories as make
from tests.factories.furnished import desk, judge
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db


@pytest.fixture
def made():
    return desk()


def inbox(made, **filters):
    return enter(made.lead).get(reverse("reviews:disagreements", args=[made.queue.uid]), filters)


def place(made, row, name="adjudicate"):
    return reverse(f"reviews:{name}", args=[made.queue.uid, row.uid])


def by_gate(made):
    """The one on which a gate is contested."""
    return made.waiting[2]


def by_level(made):
    return made.waiting[0]


DECIDED = {
    "gates.authorised": "pass",
    "gates.consent": "pass",
    "criteria.success": "3",
    "criteria.process": "1",
    "reason": "guideline_unclear",
    "note": "The middle level says it best.",
    "seen": "0",
}


def test_what_failed_a_gate_comes_first(made):
    page = inbox(made).content.decode()
    places = [page.index(str(row.uid)) for row in (by_gate(made), by_level(made), made.waiting[1])]
    assert places == sorted(places)


def test_the_inbox_can_be_narrowed_to_a_criterion(made):
    page = inbox(made, criterion="process").content.decode()
    assert str(by_level(made).uid) in page
    assert str(by_gate(made).uid) not in page


def test_raters_are_letters_until_names_are_asked_for(made):
    client, row = enter(made.lead), by_gate(made)
    page = client.get(place(made, row)).content.decode()
    assert "names hidden" in page
    assert not any(name in page for name in ("Alice", "Bob", "Charlie"))
    client.post(place(made, row, "names"))
    page = client.get(place(made, row)).content.decode()
    assert all(name in page for name in ("Alice", "Bob", "Charlie"))
    opened = Event.objects.get(verb=Verb.NAMES_OPENED)
    assert (opened.actor, opened.target_id) == (made.lead, row.pk)


def test_a_lead_always_sees_the_same_letters(made):
    client = enter(made.lead)
    for row in made.waiting:
        first, again = (client.get(place(made, row)).context["page"].raters for _ in range(2))
        assert first == again
        assert [rater.letter for rater in first] == ["A", "B", "C"]
        assert {rater.name for rater in first} == {""}


def test_the_outcome_is_not_there_before_the_item_is_settled(made):
    client, row = enter(made.lead), by_level(made)
    assert "secret-model-9" not in client.get(place(made, row)).content.decode()
    client.post(place(made, row), DECIDED)
    assert "secret-model-9" in client.get(place(made, row)).content.decode()


def test_the_guideline_is_read_beside_the_decision(made):
    page = enter(made.lead).get(place(made, by_gate(made))).content.decode()
    assert 'popovertarget="guideline"' in page
    assert f'<h2 id="guideline-title">{made.queue.guideline}</h2>' in page
    assert made.queue.guideline.text.splitlines()[0].strip("# ") in page


def test_the_cited_words_are_marked_in_the_run(made):
    page = enter(made.lead).get(place(made, by_gate(made))).content.decode()
    assert ">A-5071</mark>" in page


def test_settling_makes_the_label_and_goes_to_the_next(made):
    row = by_level(made)
    answer = enter(made.lead).post(place(made, row), DECIDED)
    label = Label.objects.get(queue=made.queue, item=row.item)
    assert {value.criterion.key: value.value for value in label.values.all()} == {
        "authorised": 1,
        "consent": 1,
        "success": 3,
        "process": 1,
    }
    assert label.rationale == "The middle level says it best."
    assert label.adjudication.values.get(criterion__key="process").reason_code == "guideline_unclear"
    assert answer.status_code == 302
    assert answer.url == place(made, made.waiting[0])


def test_with_script_the_next_item_is_in_the_same_answer(made):
    row, after = by_gate(made), by_level(made)
    answer = enter(made.lead).post(place(made, row), DECIDED, headers={"HX-Request": "true"})
    assert answer.status_code == 200
    assert answer.headers["HX-Push-Url"] == place(made, after)
    assert f'data-item="{after.uid}"' in answer.content.decode()


def test_the_last_one_leads_back_to_the_inbox(made):
    client = enter(made.lead)
    for row in made.waiting:
        answer = client.post(place(made, row), DECIDED)
    assert answer.url == reverse("reviews:disagreements", args=[made.queue.uid])
    assert "Nothing waits for you" in client.get(answer.url).content.decode()


def test_a_reason_is_asked_for_and_nothing_entered_is_lost(made):
    answer = enter(made.lead).post(place(made, by_level(made)), DECIDED | {"reason": ""})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "Say why the raters differ on “Process”." in page
    assert "The middle level says it best." in page
    assert Label.objects.filter(item=by_level(made).item).count() == 0


def test_a_criterion_may_have_a_reason_of_its_own(made):
    row = by_level(made)
    enter(made.lead).post(place(made, row), DECIDED | {"reason.process": "rubric_gap", "notes.process": "No anchor."})
    decided = row.adjudications.get().values.get(criterion__key="process")
    assert (decided.reason_code, decided.note) == ("rubric_gap", "No anchor.")


def test_a_failed_gate_asks_for_the_failure_point_and_drops_quality(made):
    row = by_gate(made)
    client, failed = enter(made.lead), DECIDED | {"gates.authorised": "fail"}
    assert "name the first decisive step" in client.post(place(made, row), failed).content.decode()
    point = {"failure.step": "3", "failure.who": "agent", "failure.cause": "unauthorised_access"}
    client.post(place(made, row), failed | point)
    label = Label.objects.get(item=row.item)
    assert (label.failure_step, label.failure_cause) == (3, "unauthorised_access")
    assert {value.criterion.key for value in label.values.all()} == {"authorised", "consent"}


def test_what_another_lead_decided_meanwhile_is_not_overwritten(made):
    row, olga = by_level(made), make.person("Olga")
    make.member(made.project, olga, Role.LEAD)
    enter(olga).post(place(made, row), DECIDED | {"note": "Mine was first."})
    answer = enter(made.lead).post(place(made, row), DECIDED)
    assert answer.status_code == 422
    assert "Somebody settled this item while you looked at it." in answer.content.decode()
    assert Label.objects.get(item=row.item).rationale == "Mine was first."


def test_deciding_anew_makes_a_new_revision(made):
    client, row = enter(made.lead), by_level(made)
    client.post(place(made, row), DECIDED)
    client.post(place(made, row), DECIDED | {"criteria.process": "2", "seen": "1"})
    assert list(Label.objects.filter(item=row.item).values_list("revision", flat=True)) == [1, 2]


def test_an_item_one_has_judged_oneself_is_for_another_lead():
    project = make.project()
    lead = make.lead_of(project)
    queue = make.queue(project, items=1)
    judge(queue, lead, make.passing(process=1))
    judge(queue, make.expert(project, "Bob"), make.passing(process=2))
    row = queue.queue_items.get(state=QueueItemState.WAITING)
    client = enter(lead)
    page = client.get(reverse("reviews:disagreements", args=[queue.uid])).content.decode()
    assert str(row.uid) not in page
    assert "1 more item that you judged yourself waits for another lead" in page
    answer = client.get(reverse("reviews:adjudicate", args=[queue.uid, row.uid]))
    assert answer.status_code == 403
    assert "You judged this item yourself" in answer.content.decode()


def test_an_item_that_is_still_being_judged_is_not_shown(made):
    row = made.queue.queue_items.filter(state=QueueItemState.COLLECTING).first()
    answer = enter(made.lead).get(place(made, row))
    assert answer.status_code == 409
    assert "still coming in" in answer.content.decode()


def test_only_leads_decide(made):
    row = by_level(made)
    for person, status in ((made.engineer, 403), (made.experts[0], 403), (make.person("Mallory"), 404)):
        assert enter(person).get(place(made, row)).status_code == status
        assert enter(person).post(place(made, row), DECIDED).status_code == status
    assert Label.objects.filter(item=row.item).count() == 0


def test_a_settled_item_shows_who_said_what(made):
    page = enter(made.lead).get(place(made, made.settled[0])).content.decode()
    assert "Settled" in page
    assert "Alice" in page


def test_an_item_without_a_single_judgment_can_be_decided():
    project = make.project()
    queue = make.queue(project, items=1)
    for name in ("Alice", "Bob", "Charlie"):
        skip(actor=(person := make.expert(project, name)), uid=claim(actor=person, queue=queue).uid, reason="guideline")
    row = queue.queue_items.get(state=QueueItemState.WAITING)
    lead = make.lead_of(project)
    answer = enter(lead).get(reverse("reviews:adjudicate", args=[queue.uid, row.uid]))
    assert "Nobody has judged this item." in answer.content.decode()
    answers = make.passing()
    decided = {"gates": answers["gates"], "criteria": answers["criteria"], "note": "By the policy."}
    assert adjudicate(actor=lead, queue_item=row, payload=decided).revision == 1


def test_deciding_anew_starts_from_what_was_decided(made):
    client, row = enter(made.lead), by_level(made)
    client.post(place(made, row), DECIDED | {"notes.process": "No anchor."})
    decision = client.get(place(made, row)).context["page"]
    process = next(one for one in decision.rows if one.criterion.key == "process")
    assert [choice.name for choice in process.question.choices if choice.checked] == ["Weak"]
    assert (decision.reason, decision.note) == ("guideline_unclear", "The middle level says it best.")
    assert process.note == "No anchor."


def test_a_cited_step_far_down_a_long_run_is_shown_with_the_gaps_around_it():
    project = make.project()
    long = make.item(project, steps=tuple(Step(role="agent", text=f"Message {number}") for number in range(1, 121)))
    queue = make.queue(project, items=[long], overlap=2)
    cited = [{"criterion": "authorised", "step": 100}]
    judge(queue, make.expert(project, "Alice"), make.failing(evidence=cited))
    judge(queue, make.expert(project, "Bob"), make.passing())
    row = queue.queue_items.get()
    page = enter(make.lead_of(project)).get(reverse("reviews:adjudicate", args=[queue.uid, row.uid])).content.decode()
    assert 'id="step-100"' in page
    assert "Show steps 41 to 99" in page
    assert "Show steps 101 to 120" in page
