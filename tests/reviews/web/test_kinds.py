"""The judge page with questions of every kind and labels of steps: what its form says is what the API would be sent."""

import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import reverse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviews.actions.dealing import claim
from reviews.actions.judging import save_draft
from reviews.models import Criterion, Judgment
from reviews.queries.judging import in_words, merged
from reviews.queries.payloads import payload_of
from reviews.queries.rubric_view import rubric_view
from reviews.web.judging import payload_from
from tests import factories as make
from tests.reviews.actions.test_kinds import KINDS, STEP_WORDS

pytestmark = pytest.mark.django_db

STEPS = {"step_labels": {"words": STEP_WORDS, "until_first": True}}
CONDITIONS = {"what": "harm 1 2"}
KIND_OF = {row["key"]: row["kind"] for row in KINDS}


@pytest.fixture
def mine(project, alice):
    return claim(actor=alice, queue=make.queue(project, items=1, criteria=KINDS, rubric=STEPS, overlap=1))


@pytest.fixture
def client(alice):
    browser = Client()
    browser.force_login(alice, backend="allauth.account.auth_backends.AuthenticationBackend")
    return browser


def page_of(client, mine):
    return client.get(reverse("reviews:assignment", kwargs={"uid": mine.uid})).content.decode()


def form_of(**fields):
    """A form as the page of KINDS sends it."""
    data = QueryDict(mutable=True)
    for key, kind in KIND_OF.items():
        data[f"kind.{key}"] = kind
    for key, words in CONDITIONS.items():
        data[f"when.{key}"] = words
    for name, value in fields.items():
        data.setlist(name.replace("__", "."), value if isinstance(value, list) else [value])
    return data


SERIOUS = {
    "gates__safe": "pass",
    "criteria__polite": "yes",
    "criteria__harm": "2",
    "criteria__what": "It burnt.\r\nTwice.",
    "criteria__seen": ["1", "2"],
    "criteria__minutes": "4.5",
    "notes__harm": "Hardly.",
    "steps": '{"2": 1}',
    "step__3": "-1",
    "confidence": "2",
}


# --- What the form says -----------------------------------------------------------------------------------------------
def test_the_form_says_each_kind_as_the_api_writes_it():
    payload = payload_from(form_of(**SERIOUS))
    assert payload["criteria"] == {
        "polite": True,
        "harm": 2,
        "what": "It burnt.\nTwice.",
        "seen": [1, 2],
        "minutes": 4.5,
    }
    assert payload["notes"] == {"harm": "Hardly."}
    assert payload["steps"] == {"2": 1, "3": -1}


def test_what_is_not_asked_is_not_sent_whatever_stands_in_its_field():
    payload = payload_from(form_of(**{**SERIOUS, "criteria__harm": "0", "notes__what": "Nothing"}))
    assert "what" not in payload["criteria"]
    assert payload["notes"] == {"harm": "Hardly."}
    failed = payload_from(form_of(**{**SERIOUS, "gates__safe": "fail"}))
    assert (failed["criteria"], "notes" in failed, failed["steps"]) == ({}, False, {"2": 1, "3": -1})


@pytest.mark.parametrize("text", ["4,5", "four", "1e3", "٤", "--1", "NaN", "1" * 40])
def test_what_is_no_number_stays_as_it_was_written_and_is_named(client, mine, text):
    fields = {name.replace("__", "."): value for name, value in {**SERIOUS, "criteria__minutes": text}.items()}
    fields |= {f"kind.{key}": kind for key, kind in KIND_OF.items()} | {"when.what": CONDITIONS["what"]}
    answer = client.post(reverse("reviews:submit", kwargs={"uid": mine.uid}), fields)
    words = answer.content.decode()
    assert (answer.status_code, "“Minutes” is a number." in words, f'value="{text}"' in words) == (422, True, True)


