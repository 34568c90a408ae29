"""Raters' pages without a browser: what is answered, what is refused, what is never said."""

import gzip
import json
import re
import uuid
from datetime import timedelta
from html import unescape
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.http import QueryDict
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from reviews.actions.dealing import claim, expire_leases, release
from reviews.actions.judging import save_draft
from reviews.enums import AssignmentState
from reviews.models import Assignment, Draft, Judgment
from reviews.queries.judging import FieldView, merged
from reviews.templatetags.reading import reading
from reviews.trajectories.schema import Step, ToolCall, ToolResult
from reviews.web.judging import payload_from
from tests import factories as make

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}
PASSING = {
    "gates.authorised": "pass",
    "gates.consent": "pass",
    "criteria.success": "3",
    "criteria.process": "2",
    "kind.authorised": "gate",
    "kind.consent": "gate",
    "kind.success": "ordinal",
    "kind.process": "ordinal",
    "confidence": "3",
    "rationale": "Done as asked.",
    "evidence": "[]",
}


def enter(person):
    client = Client()
    client.force_login(person, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client


def page_of(client, assignment, name="assignment", **more):
    return client.get(reverse(f"reviews:{name}", kwargs={"uid": assignment.uid, **more}))


def post(client, assignment, name, data, **headers):
    return client.post(reverse(f"reviews:{name}", kwargs={"uid": assignment.uid}), data, headers=headers)


# --- Starting ---------------------------------------------------------------------------------------------------------
def test_starting_a_queue_goes_to_the_item_and_again_to_the_same_one(project, alice):
    queue, client = make.queue(project), enter(alice)
    first = client.post(reverse("reviews:judge", kwargs={"uid": queue.uid}))
    again = client.post(reverse("reviews:judge", kwargs={"uid": queue.uid}))
    assert first.status_code == 302
    assert first["Location"] == again["Location"]


def test_an_empty_queue_says_why(project, alice):
    answer = enter(alice).post(reverse("reviews:judge", kwargs={"uid": make.queue(project, items=0).uid}))
    assert answer.status_code == 200
    assert "Nothing is waiting for you" in answer.content.decode()


def test_strangers_and_the_signed_out_get_nowhere(project, alice):
    queue = make.queue(project)
    mine = claim(actor=alice, queue=queue)
    stranger = enter(make.person("Bob"))
    assert stranger.get(reverse("reviews:judge", kwargs={"uid": queue.uid})).status_code == 404
    for name in ("assignment", "steps", "find"):
        assert page_of(stranger, mine, name).status_code == 404
        assert page_of(Client(), mine, name).status_code == 302
    for name in ("submit", "draft", "skip", "release"):
        assert post(stranger, mine, name, PASSING).status_code == 404
        assert post(Client(), mine, name, PASSING).status_code == 302
    assert not Judgment.objects.exists()


def test_an_engineer_does_not_judge(project):
    engineer = make.person("Charlie")
    make.member(project, engineer, "engineer")
    answer = enter(engineer).post(reverse("reviews:judge", kwargs={"uid": make.queue(project).uid}))
    assert answer.status_code == 403
    assert "Only experts and leads judge items." in answer.content.decode()


@pytest.mark.parametrize("headers", [HTMX, {"Accept": "application/json"}])
def test_a_script_without_a_session_is_told_so_and_never_handed_the_sign_in_page(project, alice, headers):
    mine = claim(actor=alice, queue=make.queue(project))
    for name in ("submit", "draft", "alive", "skip", "release"):
        answer = post(Client(), mine, name, PASSING, **headers)
        assert answer.status_code == 401
        assert answer.json()["message"].startswith("You are signed out.")
    assert page_of(Client(), mine).status_code == 302


# --- Signs of life ----------------------------------------------------------------------------------------------------
def test_a_sign_of_life_says_what_counts_and_which_draft_stands(project, alice):
    mine = claim(actor=alice, queue=make.queue(project))
    save_draft(actor=alice, uid=mine.uid, data={"rationale": "Half"}, version=0)
    Assignment.objects.filter(pk=mine.pk).update(seen_at=timezone.now() - timedelta(seconds=40, milliseconds=500))
    answer = post(enter(alice), mine, "alive", {"worked": "35"})
    assert answer.json() == {"version": 1, "active_seconds": 35}
    assert post(enter(make.expert(project, "Bob")), mine, "alive", {"worked": "35"}).status_code == 404


def test_work_that_the_page_counted_stands_on_the_judgment(project, alice):
    mine = claim(actor=alice, queue=make.queue(project))
    Assignment.objects.filter(pk=mine.pk).update(seen_at=timezone.now() - timedelta(minutes=9))
    post(enter(alice), mine, "draft", {**PASSING, "version": "0", "worked": "100"})
    Assignment.objects.filter(pk=mine.pk).update(seen_at=timezone.now() - timedelta(minutes=9))
    post(enter(alice), mine, "submit", {**PASSING, "worked": "200"}, **HTMX)
    assert Judgment.objects.get().active_seconds == 300


# --- Two texts --------------------------------------------------------------------------------------------------------
def test_lines_taken_from_the_other_text_bring_what_is_cited_for_them():
    mine = {
        "gates": {"authorised": "pass"},
        "rationale": "Mine",
        "evidence": [{"criterion": "consent", "step": 1}, {"criterion": None, "step": 2}],
    }
    other = {
        "gates": {"authorised": "fail", "consent": "fail"},
        "failure": {"step": 4},
        "rationale": "Theirs",
        "confidence": 2,
        "evidence": [{"criterion": "authorised", "step": 3}, {"criterion": None, "step": 4}, "nonsense"],
    }
    assert merged(mine, other, take=["gates.authorised", "failure", "criteria.success", "nonsense"]) == {
        "gates": {"authorised": "fail"},
        "criteria": {},
        "failure": {"step": 4},
        "rationale": "Mine",
        "evidence": [
            {"criterion": "consent", "step": 1},
            {"criterion": "authorised", "step": 3},
            {"criterion": None, "step": 4},
        ],
    }
    assert merged(mine, {}, take=["rationale"]) == {key: mine[key] for key in ("gates", "evidence")}


def test_a_choice_between_two_texts_is_saved_only_over_the_text_that_was_seen(project, alice):
    mine = claim(actor=alice, queue=make.queue(project))
    client = enter(alice)
    save_draft(actor=alice, uid=mine.uid, data={"rationale": "From the office"}, version=0)
    chosen = {**PASSING, "rationale": "From home", "take": ["rationale"]}
    assert post(client, mine, "draft", {**chosen, "version": "0"}).status_code == 409
    assert post(client, mine, "draft", {**chosen, "version": "1"}).json() == {"version": 2}
    draft = Draft.objects.get().data
    assert (draft["rationale"], draft["confidence"]) == ("From the office", 3)


# --- Submitting -------------------------------------------------------------------------------------------------------
def test_the_answer_to_a_judgment_is_the_next_item(project, alice):
    queue, client = make.queue(project, items=2), enter(alice)
    mine = claim(actor=alice, queue=queue)
    answer = post(client, mine, "submit", PASSING, **HTMX)
    following = Assignment.objects.get(rater=alice, state=AssignmentState.LEASED)
    assert answer.status_code == 200
    assert answer["HX-Push-Url"] == reverse("reviews:assignment", kwargs={"uid": following.uid})
    assert f'action="/assignments/{following.uid}/submit/"' in answer.content.decode()
    assert Judgment.objects.get(rater=alice).rationale == "Done as asked."


def test_a_plain_post_without_script_gets_the_next_page_too(project, alice):
    queue, client = make.queue(project, items=2), enter(alice)
    answer = post(client, claim(actor=alice, queue=queue), "submit", PASSING)
    assert answer.status_code == 200
    assert "Submit and next" in answer.content.decode()


def test_after_the_last_item_the_page_says_so(project, alice):
    queue, client = make.queue(project, items=1), enter(alice)
    answer = post(client, claim(actor=alice, queue=queue), "submit", PASSING, **HTMX)
    assert "That was the last one for now" in answer.content.decode()
    assert answer["HX-Push-Url"] == reverse("reviews:judge", kwargs={"uid": queue.uid})


def test_submitting_twice_gives_one_judgment_and_the_same_page(project, alice):
    queue, client = make.queue(project, items=2), enter(alice)
    mine = claim(actor=alice, queue=queue)
    first, second = (post(client, mine, "submit", PASSING, **HTMX) for _ in range(2))
    assert first["HX-Push-Url"] == second["HX-Push-Url"]
    assert Judgment.objects.count() == 1


def test_a_judgment_with_mistakes_comes_back_with_them_and_with_all_that_was_entered(project, alice):
    client, mine = enter(alice), claim(actor=alice, queue=make.queue(project))
    answer = post(
        client, mine, "submit", {"gates.authorised": "fail", "rationale": "Because <b>.", "evidence": "[]"}, **HTMX
    )
    text = answer.content.decode()
    assert answer.status_code == 422
    assert answer["HX-Reselect"] == answer["HX-Retarget"] == "#judgment"
    assert "Answer “Consent before action” with pass or fail." in text
    assert "asks for evidence" in text
    assert "Because &lt;b&gt;." in text
    assert re.search(r'name="gates.authorised" value="fail" checked', text)
    assert not Judgment.objects.exists()


def test_an_item_that_has_gone_to_somebody_else_is_refused_with_the_text_kept(project, alice):
    client, mine = enter(alice), claim(actor=alice, queue=make.queue(project))
    release(actor=alice, uid=mine.uid)
    answer = post(client, mine, "submit", PASSING, **HTMX)
    assert answer.status_code == 422
    assert "You gave this item back." in answer.content.decode()
    assert "Done as asked." in answer.content.decode()


def test_after_the_lease_ran_out_the_item_is_still_hers_while_nobody_took_it(project, alice):
    client, mine = enter(alice), claim(actor=alice, queue=make.queue(project))
    expire_leases(now=timezone.now() + timedelta(days=1))
    assert "Your time on this item ran out" in page_of(client, mine).content.decode()
    post(client, mine, "submit", PASSING)
    assert Judgment.objects.get().rater == alice


def test_a_judged_item_shows_its_receipt(project, alice):
    client, mine = enter(alice), claim(actor=alice, queue=make.queue(project))
    post(client, mine, "submit", PASSING)
    text = page_of(client, mine).content.decode()
    assert "You judged this" in text
    assert "Done as asked." in text
    assert "Strong" in text


# --- Drafts -----------------------------------------------------------------------------------------------------------
def test_a_draft_is_kept_and_comes_back(project, alice):
    client, mine = enter(alice), claim(actor=alice, queue=make.queue(project))
    answer = post(client, mine, "draft", {"gates.authorised": "pass", "rationale": "So far", "version": "0"})
    assert answer.json() == {"version": 1}
    text = page_of(client, mine).content.decode()
    assert re.search(r'name="gates.authorised" value="pass" checked', text)
    assert "So far</textarea>" in text
    assert 'name="version" value="1"' in text


def test_a_draft_saved_elsewhere_since_is_answered_with_both_texts(project, alice):
    client, mine = enter(alice), claim(actor=alice, queue=make.queue(project))
    post(client, mine, "draft", {"rationale": "From the first tab", "version": "0"})
    answer = post(client, mine, "draft", {"rationale": "From the second tab", "version": "0"})
    assert answer.status_code == 409
    assert "From the first tab" in answer.content.decode()
    assert "From the second tab" in answer.content.decode()
    assert Draft.objects.get().data["rationale"] == "From the first tab"


# --- Skipping and giving back -----------------------------------------------------------------------------------------
def test_a_skip_needs_a_reason_and_brings_the_next_item(project, alice):
    queue, client = make.queue(project, items=2), enter(alice)
    mine = claim(actor=alice, queue=queue)
    refused = post(client, mine, "skip", {"reason": ""}, **HTMX)
    assert refused.status_code == 422
    assert refused["HX-Retarget"] == "#skip"
    answer = post(client, mine, "skip", {"reason": "conflict"}, **HTMX)
    following = Assignment.objects.get(rater=alice, state=AssignmentState.LEASED)
    assert answer["HX-Push-Url"] == reverse("reviews:assignment", kwargs={"uid": following.uid})
    assert "You have skipped this item" in page_of(client, mine).content.decode()


def test_giving_back_goes_home_and_keeps_the_draft(project, alice):
    client, mine = enter(alice), claim(actor=alice, queue=make.queue(project))
    post(client, mine, "draft", {"rationale": "So far", "version": "0"})
    assert post(client, mine, "release", {})["Location"] == "/"
    assert Draft.objects.get(assignment=mine).data["rationale"] == "So far"


# --- Reading ----------------------------------------------------------------------------------------------------------
def long_run(project, steps=120):
    rows = tuple(Step(role="agent", text=f"Message {number}: " + "word " * 100) for number in range(1, steps + 1))
    return make.item(project, steps=rows)


def numbers(text):
    return [int(number) for number in re.findall(r'id="step-(\d+)"', text)]


def test_the_first_screen_of_a_run_of_a_thousand_steps_is_under_100_kb(project, alice):
    queue = make.queue(project, items=[long_run(project, steps=1000)])
    answer = page_of(enter(alice), claim(actor=alice, queue=queue))
    assert len(answer.content) < 100_000
    assert numbers(answer.content.decode())[0] == 1


def test_the_script_sent_to_a_rater_is_under_60_kb_compressed(project, alice):
    page = page_of(enter(alice), claim(actor=alice, queue=make.queue(project))).content.decode()
    names = {source.removeprefix("/static/") for source in re.findall(r'<script[^>]* src="([^"?]+)', page)}
    sizes = {}
    while names:
        name = names.pop()
        text = Path(finders.find(name)).read_bytes()
        sizes[name] = len(gzip.compress(text))
        names |= {f"js/{other}" for other in re.findall(r'from "\./(.+?)"', text.decode())} - sizes.keys()
    assert {"js/judge.js", "js/citing.js", "js/theme.js"} < sizes.keys()
    assert sum(sizes.values()) < 60_000


def test_a_result_of_five_megabytes_is_folded_and_can_be_read_to_its_end(project, alice):
    text = "".join(f"row {number:07d}\n" for number in range(420_000))
    step = Step(role="tool", call=ToolCall(id="1", name="dump", arguments_text="{}"), result=ToolResult(text=text))
    client = enter(alice)
    mine = claim(actor=alice, queue=make.queue(project, items=[make.item(project, steps=(step,))]))
    assert len(page_of(client, mine).content) < 100_000
    address = f"/assignments/{mine.uid}/steps/1/field/?path=result&from={len(text) - 12}"
    assert client.get(address, headers=HTMX).content.decode() == "row 0419999\n"


def test_windows_follow_one_another_without_a_hole(project, alice):
    client = enter(alice)
    mine = claim(actor=alice, queue=make.queue(project, items=[long_run(project)]))
    seen = numbers(page_of(client, mine).content.decode())
    while seen[-1] < 120:
        seen += numbers(client.get(f"/assignments/{mine.uid}/steps/?from={seen[-1] + 1}").content.decode())
    assert seen == list(range(1, 121))


def test_a_jump_brings_the_step_and_leaves_gaps_on_both_sides(project, alice):
    mine = claim(actor=alice, queue=make.queue(project, items=[long_run(project)]))
    text = enter(alice).get(f"/assignments/{mine.uid}/steps/?from=41&to=120&at=80").content.decode()
    assert numbers(text)[:4] == [77, 78, 79, 80]
    assert "Show steps 41 to 76" in text
    assert re.search(r"Show steps \d+ to 120", text)


@pytest.mark.parametrize(
    "query", ["from=0", "from=-1", "from=x", "from=99999999999", "to=0", "at=1&to=1", "from=9&to=2"]
)
def test_odd_windows_are_answered_all_the_same(project, alice, query):
    mine = claim(actor=alice, queue=make.queue(project))
    assert enter(alice).get(f"/assignments/{mine.uid}/steps/?{query}").status_code == 200


def test_find_names_the_steps_and_how_often(project, alice):
    mine = claim(actor=alice, queue=make.queue(project))
    text = enter(alice).get(f"/assignments/{mine.uid}/find/?q=a-5071", headers=HTMX).content.decode()
    assert re.findall(r'data-hit="(\d+)"', text) == ["3"]
    assert "No step has" in enter(alice).get(f"/assignments/{mine.uid}/find/?q=nowhere", headers=HTMX).content.decode()


def test_there_is_no_such_field_or_step(project, alice):
    mine = claim(actor=alice, queue=make.queue(project))
    for address in ("steps/1/field/?path=result", "steps/99/field/?path=text", "steps/0/field/?path=text"):
        assert enter(alice).get(f"/assignments/{mine.uid}/{address}").status_code == 404
    assert enter(alice).get(f"/assignments/{uuid.uuid4()}/").status_code == 404


def test_nothing_of_outcome_model_source_or_dates_is_on_a_raters_page(project, alice):
    item = make.item(project, model="secret-model-9", reward=0.125, data={"instruction": "hidden goal"})
    queue = make.queue(project, items=[item])
    make.expert(project, "Bartholomew")
    client, mine = enter(alice), claim(actor=alice, queue=queue)
    pages = [
        client.get("/"),
        client.get(f"/queues/{queue.uid}/judge/"),
        page_of(client, mine),
        client.get(f"/assignments/{mine.uid}/steps/"),
        post(client, mine, "submit", PASSING),
        page_of(client, mine),
    ]
    run = item.trajectory
    secrets = ["secret-model-9", "0.125", "hidden goal", run.source_name, run.source_format, run.content_hash]
    secrets += [str(item.uid), str(run.uid), "Bartholomew", run.created_at.isoformat()[:10], "/messages/0"]
    for page in pages:
        for secret in secrets:
            assert secret not in page.content.decode()


# --- The form ---------------------------------------------------------------------------------------------------------
def form(**fields):
    data = QueryDict(mutable=True)
    for name, value in fields.items():
        data.setlist(name.replace("__", "."), value if isinstance(value, list) else [value])
    return data


def test_what_the_page_hides_is_not_sent():
    answers = {"gates__consent": "fail", "criteria__success": "2", "kind__success": "ordinal", "failure__step": "4"}
    cited = '[{"criterion": "success", "step": 1}, {"criterion": "consent", "step": 2}, {"criterion": null, "step": 3}]'
    failed = payload_from(form(**answers, evidence=cited))
    assert failed["criteria"] == {}
    assert failed["failure"] == {"step": 4}
    assert [row["step"] for row in failed["evidence"]] == [2, 3]
    passed = payload_from(form(**{**answers, "gates__consent": "pass"}, evidence=cited))
    assert passed["criteria"] == {"success": 2}
    assert "failure" not in passed
    assert [row["step"] for row in passed["evidence"]] == [1, 2]


def test_steps_written_by_hand_become_citations():
    payload = payload_from(form(gates__consent="fail", cite__consent="4, 7 x"))
    assert payload["evidence"] == [
        {"criterion": "consent", "step": 4},
        {"criterion": "consent", "step": 7},
        {"criterion": "consent", "step": "x"},
    ]


@pytest.mark.parametrize("broken", ["", "nonsense", "{}", "[1, null]", '"text"'])
def test_broken_evidence_is_no_evidence(broken):
    assert payload_from(form(evidence=broken))["evidence"] == []


# --- Reading text -----------------------------------------------------------------------------------------------------
@given(st.text(), st.sampled_from(["text", "result"]))
def test_no_character_of_a_text_is_lost_or_moved(text, path):
    shown = reading(FieldView(path, "Field", text))
    assert unescape(re.sub(r"<[^>]*>", "", shown)) == text


def test_markup_in_a_text_is_only_text():
    assert reading(FieldView("text", "Text", "<script>alert(1)</script>")) == "&lt;script&gt;alert(1)&lt;/script&gt;"


# Whatever a form says: numbers that are none, JSON of every shape, depth and character.
ODD_NUMBERS = ["--5", "-", "+1", "²", "1e3", "0x1", "9" * 5000]
ODD_JSON = [
    "[",
    "{}",
    "5",
    "null",
    "[1]",
    "[[]]",
    "[" * 5000,
    '{"a":' * 5000,
    '[{"step": NaN}]',
    '[{"policy_line": 1e999}]',
]
ODD_CITATIONS = [
    {"criterion": {}},
    {"criterion": [], "step": 1},
    {"criterion": "\x00", "step": 1},
    {"criterion": "\ud800", "step": 1},
    {"criterion": None, "step": {"a": 1}},
    {"criterion": None, "step": 1, "field": "text", "start": -5, "end": 10**30, "quote": "x"},
    {"criterion": None, "step": 1, "field": "\ud800", "start": 0, "end": 1, "quote": "\ud800"},
    {"criterion": None, "step": 1, "field": [], "start": 0, "end": 1, "quote": {"a": 1}},
]


@pytest.mark.parametrize(
    "text", [*ODD_JSON, *map(json.dumps, ODD_CITATIONS), *map(json.dumps, [[c] for c in ODD_CITATIONS])]
)
@pytest.mark.parametrize("answers", [{"gates.consent": "fail"}, {"gates.consent": "pass"}])
def test_odd_citations_are_refused_or_passed_over_and_the_page_still_opens(project, alice, text, answers):
    mine = claim(actor=alice, queue=make.queue(project))
    browser = enter(alice)
    form = {"gates.authorised": "pass", "kind.success": "ordinal", "evidence": text, **answers}
    assert browser.post(reverse("reviews:submit", kwargs={"uid": mine.uid}), form).status_code == 422
    assert browser.post(reverse("reviews:draft", kwargs={"uid": mine.uid}), form | {"version": "0"}).status_code == 200
    assert page_of(browser, mine).status_code == 200


@pytest.mark.parametrize("number", ODD_NUMBERS)
@pytest.mark.parametrize("name", ["criteria.success", "failure.step", "cite.consent", "confidence"])
def test_a_number_that_is_none_is_refused(project, alice, name, number):
    mine = claim(actor=alice, queue=make.queue(project))
    gates = {"gates.authorised": "pass", "gates.consent": "pass" if name == "criteria.success" else "fail"}
    answer = enter(alice).post(reverse("reviews:submit", kwargs={"uid": mine.uid}), {**gates, name: number})
    assert answer.status_code == 422
    assert not Judgment.objects.exists()


@pytest.mark.parametrize("odd", [5, "text", [1], [[]], {"a": {}}, True, None, 1.5])
@pytest.mark.parametrize("name", ["gates", "criteria", "failure", "evidence", "rationale", "confidence"])
def test_a_draft_of_any_shape_opens(project, alice, name, odd):
    mine = claim(actor=alice, queue=make.queue(project))
    save_draft(actor=alice, uid=mine.uid, data={name: odd}, version=0)
    browser = enter(alice)
    assert page_of(browser, mine).status_code == 200
    stale = browser.post(reverse("reviews:draft", kwargs={"uid": mine.uid}), {"version": "0"})
    assert stale.status_code == 409
