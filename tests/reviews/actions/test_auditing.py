"""Raters check what graders said of a run: after their own answer, never before; what they were shown is kept."""

import pytest
from django.db import DatabaseError, transaction
from django.test import Client

from reviews.actions.auditing import audit_verdicts, show_verdicts
from reviews.actions.correcting import correct
from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.actions.scoring import post_scores
from reviews.errors import Conflict, Invalid, NotFound
from reviews.models import VerdictAudit, VerdictsShown
from reviews.queries.auditing import checked
from tests import factories as make
from tests.reviews.api.talking import by, is_problem

pytestmark = pytest.mark.django_db

CITED = [{"step": 3, "quote": "A-5071"}, {"step": 4, "quote": "A refund of $64.20"}]
FOUND = {"grader": "judge", "right": False, "evidence": [True, False], "note": "It was their own account."}


@pytest.fixture
def queue(project):
    made = make.queue(project, items=2, overlap=1, rubric={"audits": True})
    scores = [
        {"item": row.item.uid, "grader": "judge", "value": 0, "explanation": "A stranger's account.", "evidence": CITED}
        for row in made.queue_items.all()
    ]
    receipts = post_scores(actor=make.lead_of(project), project=project, scores=scores)
    assert {receipt.status for receipt in receipts} == {"created"}
    return made


def judged(queue, rater, key="k"):
    mine = claim(actor=rater, queue=queue)
    submit(actor=rater, uid=mine.uid, payload=make.passing(), idempotency_key=key)
    return mine


def test_nothing_of_a_verdict_comes_before_the_answer(queue, alice):
    mine = claim(actor=alice, queue=queue)
    with pytest.raises(Conflict, match="Judge the run first"):
        show_verdicts(actor=alice, uid=mine.uid)
    browser = Client()
    browser.force_login(alice)
    for place in ("", "verdicts/", "run/"):
        assert b"stranger" not in browser.get(f"/assignments/{mine.uid}/{place}").content
    assert "stranger" not in str(by(alice).get(f"/api/v1/assignments/{mine.uid}/").json())
    assert not VerdictsShown.objects.exists()


def test_what_was_shown_is_kept_and_the_judgment_stays_as_it_is(project, queue, alice):
    mine = judged(queue, alice)
    shown = show_verdicts(actor=alice, uid=mine.uid)
    verdict = {"grader": "judge", "value": 0, "explanation": "A stranger's account.", "evidence": CITED}
    assert shown.verdicts == [verdict]
    later = {"item": mine.item.uid, "grader": "judge", "value": 1, "explanation": ""}
    post_scores(actor=make.lead_of(project), project=project, scores=[later])
    assert show_verdicts(actor=alice, uid=mine.uid) == shown
    with pytest.raises(Conflict, match="have read what graders said"):
        correct(actor=alice, uid=mine.uid, payload=make.passing(0), idempotency_key="c", seen_revision=1)


def test_the_first_page_tells_what_is_left_to_check(queue, alice):
    browser, words = Client(), "You have not checked yet what graders said of {} you judged."
    browser.force_login(alice)
    assert "what graders said" not in browser.get("/").content.decode()
    mine, other = judged(queue, alice), judged(queue, alice, key="k2")
    page = browser.get("/").content.decode()
    assert words.format("2 items") in page
    assert f"/assignments/{mine.uid}/verdicts/" in page
    show_verdicts(actor=alice, uid=mine.uid)
    audit_verdicts(actor=alice, uid=mine.uid, payload={"verdicts": [FOUND]})
    page = browser.get("/").content.decode()
    assert words.format("1 item") in page
    assert f"/assignments/{other.uid}/verdicts/" in page


def test_until_it_is_shown_the_judgment_can_be_corrected(queue, alice):
    mine = judged(queue, alice)
    assert correct(actor=alice, uid=mine.uid, payload=make.passing(0), idempotency_key="c", seen_revision=1).created


def test_what_a_rater_found_is_kept_once_and_another_word_beside_it(queue, alice):
    mine = judged(queue, alice)
    with pytest.raises(Conflict, match="first"):
        audit_verdicts(actor=alice, uid=mine.uid, payload={"verdicts": [FOUND]})
    show_verdicts(actor=alice, uid=mine.uid)
    for _ in range(2):
        (audit,) = audit_verdicts(actor=alice, uid=mine.uid, payload={"verdicts": [FOUND]})
    assert (audit.right, audit.evidence, audit.note, audit.revision) == (False, [True, False], FOUND["note"], 1)
    (again,) = audit_verdicts(actor=alice, uid=mine.uid, payload={"verdicts": [{**FOUND, "right": True}]})
    assert again.revision == 2
    assert VerdictAudit.objects.count() == 2
    with pytest.raises(DatabaseError), transaction.atomic():
        VerdictAudit.objects.update(right=True)


