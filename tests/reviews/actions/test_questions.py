"""Questions and answers: asked from the item in hand, answered by a lead who does not judge it, noted for everybody."""

import pytest

from reviews.actions.dealing import claim, expire_leases, release, skip
from reviews.actions.judging import save_draft, submit
from reviews.actions.questions import answer, ask, publish, set_digest
from reviews.actions.rubrics import write_guideline
from reviews.errors import Conflict, Forbidden, Invalid, NotFound
from reviews.models import Event, GuidelineNote, Membership, Question
from reviews.queries.listings import events_of
from reviews.queries.questions import all_notes, asked_on, inbox, notes_of, notes_to_fold, own_questions, question_page
from tests import factories as make
from tests.reviews.api.talking import by

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


def test_a_question_leaves_item_and_draft_in_the_raters_hands(mine, alice):
    draft = save_draft(actor=alice, uid=mine.uid, data={"confidence": 2}, version=0)
    before = mine.expires_at
    question = ask(actor=alice, uid=mine.uid, about="item", text="  Does late mean after the promised day?\r\n")
    assert (question.text, question.state) == ("Does late mean after the promised day?", "open")
    mine.refresh_from_db()
    draft.refresh_from_db()
    assert (mine.state, draft.data, draft.version) == ("leased", {"confidence": 2}, 1)
    assert mine.expires_at > before
    submit(actor=alice, uid=mine.uid, payload=make.passing(), idempotency_key="k")
    assert own_questions(alice).get() == question


@pytest.mark.parametrize("end", [release, lambda **who: skip(reason="conflict", **who)])
def test_whoever_has_asked_may_give_back_or_skip(mine, alice, question, end):
    end(actor=alice, uid=mine.uid)
    answer(actor=make.lead_of(mine.queue.project), uid=question.uid, text="Yes, by the record.")
    assert own_questions(alice).get().answer == "Yes, by the record."


def test_the_same_question_twice_is_one(mine, alice):
    first, again = (ask(actor=alice, uid=mine.uid, about="item", text="What is late?") for _ in range(2))
    assert first == again
    assert ask(actor=alice, uid=mine.uid, about="step", place=1, text="What is late?") != first
    assert Event.objects.filter(verb="question.asked").count() == 2


@pytest.mark.parametrize(
    ("about", "place", "field", "words"),
    [
        ("step", 5, "place", "steps 1 to 4"),
        ("step", None, "place", "which step or line"),
        ("step", True, "place", "which step or line"),
        ("policy", 3, "place", "The policy has 2 lines"),
        ("guideline", 2, "place", "The guideline has 1 lines"),
        ("item", 1, "place", "has no place"),
        ("weather", None, "about", "is about one of"),
    ],
)
def test_a_question_is_about_something_that_is_there(mine, alice, about, place, field, words):
    with pytest.raises(Invalid) as refused:
        ask(actor=alice, uid=mine.uid, about=about, place=place, text="Why?")
    assert words in refused.value.errors[field]


@pytest.mark.parametrize("text", ["", "  ", "x" * 2001, "a\x00b", None, 7])
def test_a_question_is_text(mine, alice, text):
    with pytest.raises(Invalid, match="Write your question"):
        ask(actor=alice, uid=mine.uid, about="item", text=text)


def test_nobody_asks_about_what_is_not_in_their_hands(project, queue, mine, alice):
    with pytest.raises(NotFound):
        ask(actor=make.expert(project, "Bob"), uid=mine.uid, about="item", text="Why?")
    release(actor=alice, uid=mine.uid)
    with pytest.raises(Conflict, match="gave this item back"):
        ask(actor=alice, uid=mine.uid, about="item", text="Why?")


def test_after_a_lease_ran_out_a_question_can_still_be_asked(mine, alice):
    mine.refresh_from_db()
    expire_leases(now=mine.expires_at.replace(year=mine.expires_at.year + 1))
    assert ask(actor=alice, uid=mine.uid, about="item", text="Why?").state == "open"


def test_twenty_questions_on_one_item_are_enough(mine, alice):
    for number in range(20):
        ask(actor=alice, uid=mine.uid, about="item", text=f"Question {number}")
    with pytest.raises(Conflict, match="20 questions"):
        ask(actor=alice, uid=mine.uid, about="item", text="One more")


