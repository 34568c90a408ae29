"""A comparison by page and by API: asked the same, and whatever is answered, the form says what the API is sent."""

import re

import pytest
from django.db import transaction
from django.http import QueryDict
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.errors import Invalid
from reviews.models import Judgment
from reviews.queries.payloads import payload_of
from reviews.web.preferring import payload_from
from tests import factories as make
from tests.reviews.api.talking import by

pytestmark = pytest.mark.django_db

LEVELS = [{"value": value, "name": f"Level {value}", "anchor": ""} for value in range(4)]
TAGS = [{"value": value, "name": f"Tag {value}"} for value in (1, 2, 3)]
CRITERIA = [
    {"key": "authorised", "title": "Authorised", "kind": "gate", "scope": "candidate"},
    {
        "key": "clear",
        "title": "Clear",
        "kind": "ordinal",
        "scope": "candidate",
        "block": "communication",
        "levels": LEVELS,
        "required": False,
    },
    {
        "key": "better",
        "title": "Better",
        "kind": "preference",
        "levels": TAGS,
        "settings": {"form": "pair", "strength": 3, "ties": ["equally_good", "equally_bad"]},
    },
]
KINDS = {"kind.authorised": "candidate gate", "kind.clear": "candidate ordinal", "kind.better": "prefer pair"}
FAILED = {"step": 3, "who": "agent", "cause": "unauthorised_access", "note": "Whose?"}

PASSING = st.fixed_dictionaries({"gates": st.just({"authorised": "pass"})}, optional={"clear": st.integers(0, 3)})
FAILING = st.just({"gates": {"authorised": "fail"}, "failure": FAILED})
PREFERRED = st.one_of(
    st.fixed_dictionaries({"prefers": st.integers(1, 2), "strength": st.integers(1, 3)}),
    st.fixed_dictionaries({"tie": st.sampled_from(["equally_good", "equally_bad"])}),
)
REASONS = st.lists(st.sampled_from([1, 2, 3]), unique=True).map(sorted)


@st.composite
def answers(draw):
    """A judgment of two candidates as the API takes it, complete and right."""
    candidates = []
    for row in draw(st.lists(st.one_of(PASSING, FAILING), min_size=2, max_size=2)):
        clear = row.pop("clear", None) if "clear" in row else None
        candidate = {**row, "criteria": {} if clear is None else {"clear": clear}}
        note = draw(st.sampled_from(["", "Hm.", "Two\nlines"]))
        candidates.append(candidate | ({"notes": {"authorised": note}} if note else {}))
    payload = {"gates": {}, "criteria": {}, "candidates": candidates, "evidence": [], "rationale": draw(WHY)}
    if all(candidate["gates"]["authorised"] == "pass" for candidate in candidates):
        reasons = draw(REASONS)
        payload["criteria"] = {"better": draw(PREFERRED) | ({"reasons": reasons} if reasons else {})}
    return payload | {"confidence": draw(st.integers(1, 3))}


WHY = st.sampled_from(["", "The second asked first.", "🙂\nTwice."])


def form_of(payload):
    """What the page sends of it."""
    form = QueryDict(mutable=True)
    form.update({"places": "2", **KINDS, "rationale": payload["rationale"].replace("\n", "\r\n")})
    form["confidence"] = str(payload["confidence"])
    for place, candidate in enumerate(payload["candidates"], start=1):
        at = f"candidates.{place}."
        form[f"{at}gates.authorised"] = candidate["gates"]["authorised"]
        for group in ("criteria", "notes", "failure"):
            for key, value in candidate.get(group, {}).items():
                form[f"{at}{group}.{key}"] = str(value).replace("\n", "\r\n")
    said = payload["criteria"].get("better", {})
    if "tie" in said:
        form["prefer.better"] = f"tie-{said['tie']}"
    elif said:
        form["prefer.better"] = f"{said['prefers']}-{said['strength']}"
    form.setlist("reasons.better", [str(reason) for reason in said.get("reasons", ())])
    return form


@pytest.fixture
def mine():
    project = make.project()
    queue = make.queue(
        project, items=[make.comparison(project, 2)], criteria=CRITERIA, rubric={"item_kind": "comparison"}
    )
    return claim(actor=make.expert(project, "Alice"), queue=queue)


@given(answers())
def test_whatever_is_answered_the_form_says_what_the_api_would_be_sent(payload):
    assert payload_from(form_of(payload)) == payload


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(payload=answers())
def test_what_is_kept_reads_back_as_it_was_sent(mine, payload):

    with transaction.atomic():
        submit(actor=mine.rater, uid=mine.uid, payload=payload, idempotency_key="k")
        kept = payload_of(Judgment.objects.get())
        transaction.set_rollback(True)
    assert kept["candidates"] == [
        {"gates": one["gates"], "criteria": one["criteria"]}
        | {name: one[name] for name in ("notes", "failure") if name in one}
        for one in payload["candidates"]
    ]
    assert kept["criteria"] == payload["criteria"]


@given(answers(), st.sampled_from([1, 2]))
def test_no_answer_lets_quality_in_beside_a_failed_gate(payload, place):
    """The page leaves it out, whatever else its form says."""
    form = form_of(payload)
    form[f"candidates.{place}.gates.authorised"] = "fail"
    form[f"candidates.{place}.criteria.clear"] = "3"
    form["prefer.better"] = "1-3"
    read = payload_from(form)
    assert read["candidates"][place - 1]["criteria"] == {}
    assert read["criteria"] == {}


def test_the_api_refuses_quality_beside_a_failed_gate(mine):
    row = {"gates": {"authorised": "pass"}, "criteria": {}}
    failed = {"gates": {"authorised": "fail"}, "criteria": {"clear": 3}, "failure": FAILED}
    with pytest.raises(Invalid) as refused:
        submit(
            actor=mine.rater,
            uid=mine.uid,
            payload={
                "candidates": [row, failed],
                "criteria": {"better": {"prefers": 1, "strength": 1}},
                "confidence": 2,
            },
            idempotency_key="k",
        )
    assert {"candidates.2.criteria.clear", "criteria.better"} <= set(refused.value.errors)


def test_page_and_api_ask_the_same(mine):
    browser = Client()
    browser.force_login(mine.rater)
    page = browser.get(f"/assignments/{mine.uid}/").content.decode()
    asked = set(re.findall(r'name="kind\.(\w+)"', page))
    item = by(mine.rater).get(f"/api/v1/assignments/{mine.uid}/").json()["item"]
    assert asked == {criterion["key"] for criterion in item["rubric"]["criteria"]}
    for place in (1, 2):
        assert f'name="candidates.{place}.gates.authorised"' in page
        assert f'name="candidates.{place}.criteria.clear"' in page