@pytest.mark.parametrize(
    ("rows", "field"),
    [
        ([], "verdicts"),
        ("all of them", "verdicts"),
        ([{**FOUND, "grader": "nobody"}], "verdicts.0.grader"),
        ([{**FOUND, "right": None}], "verdicts.0.right"),
        ([{**FOUND, "right": 1}], "verdicts.0.right"),
        ([{**FOUND, "evidence": [True]}], "verdicts.0.evidence"),
        ([{**FOUND, "evidence": [True, "no"]}], "verdicts.0.evidence"),
        ([{**FOUND, "gold": True}], "verdicts.0.gold"),
        ([FOUND, FOUND], "verdicts.1.grader"),
    ],
)
def test_half_an_answer_is_refused_with_the_field_named(queue, alice, rows, field):
    mine = judged(queue, alice)
    show_verdicts(actor=alice, uid=mine.uid)
    with pytest.raises(Invalid) as refused:
        audit_verdicts(actor=alice, uid=mine.uid, payload={"verdicts": rows})
    assert list(refused.value.errors) == [field]
    assert not VerdictAudit.objects.exists()


def test_verdicts_are_shown_to_whoever_judged_the_run_and_nobody_else(project, queue, alice):
    mine = judged(queue, alice)
    place = f"/api/v1/assignments/{mine.uid}/verdicts/"
    for other in (make.expert(project, "Bob"), make.lead_of(project)):
        assert {by(other).get(place).status_code, by(other).post(place).status_code} == {404}
    assert not VerdictsShown.objects.exists()


def test_a_rubric_that_does_not_ask_for_it_shows_nothing(project, alice):
    mine = judged(make.queue(project, items=1, overlap=1), alice)
    with pytest.raises(NotFound):
        show_verdicts(actor=alice, uid=mine.uid)


def test_by_page_from_the_submission_to_the_next_item(queue, alice):
    mine = claim(actor=alice, queue=queue)
    browser = Client()
    browser.force_login(alice)
    form = {"gates.authorised": "pass", "gates.consent": "pass", "criteria.success": "3", "criteria.process": "2"}
    sent = browser.post(f"/assignments/{mine.uid}/submit/", form | {"confidence": "3"})
    place = f"/assignments/{mine.uid}/verdicts/"
    assert sent["Location"] == place
    assert b"Show what graders said" in browser.get(place).content
    assert browser.post(place)["Location"] == place
    page = browser.get(place).content.decode()
    assert "A stranger&#x27;s account." in page
    assert "A refund of $64.20" in page
    refused = browser.post(place, {"right.0": "no", "valid.0.0": "yes"})
    assert refused.status_code == 422
    assert "Say of each of the 2 places" in refused.content.decode()
    whole = {"right.0": "no", "valid.0.0": "yes", "valid.0.1": "no", "note.0": "It was their own."}
    assert browser.post(place, whole)["Location"] == place
    assert VerdictAudit.objects.get().evidence == [True, False]
    assert "Next item" in browser.get(place).content.decode()


def test_by_the_api_and_what_leads_read_of_it(project, queue, alice):
    client, lead = by(alice), by(make.lead_of(project))
    for right in (True, False):
        mine = judged(queue, alice)
        place = f"/api/v1/assignments/{mine.uid}/verdicts/"
        assert client.get(place).status_code == 404
        shown = client.post(place).json()
        assert shown["verdicts"][0]["evidence"] == CITED
        found = {"verdicts": [{**FOUND, "right": right}]}
        assert client.put(place, found, format="json").json()["audits"][0]["right"] is right
        is_problem(client.put(place, {"verdicts": []}, format="json"), 422)
    told = lead.get(f"/api/v1/queues/{queue.uid}/verdicts/").json()
    (grader,) = told["graders"]
    assert (told["n_shown"], told["n_audited"], grader["grader"]) == (2, 2, "judge")
    # One of two verdicts right and two of four places valid: Wilson's intervals, by hand.
    assert (grader["right"]["value"], round(grader["right"]["low"], 4), round(grader["right"]["high"], 4)) == (
        0.5, 0.0945, 0.9055,
    )  # fmt: skip
    assert (grader["valid"]["value"], grader["valid"]["n_units"]) == (0.5, 4)
    assert [row["note"] for row in grader["wrong"]] == [FOUND["note"]] * 2
    browser = Client()
    browser.force_login(make.lead_of(project))
    page = browser.get(f"/queues/{queue.uid}/verdicts/").content.decode()
    assert "0.50" in page
    assert "It was their own account." in page
    assert checked(queue, reader=make.lead_of(project)).n_audited == 2


def test_a_score_that_cites_a_step_that_is_not_there_is_refused(project):
    item = make.item(project)
    score = {"item": item.uid, "grader": "judge", "value": 0, "evidence": [{"step": 9, "quote": ""}]}
    (receipt,) = post_scores(actor=make.lead_of(project), project=project, scores=[score])
    assert receipt.status == "refused"
    assert receipt.reason == "The evidence cites a step that is not there: the run has steps 1 to 4."
