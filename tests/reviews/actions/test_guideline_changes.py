"""The guideline loop: leads' reasons in groups, a change drafted because of them, tried on a sample, and compared."""

import pytest
from django.urls import reverse

from reviews.actions.adjudicating import adjudicate
from reviews.actions.guideline_changes import draft_change, try_change
from reviews.actions.rubrics import write_guideline
from reviews.enums import QueueItemState
from reviews.errors import Conflict, Forbidden, Invalid
from reviews.models import Guideline, Label, Queue, QueueItem
from reviews.queries.guideline_causes import causes, change_page
from tests import factories as make
from tests.factories.furnished import judge
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db

TEXT = "*Count* a late refund as done once it is paid.\n\nAsk for consent before an account is closed."
CHANGED = TEXT + "\n\nA refund is late after ten days."
LATE, CONSENT = "Is the late refund done?", "Consent to the account closing came afterwards."


@pytest.fixture
def lead():
    return make.person("Lea")


@pytest.fixture
def queue(lead):
    """Five items that a lead settled: three for a late refund, one for consent, one for a rater's error."""
    project = make.project(lead)
    queue = make.queue(project, items=5, overlap=2, order="arrival")
    guideline = write_guideline(actor=lead, project=project, name=queue.guideline.name, text=TEXT)
    queue.guideline = guideline
    queue.save(update_fields=["guideline"])
    raters = [make.expert(project, name) for name in ("Alice", "Bob")]
    said = [(LATE, "guideline_unclear")] * 3 + [(CONSENT, "rubric_gap"), (LATE, "rater_error")]
    for note, _reason in said:
        for process, rater in zip((0, 2), raters, strict=True):
            judge(queue, rater, make.passing(process=process, rationale=note))
    for row, (note, reason) in zip(queue.queue_items.order_by("pk"), said, strict=True):
        decision = {name: make.passing(process=1)[name] for name in ("gates", "criteria")}
        adjudicate(actor=lead, queue_item=row, payload=decision | {"reasons": {"process": reason}, "note": note})
    return queue


def rows(queue):
    return list(queue.queue_items.order_by("pk"))


def draft(lead, queue, **changes):
    given = {"text": CHANGED, "touched": [row.uid for row in rows(queue)[:3]], "line": 1, "why": "Late is unclear."}
    return draft_change(**{"actor": lead, "guideline": queue.guideline} | given | changes)


def test_reasons_stand_in_groups_by_the_line_they_are_about_without_raters_errors(queue):
    late, consent = causes(queue.guideline)
    assert (late.line, late.clause) == (1, "Count a late refund as done once it is paid.")
    assert late.items == rows(queue)[2::-1]
    assert (late.criteria, late.reasons) == ([("Process", 3)], [("Guideline unclear", 3)])
    assert "refund" in late.terms
    assert (consent.line, consent.items) == (2, [rows(queue)[3]])


def test_a_decision_that_was_decided_anew_counts_once(lead, queue):
    row = rows(queue)[3]
    decision = {name: make.passing(process=2)[name] for name in ("gates", "criteria")}
    adjudicate(actor=lead, queue_item=row, payload=decision | {"reasons": {"process": "rater_error"}})
    assert [len(cause.items) for cause in causes(queue.guideline)] == [3]


def test_a_change_is_tried_on_a_sample_and_what_was_judged_before_stays(lead, queue):
    labels = Label.objects.count()
    change = try_change(actor=lead, change=draft(lead, queue), sample=2)
    assert (change.guideline.text, change.guideline.version) == (CHANGED, queue.guideline.version + 1)
    assert (change.trial.guideline, change.trial.rubric) == (change.guideline, queue.rubric)
    tried = list(QueueItem.objects.filter(queue=change.trial))
    assert len(tried) == 2
    assert {row.item for row in tried} <= {row.item for row in rows(queue)[:3]}
    for name in ("Carol", "Dora"):
        rater = make.expert(queue.project, name)
        for _ in tried:
            judge(change.trial, rater, make.passing(process=1))
    assert not QueueItem.objects.filter(queue=change.trial).exclude(state=QueueItemState.SETTLED).exists()
    assert Label.objects.filter(queue=queue).count() == labels
    page = change_page(change)
    assert (page.judged, page.wanted) == (4, 4)
    process = {row.before.key: row for row in page.compared}["process"]
    assert (process.before.n_disagreed, process.after.n_disagreed) == (2, 0)
    assert "+A refund is late after ten days." in page.diff
    shown = enter(lead).get(reverse("reviews:guideline_change", args=[queue.project.slug, change.uid]))
    assert "Agreement before and after" in shown.content.decode()


@pytest.mark.parametrize(("asked", "cap", "told"), [(2, 3, (2, 3, 0.9)), (1, 4, (2, 4, 0.9)), (1, 2, (2, 0, 0))])
def test_a_change_is_tried_in_a_queue_set_up_as_its_own_in_which_two_at_least_are_asked(lead, queue, asked, cap, told):
    Queue.objects.filter(pk=queue.pk).update(overlap=asked, overlap_cap=cap, sure_from=0.9, domains=["law"])
    trial = try_change(actor=lead, change=draft(lead, queue), sample=1).trial
    assert (trial.overlap, trial.overlap_cap, trial.sure_from) == told
    assert trial.domains == ["law"]


def test_a_change_is_tried_once_and_on_the_latest_version_alone(lead, queue):
    change, other = draft(lead, queue), draft(lead, queue)
    with pytest.raises(Invalid):
        try_change(actor=lead, change=change, sample=4)
    change = try_change(actor=lead, change=change, sample=1)
    for again in (change, other):
        with pytest.raises(Conflict):
            try_change(actor=lead, change=again, sample=1)
    assert Guideline.objects.filter(name=queue.guideline.name).count() == 3


@pytest.mark.parametrize("changes", [{"text": " "}, {"text": TEXT}, {"touched": []}, {"why": "x" * 2001}])
def test_what_is_no_change_is_refused(lead, queue, changes):
    with pytest.raises(Invalid):
        draft(lead, queue, **changes)


def test_only_leads_draft_and_the_page_leads_to_it(lead, queue):
    with pytest.raises(Forbidden):
        draft(make.expert(queue.project), queue)
    client, slug = enter(lead), queue.project.slug
    page = client.get(reverse("reviews:guideline_causes", args=[slug, queue.guideline.uid])).content.decode()
    assert "Nearest to line" in page
    assert "Count a late refund" in page
    assert f'<p dir="auto"><b>Lead</b> {LATE}</p><p dir="auto"><b>Rater</b> {LATE}</p>' in page
    address = reverse("reviews:guideline_draft", args=[slug, queue.guideline.uid])
    assert client.post(address, {"text": TEXT}).status_code == 422
    made = client.post(address, {"text": CHANGED, "touched": [rows(queue)[0].uid], "line": "1"})
    assert made.url == reverse("reviews:guideline_change", args=[slug, queue.guideline.changes.get().uid])