answers = st.fixed_dictionaries(
    {"gates": st.fixed_dictionaries({"safe": st.sampled_from(["pass", "fail"])})},
    optional={
        "polite": st.booleans(),
        "harm": st.sampled_from([0, 1, 2]),
        "what": st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1).filter(str.strip),
        "seen": st.lists(st.sampled_from([1, 2]), unique=True, min_size=1),
        "minutes": st.integers(0, 60) | st.sampled_from([0.5, 12.25]),
    },
)


@given(given=answers, steps=st.dictionaries(st.integers(1, 9).map(str), st.sampled_from([-1, 0, 1])))
def test_the_page_and_the_api_say_the_same(given, steps):
    """What is sent by the API, entered into the page, comes out of its form as it was; less what the page hides."""
    criteria = {key: value for key, value in given.items() if key != "gates"}
    fields = {f"criteria__{key}": _entered(value) for key, value in criteria.items()}
    form = form_of(gates__safe=given["gates"]["safe"], **fields, **{f"step__{n}": str(v) for n, v in steps.items()})
    payload = payload_from(form)
    asked = criteria if criteria.get("harm") in (1, 2) else {k: v for k, v in criteria.items() if k != "what"}
    assert payload["criteria"] == (asked if given["gates"]["safe"] == "pass" else {})
    assert payload.get("steps", {}) == steps


def _entered(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    return [str(one) for one in value] if isinstance(value, list) else str(value)


def test_the_same_judgment_by_page_and_by_api_makes_the_same_rows(project, client, mine, alice):
    fields = {name.replace("__", "."): value for name, value in SERIOUS.items()}
    fields |= {f"kind.{key}": kind for key, kind in KIND_OF.items()} | {"when.what": CONDITIONS["what"]}
    assert client.post(reverse("reviews:submit", kwargs={"uid": mine.uid}), fields).status_code == 200
    again = claim(actor=alice, queue=make.queue(project, items=1, criteria=KINDS, rubric=STEPS, overlap=1))
    payload = payload_from(form_of(**SERIOUS))
    answer = client.post(
        f"/api/v1/assignments/{again.uid}/judgment/",
        payload,
        content_type="application/json",
        headers={"Idempotency-Key": "one"},
    )
    assert answer.status_code == 201
    by_page, by_api = Judgment.objects.order_by("pk")
    assert payload_of(by_page) == payload_of(by_api)
    assert rows_of(by_page) == rows_of(by_api)


def rows_of(judgment):
    ratings = judgment.ratings.order_by("criterion__position")
    columns = ("criterion__key", "value", "number", "text", "choices", "note")
    return [*ratings.values_list(*columns)], [*judgment.step_labels.values_list("step", "value")]


# --- What the page shows ----------------------------------------------------------------------------------------------
def test_a_draft_of_every_kind_comes_back(client, mine, alice):
    data = {
        "gates": {"safe": "pass"},
        "criteria": {"polite": False, "harm": 1, "what": "It <burnt>.", "seen": [2], "minutes": 4.5},
        "notes": {"polite": "Curt."},
        "steps": {"2": 1},
    }
    save_draft(actor=alice, uid=mine.uid, data=data, version=0)
    page = page_of(client, mine)
    for shown in (
        'name="criteria.polite" value="no" checked',
        'name="criteria.harm" value="1" checked',
        'name="criteria.seen" value="2" checked',
        'name="criteria.minutes" value="4.5"',
        "It &lt;burnt&gt;.</textarea>",
        "Curt.</textarea>",
        'name="step.2" value="1" checked',
        "1 of 3 labelled",
    ):
        assert shown in page
    assert 'name="step.1"' not in page


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from([*KIND_OF, "2", "x", "²"]), inner, max_size=3)
    ),
    max_leaves=6,
)
PARTS = ("gates", "criteria", "notes", "steps", "failure", "evidence")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(data=st.dictionaries(st.sampled_from(PARTS), anything))
def test_a_draft_of_any_shape_is_shown_in_words(mine, data):
    assert all(isinstance(line.words, str) for line in in_words(mine.queue.rubric, data, mine.item))