# --- Answers ----------------------------------------------------------------------------------------------------------
def test_a_lead_answers_once(question, lead):
    answer(actor=lead, uid=question.uid, text="Yes.")
    answer(actor=lead, uid=question.uid, text="Yes.")
    with pytest.raises(Conflict, match="while you wrote"):
        answer(actor=lead, uid=question.uid, text="No.")
    question.refresh_from_db()
    assert (question.state, question.answer, question.answered_by) == ("answered", "Yes.", lead)
    assert Event.objects.filter(verb="question.answered").count() == 1


def test_only_leads_of_the_project_answer(project, question, alice):
    for other in (alice, make.expert(project, "Bob"), make.expert(project, "Eli")):
        with pytest.raises(Forbidden, match="Only leads"):
            answer(actor=other, uid=question.uid, text="Yes.")
    with pytest.raises(NotFound):
        answer(actor=make.lead_of(make.project()), uid=question.uid, text="Yes.")


def test_a_lead_neither_reads_nor_answers_a_question_on_what_they_judge(project, queue, lead, mine, question):
    second = make.person("Charlie")
    make.member(project, second, "lead")
    assert inbox(project, lead).open == [question]
    assert claim(actor=lead, queue=queue).item == mine.item
    found = inbox(project, lead)
    assert (found.open, found.for_another) == ([], 1)
    with pytest.raises(Forbidden, match="another lead answers"):
        answer(actor=lead, uid=question.uid, text="Yes.")
    assert inbox(project, second).open == [question]


def test_the_oldest_open_question_comes_first_and_answered_ones_apart(project, queue, lead, mine, alice, question):
    later = ask(actor=alice, uid=mine.uid, about="item", text="And now?")
    assert inbox(project, lead).open == [question, later]
    answer(actor=lead, uid=question.uid, text="Yes.")
    found = inbox(project, lead)
    assert (found.open, list(found.answered)) == ([later], [question])


def test_who_asked_stays_out_of_the_log_for_leads(project, lead, question):
    answer(actor=lead, uid=question.uid, text="Yes.")
    admin = Membership.objects.get(project=project, role="admin").user
    assert not events_of(project, reader=lead).filter(verb="question.asked").exists()
    assert events_of(project, reader=lead).filter(verb="question.answered", actor=lead).exists()
    assert events_of(project, reader=admin).filter(verb="question.asked").exists()


# --- Notes ------------------------------------------------------------------------------------------------------------
def test_a_note_stands_at_its_line_and_answers_the_question(project, queue, lead, question):
    note = publish(actor=lead, uid=question.uid, text="Late is after\nthe promised day.", about="guideline", line=1)
    assert (note.text, note.guideline, note.policy) == ("Late is after the promised day.", queue.guideline, None)
    question.refresh_from_db()
    assert (question.state, question.answer) == ("answered", note.text)
    assert notes_of(queue.guideline, None).guideline == {1: [note]}
    assert publish(actor=lead, uid=question.uid, text=note.text, about="guideline", line=1) == note
    with pytest.raises(Conflict, match="a note on this question already"):
        publish(actor=lead, uid=question.uid, text="Another.", about="guideline", line=1)


def test_a_note_on_the_policy_is_read_beside_runs_with_that_policy_only(queue, lead, question):
    policy = question.assignment.item.trajectory.policy
    note = publish(actor=lead, uid=question.uid, text="Shared accounts count.", about="policy", line=1)
    assert notes_of(queue.guideline, policy).policy == {1: [note]}
    assert notes_of(queue.guideline, None).count == 0


def test_what_was_answered_to_one_can_still_be_noted_for_all(queue, lead, question):
    answer(actor=lead, uid=question.uid, text="Yes, step 3 shows it.")
    note = publish(actor=lead, uid=question.uid, text="Look at who owns it.", about="guideline", line=1)
    question.refresh_from_db()
    assert question.answer == "Yes, step 3 shows it."
    assert all_notes(queue.guideline) == [note]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("As Alice asked: late is late.", "names who asked"),
        ("As in step 3, look at the owner.", "“step 3”"),
        ("Somebody who says my order came a week late may be paid.", "“my order came a week late”"),
        ("An account such as A-5071 is not theirs.", "“a-5071”"),
    ],
)
def test_a_note_gives_away_neither_the_asker_nor_the_run(lead, question, text, why):
    with pytest.raises(Invalid) as refused:
        publish(actor=lead, uid=question.uid, text=text, about="guideline", line=1)
    assert why in refused.value.errors["text"]
    assert not GuidelineNote.objects.exists()
    assert Question.objects.get().state == "open"


