"""Where leads answer first, nothing names an item by what its raters said before the lead has said it themselves."""

import pytest
from django.urls import reverse

from goldsets.models import RationaleFlag
from reviews.actions.adjudicating import answer_first
from reviews.actions.auditing import audit_verdicts, show_verdicts
from reviews.actions.queueing import change_queue
from reviews.actions.scoring import post_scores
from reviews.enums import Role
from reviews.models import Judgment, QueueItem
from tests import factories as make
from tests.factories.furnished import judge
from tests.reviews.api.talking import by
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db

FOUND = {"grader": "judge", "right": False, "evidence": [], "note": "It was their own account."}
OWN = {name: make.passing(process=1)[name] for name in ("gates", "criteria")}


@pytest.fixture
def queue(project, lead):
    """Alice and Bob agree on twelve runs. On one more they differ, words are flagged, and a grader is objected to."""
    queue = make.queue(project, items=13, overlap=2, rubric={"audits": True})
    alice, bob = make.expert(project, "Alice"), make.expert(project, "Bob")
    for n in range(12):
        for rater in (alice, bob):
            judge(queue, rater, make.passing(process=n % 3))
    (last,) = queue.queue_items.filter(state="collecting")
    post_scores(actor=lead, project=project, scores=[{"item": last.item.uid, "grader": "judge", "value": 0}])
    said = judge(queue, alice, make.passing(process=0, rationale="Nobody was asked."))
    judge(queue, bob, make.passing(process=2))
    show_verdicts(actor=alice, uid=said.assignment.uid)
    audit_verdicts(actor=alice, uid=said.assignment.uid, payload={"verdicts": [FOUND]})
    RationaleFlag.objects.create(judgment=said, probability=0.9, fitted=26, families=3)
    change_queue(actor=lead, queue=queue, lead_answers_first=True)
    return queue


def read(answer):
    assert answer.status_code == 200
    return answer.content.decode()


def naming(queue, lead):
    """By surface, whether it names the item or what was said of it."""
    row = QueueItem.objects.select_related("item").get(queue=queue, state="waiting")
    title, uid, client = str(row.item.subject), str(row.item.uid), enter(lead)

    def page(name, query=""):
        return read(client.get(reverse(name, args=[queue.uid]) + query))

    def api(rest):
        return read(by(lead).get(f"/api/v1/queues/{queue.uid}/{rest}"))

    return {
        "those that differ": title in page("goldsets:behind", "?criterion=process"),
        "one confusion": title in page("goldsets:behind", "?criterion=process&mixed=0"),
        "the unsure": title in page("goldsets:behind", "?criterion=process&unsure=1"),
        "rationales": "Nobody was asked." in page("goldsets:rationales"),
        "graders checked": "It was their own account." in page("reviews:verdicts_checked"),
        "on what they differ": '<span class="tag">Process' in page("reviews:disagreements"),
        "agreement by API": uid in api("agreement/"),
        "consensus by API": uid in api("agreement/consensus/?criterion=process"),
        "rationales by API": uid in api("rationales/"),
        "graders checked by API": "It was their own account." in api("verdicts/"),
    }


def test_nothing_names_an_item_that_the_lead_is_to_answer_first(queue, lead):
    found = naming(queue, lead)
    assert [surface for surface, names in found.items() if names] == []
    page = read(enter(lead).get(reverse("goldsets:behind", args=[queue.uid]) + "?criterion=process"))
    assert "1 more: leads answer first here." in page


def test_everything_does_once_they_have_and_for_nobody_else(queue, lead):
    other = make.person("Lou")
    make.member(queue.project, other, Role.LEAD)
    answer_first(actor=lead, queue_item=QueueItem.objects.get(queue=queue, state="waiting"), payload=OWN)
    assert [surface for surface, names in naming(queue, lead).items() if not names] == []
    assert [surface for surface, names in naming(queue, other).items() if names] == []


def test_where_leads_do_not_answer_first_all_is_told(queue, lead):
    change_queue(actor=lead, queue=queue, lead_answers_first=False)
    assert [surface for surface, names in naming(queue, lead).items() if not names] == []
    assert Judgment.objects.filter(queue=queue).count() == 26