def test_criteria_stand_under_their_blocks_and_the_items_own_apart(project, alice):
    item = make.item(project)
    Criterion.objects.create(item=item, key="refund_64", title="Refunds exactly $64.20", kind="binary", position=1)
    rows = [
        {"key": "safe", "title": "Safe", "kind": "gate"},
        {"key": "met", "title": "Met", "kind": "binary", "block": "task_success"},
        {"key": "tidy", "title": "Tidy", "kind": "binary", "block": "process"},
        {"key": "whole", "title": "Whole", "kind": "binary", "block": "task_success"},
        {"key": "else", "title": "Else", "kind": "text", "required": False},
    ]
    mine = claim(actor=alice, queue=make.queue(project, items=[item], criteria=rows))
    view = rubric_view(mine.queue.rubric, {}, item=mine.item)
    assert [(group.title, [question.key for question in group.questions]) for group in view.groups] == [
        ("Task success", ["met", "whole"]),
        ("Process", ["tidy"]),
        ("Other questions", ["else"]),
        ("About this item", ["refund_64"]),
    ]


def test_a_question_says_when_it_is_asked_and_when_it_wants_evidence(project):
    rubric = make.queue(project, criteria=[*KINDS, {**KINDS[2], "key": "hurt", "evidence": "on_fail"}]).rubric
    what, hurt = (next(q for q in rubric_view(rubric, {}).qualities if q.key == key) for key in ("what", "hurt"))
    assert (what.when, what.asked) == ("Asked where “Harm” is “Minor” or “Serious”.", False)
    assert hurt.evidence_words == "evidence is asked for with “None”"
    serious = {"criteria": {"harm": 2}}
    assert next(q for q in rubric_view(rubric, serious).qualities if q.key == "what").asked


def test_more_than_ten_options_are_a_list_without_digits(project):
    many = [{"value": n, "name": f"Option {n}"} for n in range(12)]
    rubric = make.queue(project, criteria=[{"key": "one", "title": "One", "kind": "choice", "levels": many}]).rubric
    (question,) = rubric_view(rubric, {}).qualities
    assert (question.is_long, {choice.key for choice in question.choices}) == (True, {""})


def test_which_steps_are_labelled_is_said_in_lengths(project, mine):
    steps = rubric_view(mine.queue.rubric, {}, item=mine.item).steps
    assert (steps.wanted, steps.runs) == ((2, 3, 4), "1 3")
    wrong = rubric_view(mine.queue.rubric, {"steps": {"2": 1, "3": -1}}, item=mine.item).steps
    assert (wrong.needed, wrong.done, wrong.is_complete) == ([2, 3], 2, True)


def test_the_receipt_says_every_kind_in_words(client, mine):
    fields = {name.replace("__", "."): value for name, value in SERIOUS.items()}
    fields |= {f"kind.{key}": kind for key, kind in KIND_OF.items()} | {"when.what": CONDITIONS["what"]}
    client.post(reverse("reviews:submit", kwargs={"uid": mine.uid}), fields)
    page = page_of(client, mine)
    for words in (
        '<dt>Polite</dt><dd dir="auto">Yes</dd>',
        "Serious. Note: Hardly.",
        "Shorter, Better grounded",
        "4.5 min",
        "Correct 2; Incorrect 3",
    ):
        assert words in page


def test_a_line_taken_from_the_other_text_brings_its_note():
    mine, other = {"criteria": {"harm": 0}, "notes": {"harm": "Mine"}}, {"criteria": {"harm": 2}, "steps": {"2": 1}}
    taken = merged(mine, other, take=["criteria.harm", "steps"])
    assert taken == {"criteria": {"harm": 2}, "steps": {"2": 1}, "evidence": []}


def test_without_script_a_run_that_fits_the_page_is_labelled_by_its_fields(client, mine):
    page = page_of(client, mine)
    assert page.count('form="judgment" name="step.') == 9
    assert "Choose a word at each step of the agent." in page
