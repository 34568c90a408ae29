"""Asking and answering on pages: nothing is lost, nothing is told, and a note stands where everybody reads it."""

import re
from html import unescape

import pytest

from reviews.actions.dealing import claim, release
from reviews.actions.judging import save_draft, submit
from reviews.actions.questions import answer, ask, publish
from reviews.models import Draft, Guideline, Project, Question
from tests import factories as make
from tests.reviews.web.test_judging import HTMX, enter

pytestmark = pytest.mark.django_db


@pytest.fixture
def queue(project):
    return make.queue(project, items=2)


@pytest.fixture
def mine(queue, alice):
    return claim(actor=alice, queue=queue)


@pytest.fixture
def question(mine, alice):
    return ask(actor=alice, uid=mine.uid, about="step", place=3, text="Was this account the requester's own?")


def send(client, mine, **form):
    return client.post(f"/assignments/{mine.uid}/questions/", form, headers=HTMX)


def read(client, address, status=200):
    response = client.get(address)
    assert response.status_code == status
    return unescape(response.content.decode())


# --- Raters -----------------------------------------------------------------------------------------------------------
def test_a_question_is_sent_and_the_answer_is_her_questions_on_this_item(mine, alice):
    save_draft(actor=alice, uid=mine.uid, data={"confidence": 2}, version=0)
    page = unescape(send(enter(alice), mine, text="Is it hers?", about="policy-1", step="").content.decode())
    assert page.strip().startswith('<section id="asked"')
    assert "Policy, line 1" in page
    assert "Is it hers?" in page
    assert "A lead has it." in page
    assert Draft.objects.get().data == {"confidence": 2}


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"text": "", "about": "item"}, "Write your question"),
        ({"text": "Why?", "about": "step", "step": "99"}, "This run has the steps 1 to 4."),
        ({"text": "Why?", "about": "step", "step": "x"}, "This run has the steps 1 to 4."),
        ({"text": "Why?", "about": "policy-9"}, "The policy has 2 lines"),
        ({"text": "Why?", "about": "weather-1"}, "is about one of"),
    ],
)
def test_with_a_mistake_the_form_comes_back_with_what_was_entered(mine, alice, form, words):
    response = send(enter(alice), mine, **form)
    page = unescape(response.content.decode())
    assert (response.status_code, response.headers["HX-Retarget"]) == (422, "#ask-form")
    assert words in page
    assert f">{form['text']}</textarea>" in page


def test_an_item_that_is_gone_is_said_in_the_form(mine, alice):
    release(actor=alice, uid=mine.uid)
    response = send(enter(alice), mine, text="Why?", about="item")
    assert response.status_code == 422
    assert "You gave this item back." in response.content.decode()


def test_without_script_the_answer_is_a_page_of_its_own(mine, alice):
    response = enter(alice).post(f"/assignments/{mine.uid}/questions/", {"text": "Why?", "about": "item"})
    assert "Your question is sent" in response.content.decode()
    page = read(enter(alice), f"/assignments/{mine.uid}/")
    assert re.search(r'<form id="ask-form"[^>]* target="_blank"', page)


def test_the_answer_stands_on_the_item_on_the_first_page_and_in_the_list(mine, alice, lead, question):
    client = enter(alice)
    assert "A lead has it." in read(client, "/")
    answer(actor=lead, uid=question.uid, text="By the record, yes.")
    for address in (f"/assignments/{mine.uid}/", "/", "/questions/"):
        assert "By the record, yes." in read(client, address)
    submit(actor=alice, uid=mine.uid, payload=make.passing(), idempotency_key="k")
    assert "By the record, yes." in read(client, f"/assignments/{mine.uid}/run/")