def test_a_note_may_repeat_the_policy(lead, question):
    words = "“Get a yes before any action that changes money” holds for refunds."
    assert publish(actor=lead, uid=question.uid, text=words, about="policy", line=2).line == 2


@pytest.mark.parametrize(("about", "line"), [("guideline", 2), ("policy", 0), ("step", 1), ("item", 1), ("", 1)])
def test_a_note_stands_at_a_line_that_is_there(lead, question, about, line):
    with pytest.raises(Invalid) as refused:
        publish(actor=lead, uid=question.uid, text="Yes.", about=about, line=line)
    assert "Choose the line" in refused.value.errors["line"]


def test_notes_go_into_the_next_version_once(project, queue, lead, question):
    note = publish(actor=lead, uid=question.uid, text="Late is late.", about="guideline", line=1)
    old = queue.guideline
    assert notes_to_fold(old) == [note]
    new = write_guideline(actor=lead, project=project, name=old.name, text="Judge. Late is late.", notes=[note.uid])
    note.refresh_from_db()
    assert (note.folded_into, new.version) == (new, old.version + 1)
    assert notes_to_fold(old) == []
    assert notes_of(old, None).guideline == {1: [note]}
    assert notes_of(new, None).count == 0
    with pytest.raises(Conflict, match="another version meanwhile"):
        write_guideline(actor=lead, project=project, name=old.name, text="Judge.", notes=[note.uid])
    assert project.guidelines.filter(name=old.name).count() == 2


def test_a_note_goes_only_into_its_own_guideline(project, queue, lead, question):
    note = publish(actor=lead, uid=question.uid, text="Late is late.", about="guideline", line=1)
    with pytest.raises(Invalid, match="no notes on an earlier version"):
        write_guideline(actor=lead, project=project, name="Another", text="Judge.", notes=[note.uid])
    assert not project.guidelines.filter(name="Another").exists()


def test_a_lead_says_whether_raters_read_decisions(project, lead, alice):
    assert project.digest
    set_digest(actor=lead, project=project, shown=False)
    set_digest(actor=lead, project=project, shown=False)
    project.refresh_from_db()
    assert not project.digest
    assert Event.objects.filter(project=project, verb="digest.changed").count() == 1
    with pytest.raises(Forbidden, match="Only leads"):
        set_digest(actor=alice, project=project, shown=True)


def test_a_question_on_a_step_of_one_of_several_runs_says_whose(project, alice, lead):
    pair = make.comparison(project, [make.item(project), make.item(project, steps=make.STEPS[:3])])
    criteria = [{"key": "better", "title": "Better", "kind": "preference", "settings": {"form": "pair"}}]
    queue = make.queue(project, items=[pair], criteria=criteria, rubric={"item_kind": "comparison"})
    mine = claim(actor=alice, queue=queue)
    long, short = mine.candidate_order.index(1) + 1, mine.candidate_order.index(2) + 1
    asked = {"actor": alice, "uid": mine.uid, "about": "step", "text": "Why?"}
    for wrong in ({"place": 4}, {"place": 4, "candidate": 3}, {"place": 4, "candidate": short}):
        with pytest.raises(Invalid) as refused:
            ask(**asked, **wrong)
        assert set(refused.value.errors) <= {"candidate", "place"}
    question = ask(**asked, place=4, candidate=long)
    assert question.candidate == 1
    assert asked_on(mine)[0].place == f"Step 4 of {'AB'[long - 1]}"
    assert question_page(question).place == "Step 4 of A"
    told = by(alice).get(f"/api/v1/assignments/{mine.uid}/questions/").json()["results"][0]
    assert told["candidate"] == long
    told = by(lead).get(f"/api/v1/projects/{project.slug}/questions/").json()["results"][0]
    assert told["candidate"] == 1
