"""Masks as people meet them: no hidden word reaches a rater, at no address; leads read everything, marked."""

import json

import pytest
from django.test import Client
from django.urls import reverse

from reviews.actions.dealing import claim
from reviews.actions.judging import save_draft, submit
from reviews.actions.masking import set_masking, try_masking
from reviews.errors import Forbidden, Invalid
from reviews.models import Event, Evidence, Masking
from reviews.trajectories.schema import Attachment, Step, ToolCall, ToolResult
from tests import factories as make
from tests.reviews.api.talking import by as talk

pytestmark = pytest.mark.django_db

WORD = "Zorblax"
STEPS = (
    Step(role="user", text=f"Are you {WORD}? My order came late.", note=f"by {WORD}"),
    Step(role="agent", text=f"I am {WORD}-7 and I **will** look.", reasoning=f"{WORD} thinks"),
    Step(
        role="tool",
        call=ToolCall(
            id="c1",
            name=f"{WORD}_lookup",
            arguments_text=json.dumps({f"{WORD}_id": "A-5071", "who": [WORD, {"deep": WORD}]}),
            arguments={f"{WORD}_id": "A-5071", "who": [WORD, {"deep": WORD}]},
        ),
        result=ToolResult(text=f"{WORD} says hi\n" * 400),
        attachments=(Attachment(kind="image", note=f"a picture of {WORD}", raw=f'{{"alt": "{WORD}"}}'),),
    ),
    Step(role="agent", text=f"Yours, {WORD.upper()}."),
)
TOOLS = (
    {"name": f"{WORD}_lookup", "description": f"{WORD} looks", "parameters": {"type": "object", "properties": {}}},
)


@pytest.fixture
def desk():
    project = make.project()
    item = make.item(project, steps=STEPS, tools=TOOLS, model="zorblax-7")
    task = item.run.task
    task.title, task.context = f"{WORD} refunds", {"request": f"{WORD}, pay!", "requester": {f"{WORD} user": WORD}}
    task.save()
    queue = make.queue(project, items=[item], rubric={"correction": "offered"})
    return project, item, queue


def hide(project, **rules):
    return set_masking(actor=make.lead_of(project), project=project, **(rules or {"words": [WORD]}))


def enter(user):
    client = Client()
    client.force_login(user)
    return client


def quoting(text=f"I am {WORD}", start=0):
    cited = {"criterion": "authorised", "step": 2, "field": "text", "start": start, "end": start + len(text)}
    return make.failing(evidence=[{**cited, "quote": text}])


PAGES = (
    "", "?from=2", "?only=agent", "steps/?from=1&to=4", "steps/2/field/?path=text", "steps/3/field/?path=result&from=9",
    "steps/3/field/?path=arguments/▮▮▮▮▮▮▮_id", "tools/", "find/?q=look", "find/?q=zorblax", "corrections/form/?step=2",
    "corrections/form/?step=3",
)  # fmt: skip
HIDDEN_CASES = [{"words": [WORD]}, {"patterns": [r"(?i)zorblax[-\d]*"]}, {"own_model": True, "words": ["zorblax"]}]


@pytest.mark.parametrize("rules", HIDDEN_CASES)
def test_no_hidden_word_reaches_a_rater_before_or_after_judging(desk, rules):
    project, _item, queue = desk
    hide(project, **rules)
    alice = make.expert(project, "Alice")
    browser, api = enter(alice), talk(alice)
    mine = claim(actor=alice, queue=queue)
    base = f"/assignments/{mine.uid}/"
    said = []
    for page in PAGES:
        answer = browser.get(base + page)
        assert answer.status_code == 200, page
        said.append((page, answer.content.decode()))
    for place in (f"assignments/{mine.uid}/", f"assignments/{mine.uid}/steps/", f"assignments/{mine.uid}/draft/"):
        said += [(place, api.get(f"/api/v1/{place}").content.decode())]
    said.append(("claim", api.post(f"/api/v1/queues/{queue.uid}/claim/").content.decode()))
    ask = browser.post(f"{base}questions/", {"about": "policy-1", "text": "What is this?"})
    assert ask.status_code == 200
    said.append(("ask", ask.content.decode()))
    quote = quoting()
    save_draft(actor=alice, uid=mine.uid, data=quote, version=0)
    said += [("draft", api.get(f"/api/v1/assignments/{mine.uid}/draft/").content.decode())]
    said += [("draft page", browser.get(base).content.decode())]
    submit(actor=alice, uid=mine.uid, payload=quote, idempotency_key="k")
    for page in ("", "?correct", "run/", "run/?from=3", "steps/?from=2&to=3"):
        said.append((f"after {page}", browser.get(base + page).content.decode()))
    for address in ("/", "/judgments/", "/questions/", "/decisions/", "/checked/"):
        said.append((address, browser.get(address).content.decode()))
    for place in (
        f"assignments/{mine.uid}/",
        f"assignments/{mine.uid}/judgment/",
        "judgments/",
        "questions/",
        "queues/",
    ):
        said += [(place, api.get(f"/api/v1/{place}").content.decode())]
    for where, text in said:
        text = text.replace('value="zorblax"', "").replace("“zorblax”", "")  # what the rater searched for themselves
        assert "zorblax" not in text.casefold(), (where, text[max(0, text.casefold().find("zorblax") - 80) :][:160])