def test_no_other_rater_reads_the_question_anywhere(project, queue, mine, question, lead):
    answer(actor=lead, uid=question.uid, text="By the record, yes.")
    bob = make.expert(project, "Bob")
    theirs = claim(actor=bob, queue=queue)
    assert theirs.item == mine.item
    client = enter(bob)
    for address in ("/", "/questions/", f"/assignments/{theirs.uid}/", f"/queues/{queue.uid}/judge/", "/judgments/"):
        page = read(client, address)
        assert "own?" not in page
        assert "By the record" not in page
        assert "Alice" not in page
    for address in (f"/assignments/{mine.uid}/run/", f"/projects/{project.slug}/questions/{question.uid}/"):
        assert client.get(address).status_code in (403, 404)


def test_a_note_is_read_at_its_line_by_everybody_and_says_nothing_of_who_asked(project, queue, mine, alice, lead):
    for about, words in (("guideline", "Late is after the promised day."), ("policy", "Shared accounts count.")):
        asked = ask(actor=alice, uid=mine.uid, about=about, place=1, text=f"What of {about}?")
        publish(actor=lead, uid=asked.uid, text=words, about=about, line=1)
    bob = make.expert(project, "Bob")
    theirs = claim(actor=bob, queue=queue)
    page = read(enter(bob), f"/assignments/{theirs.uid}/")
    line = page.rindex("Judge what was done, not the tone.")
    assert 0 < page.index("Late is after the promised day.") - line < 600
    assert 0 < page.index("Shared accounts count.") - page.index("Read only accounts the requester owns.") < 900
    assert "Guideline, <span" in page
    assert "2 notes" in page
    assert "Alice" not in page
    assert "What of" not in page
    assert "Late is after" in read(enter(bob), f"/queues/{queue.uid}/judge/")


def test_a_question_and_its_answer_are_text_and_never_markup(project, mine, alice, lead):
    asked = ask(actor=alice, uid=mine.uid, about="item", text="<script>alert(1)</script>")
    publish(actor=lead, uid=asked.uid, text="<img src=x onerror=alert(2)>", about="guideline", line=1)
    pages = [enter(alice).get(f"/assignments/{mine.uid}/"), enter(alice).get("/")]
    pages += [
        enter(lead).get(f"/projects/{project.slug}/questions/"),
        enter(lead).get(f"/queues/{mine.queue.uid}/judge/"),
    ]
    for page in pages:
        assert b"<script>alert" not in page.content
        assert b"<img src=x" not in page.content


# --- Leads ------------------------------------------------------------------------------------------------------------
def test_a_lead_finds_open_questions_and_answers_one_after_the_other(project, mine, alice, lead, question):
    ask(actor=alice, uid=mine.uid, about="item", text="And the tone?")
    client = enter(lead)
    assert "2 questions" in read(client, "/")
    assert "2 questions wait for an answer." in read(client, f"/projects/{project.slug}/")
    listed = read(client, f"/projects/{project.slug}/questions/")
    assert listed.index("own?") < listed.index("And the tone?")
    address = f"/projects/{project.slug}/questions/{question.uid}/"
    assert 'href="#step-3"' in read(client, address)
    following = client.post(address, {"text": "Yes.", "to": "asker"}, follow=True)
    page = unescape(following.content.decode())
    assert "Answered. It is on the first page of whoever asked." in page
    assert "And the tone?" in page
    assert Question.objects.get(pk=question.pk).answer == "Yes."


def test_the_lead_reads_neither_who_asked_nor_what_became_of_the_item(project, lead, question):
    for address in (f"/projects/{project.slug}/questions/", f"/projects/{project.slug}/questions/{question.uid}/"):
        page = read(enter(lead), address)
        for word in ("Alice", "secret-model-9", "ettled", "collecting", "Reward"):
            assert word not in page


def test_publishing_needs_a_line_and_may_not_repeat_the_run(project, lead, question):
    client, address = enter(lead), f"/projects/{project.slug}/questions/{question.uid}/"
    form = {"text": "Account A-5071 is a stranger's.", "to": "everybody", "place": ""}
    page = client.post(address, form)
    text = unescape(page.content.decode())
    assert page.status_code == 422
    assert "Choose the line" in text
    assert "The note repeats this run (“a-5071”)." in text
    assert "Account A-5071 is a stranger's.</textarea>" in text
    said = client.post(address, {"text": "Look who owns it.", "to": "everybody", "place": "policy-1"}, follow=True)
    assert "everybody reads it at policy line 1" in said.content.decode()