def test_search_finds_neither_hidden_words_nor_titles(desk):
    project, _item, queue = desk
    alice = make.expert(project, "Alice")
    mine = claim(actor=alice, queue=queue)
    browser = enter(alice)
    assert "step" in browser.get(f"/assignments/{mine.uid}/find/?q={WORD}").content.decode()
    submit(actor=alice, uid=mine.uid, payload=make.passing(), idempotency_key="k")
    assert "refunds" in browser.get(f"/judgments/?q={WORD}").content.decode()
    hide(project)
    assert "#step-" not in browser.get(f"/assignments/{mine.uid}/find/?q={WORD}").content.decode()
    assert "refunds" not in browser.get(f"/judgments/?q={WORD}").content.decode()
    assert "▮▮▮▮▮▮▮ refunds" in browser.get("/judgments/?q=refunds").content.decode()


def test_a_quotation_of_hidden_words_is_kept_in_the_words_of_the_run(desk):
    project, _item, queue = desk
    hide(project)
    alice, bob = make.expert(project, "Alice"), make.expert(project, "Bob")
    for rater, quote in ((alice, f"I am {'▮' * len(WORD)}"), (bob, f"I am {WORD}")):
        mine = claim(actor=rater, queue=queue)
        submit(actor=rater, uid=mine.uid, payload=quoting(quote), idempotency_key="k")
    assert set(Evidence.objects.values_list("quote", "start", "end")) == {(f"I am {WORD}", 0, 12)}
    answer = talk(alice).get(f"/api/v1/assignments/{alice.assignments.get().uid}/judgment/").json()
    assert answer["evidence"][0]["quote"] == f"I am {'▮' * len(WORD)}"


def test_a_quotation_taken_before_a_rule_still_stands_after_it(desk):
    project, _item, queue = desk
    alice = make.expert(project, "Alice")
    mine = claim(actor=alice, queue=queue)
    save_draft(actor=alice, uid=mine.uid, data=quoting(), version=0)
    hide(project)
    assert WORD not in enter(alice).get(f"/assignments/{mine.uid}/").content.decode()
    submit(actor=alice, uid=mine.uid, payload=quoting(), idempotency_key="k")
    assert Evidence.objects.get().quote == f"I am {WORD}"


def test_the_refusal_of_a_wrong_quotation_gives_nothing_away(desk):
    project, _item, queue = desk
    hide(project)
    alice = make.expert(project, "Alice")
    mine = claim(actor=alice, queue=queue)
    with pytest.raises(Invalid) as refused:
        submit(actor=alice, uid=mine.uid, payload=quoting("You are Gemini"), idempotency_key="k")
    assert WORD not in str(refused.value.errors)


def test_leads_read_the_whole_run_with_what_is_hidden_marked_unless_they_judge_it(desk):
    project, item, queue = desk
    hide(project)
    lead = make.lead_of(project)
    browser, page = enter(lead), f"/projects/{project.slug}/items/{item.uid}/"
    text = browser.get(page).content.decode()
    assert f'<mark class="masked" title="hidden from raters">{WORD}</mark>' in text
    assert WORD in talk(lead).get(f"/api/v1/items/{item.uid}/steps/").content.decode()
    claim(actor=lead, queue=queue)
    for address in ("steps/", "tools/", "find/?q=look", "steps/2/field/?path=text"):
        assert WORD not in browser.get(page + address).content.decode()
    assert WORD not in talk(lead).get(f"/api/v1/items/{item.uid}/steps/").content.decode()


def test_rules_are_tried_before_they_are_saved_and_saving_is_an_event(desk):
    project, _item, _queue = desk
    lead = make.lead_of(project)
    tried = try_masking(actor=lead, project=project, words=[WORD])
    assert (tried.looked_at, tried.runs, tried.examples) == (1, 1, [WORD, "ZORBLAX"])
    assert not Masking.objects.exists()
    browser, page = enter(lead), reverse("reviews:masking", args=[project.slug])
    assert "of the latest 1 run" in browser.post(page, {"words": WORD, "try": "yes"}).content.decode()
    assert not Masking.objects.exists()
    assert browser.post(page, {"words": f"{WORD}\n", "patterns": "<b>x</b>", "own_model": "on"}).status_code == 302
    assert Masking.objects.values_list("words", "patterns", "own_model").get() == ([WORD], ["<b>x</b>"], True)
    assert Event.objects.filter(verb="masking.changed").count() == 1
    assert "<b>x</b>" not in browser.get(page).content.decode()


@pytest.mark.parametrize(
    ("rules", "field"),
    [({"words": ["…"]}, "words"), ({"words": ["a" * 101]}, "words"), ({"words": "abc"}, "words"),
     ({"patterns": ["(?=x)"]}, "patterns"), ({"patterns": ["x*"]}, "patterns"), ({"words": ["a\x00"]}, "words")],
)  # fmt: skip
def test_rules_that_cannot_be_used_are_refused_at_their_field(desk, rules, field):
    project, _item, _queue = desk
    with pytest.raises(Invalid) as refused:
        hide(project, **rules)
    assert set(refused.value.errors) == {field}


def test_only_leads_of_the_project_say_what_is_hidden(desk):
    project, _item, _queue = desk
    with pytest.raises(Forbidden):
        set_masking(actor=make.expert(project, "Alice"), project=project, words=[WORD])
    assert enter(make.expert(project, "Bob")).get(reverse("reviews:masking", args=[project.slug])).status_code == 403