def test_answering_what_another_lead_has_answered_loses_no_word(project, lead, question):
    second = make.person("Charlie")
    make.member(project, second, "lead")
    answer(actor=second, uid=question.uid, text="Yes.")
    page = enter(lead).post(f"/projects/{project.slug}/questions/{question.uid}/", {"text": "No.", "to": "asker"})
    text = unescape(page.content.decode())
    assert page.status_code == 422
    assert "Somebody answered this question while you wrote." in text
    assert "No.</textarea>" in text
    assert "Yes." in text


def test_a_lead_who_judges_the_item_is_sent_to_another_lead(project, queue, lead, mine, question):
    assert claim(actor=lead, queue=queue).item == mine.item
    address = f"/projects/{project.slug}/questions/{question.uid}/"
    page = enter(lead).get(address)
    assert page.status_code == 403
    assert "another lead answers" in page.content.decode()
    assert "1 more is about items that you judge yourself" in read(enter(lead), f"/projects/{project.slug}/questions/")


def test_only_leads_of_the_project_have_the_inbox(project, alice, question):
    foreign = make.project()
    charlie = make.lead_of(foreign)
    assert enter(alice).get(f"/projects/{project.slug}/questions/").status_code == 403
    assert enter(charlie).get(f"/projects/{project.slug}/questions/").status_code == 404
    assert enter(charlie).get(f"/projects/{foreign.slug}/questions/{question.uid}/").status_code == 404


def test_notes_go_into_the_next_version_from_its_page(project, queue, lead, mine, alice, question):
    publish(actor=lead, uid=question.uid, text="Look who owns it.", about="guideline", line=1)
    other = ask(actor=alice, uid=mine.uid, about="policy", place=2, text="In writing?")
    publish(actor=lead, uid=other.uid, text="By any means.", about="policy", line=2)
    client, old = enter(lead), queue.guideline
    page = read(client, f"/projects/{project.slug}/guidelines/{old.uid}/")
    assert "Next version with 2 notes" in page
    assert "By any means." in page
    address = f"/projects/{project.slug}/guidelines/new/?from={old.uid}&fold=1"
    editor = read(client, address)
    assert "Judge what was done, not the tone.\nNote: Look who owns it." in editor
    assert "- Policy, line 2: By any means." in editor
    notes = re.findall(r'name="notes" value="([^"]+)"', editor)
    assert len(notes) == 2
    late = ask(actor=alice, uid=mine.uid, about="item", text="And late?")
    publish(actor=lead, uid=late.uid, text="After the promised day.", about="guideline", line=1)
    client.post(address, {"name": old.name, "text": "Judge. Look who owns it.", "notes": notes, "do": "save"})
    new = Guideline.objects.get(project=project, name=old.name, version=old.version + 1)
    assert new.folded_notes.count() == 2
    assert "Next version with 1 note<" in read(client, f"/projects/{project.slug}/guidelines/{old.uid}/")
    again = client.post(address, {"name": old.name, "text": "Judge.", "notes": notes, "do": "save"})
    assert again.status_code == 422
    assert "another version meanwhile" in again.content.decode()


def test_a_lead_turns_the_digest_off_and_reads_what_it_costs(project, lead, alice):
    client, address = enter(lead), f"/projects/{project.slug}/digest/"
    assert "It uses gold up" in read(client, f"/projects/{project.slug}/questions/")
    client.post(address, {"shown": "no"})
    assert not Project.objects.get(pk=project.pk).digest
    assert "What leads decided differently" not in read(enter(alice), "/")
    assert "This page is turned off" in read(enter(alice), "/decisions/")
    assert enter(alice).post(address, {"shown": "yes"}).status_code == 403
