"""Whatever is judged, the form that its page shows takes every answer, and keeps the same rows as the API."""

import json
from html.parser import HTMLParser
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviews.actions.payloads import subject_of_assignment
from reviews.models import Assignment, Evidence, Judgment
from reviews.queries.payloads import payload_of
from tests.factories import tasks
from tests.factories.answering import KINDS, holding, task
from tests.reviews.api.talking import by
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db


class Form(HTMLParser):
    """The judge page's form: what it has been given, and the fields into which answers can be written."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.sent: dict[str, list[str]] = {}
        self.offered: set[tuple[str, str]] = set()
        self.fields: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        name, kind = given.get("name", ""), given.get("type", "")
        if not name or tag not in ("input", "textarea", "select"):
            return
        self.fields.add(name)
        if kind == "hidden":
            self.sent[name] = [given.get("value", "")]
        elif kind in ("radio", "checkbox"):
            self.offered.add((name, given.get("value", "")))

    def choose(self, name: str, *values: Any) -> None:
        for value in values:
            assert (name, str(value)) in self.offered, f"the page does not offer {value} for {name}"
        self.sent[name] = [str(value) for value in values]

    def write(self, name: str, text: Any) -> None:
        assert name in self.fields, f"the page has no field {name}"
        self.sent[name] = [str(text).replace("\n", "\r\n")]

    def enter(self, payload: dict[str, Any]) -> dict[str, list[str]]:
        """What a browser sends once everything of the payload stands in the page."""
        for at, scope in [("", payload), *_places(payload)]:
            for key, word in scope["gates"].items():
                self.choose(f"{at}gates.{key}", word)
            for key, value in scope["criteria"].items():
                self._answer(at, key, value)
            for key, text in scope.get("notes", {}).items():
                self.write(f"{at}notes.{key}", text)
            for part, value in scope.get("failure", {}).items():
                (self.choose if part in ("who", "cause") else self.write)(f"{at}failure.{part}", value)
        for step, value in payload.get("steps", {}).items():
            self.choose(f"step.{step}", value)
        for name in {"evidence", "corrections"} & set(payload):
            self.write(name, json.dumps(payload[name]))
        self.write("rationale", payload["rationale"])
        self.choose("confidence", payload["confidence"])
        return self.sent

    def _answer(self, at: str, key: str, value: Any) -> None:
        if isinstance(value, dict):
            self._prefer(key, value)
        elif isinstance(value, bool):
            self.choose(f"{at}criteria.{key}", "yes" if value else "no")
        elif isinstance(value, list):
            self.choose(f"{at}criteria.{key}", *value)
        elif (f"{at}criteria.{key}", str(value)) in self.offered:
            self.choose(f"{at}criteria.{key}", value)
        else:
            self.write(f"{at}criteria.{key}", value)

    def _prefer(self, key: str, said: dict[str, Any]) -> None:
        if "tie" in said:
            self.choose(f"prefer.{key}", f"tie-{said['tie']}")
        if "prefers" in said:
            self.choose(f"prefer.{key}", f"{said['prefers']}-{said['strength']}")
        for place, rank in enumerate(said.get("ranks", ()), 1):
            self.write(f"rank.{key}.{place}", rank or "")
        for which in {"best", "worst"} & set(said):
            self.choose(f"{which}.{key}", said[which])
        if "reasons" in said:
            self.choose(f"reasons.{key}", *said["reasons"])


def _places(payload: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [(f"candidates.{place}.", each) for place, each in enumerate(payload.get("candidates", ()), 1)]


def submitted(client: Client, mine: Assignment, payload: dict[str, Any]) -> Judgment:
    """The judgment that stands once the payload was entered on the page and sent."""
    page = client.get(reverse("reviews:assignment", args=[mine.uid])).content.decode()
    answer = client.post(reverse("reviews:submit", args=[mine.uid]), Form(page).enter(payload))
    assert answer.status_code in (200, 302), answer.content.decode()
    return Judgment.objects.get(assignment=mine)


def rows_of(judgment: Judgment) -> list[list[Any]]:
    """All that is kept of a judgment, but who, when and where."""
    ratings = "criterion__key", "candidate", "value", "number", "text", "choices", "ranks", "tie", "note"
    cited = "position", "criterion__key", "candidate", "step", "field", "start", "end", "quote", "part", "mark"
    failure = "failure_step", "failure_who", "failure_cause", "failure_note"
    return [
        list(Judgment.objects.filter(pk=judgment.pk).values_list("confidence", "rationale", *failure)),
        list(judgment.ratings.order_by("criterion__position", "criterion__key", "candidate").values_list(*ratings)),
        list(judgment.evidence.values_list(*cited)),
        list(judgment.step_labels.values_list("step", "value")),
        list(judgment.corrections.values_list("step", "kind", "steps", "reason")),
        list(judgment.candidate_failures.order_by("candidate").values_list("candidate", *failure)),
    ]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=8)
@given(data=st.data())
@pytest.mark.parametrize("kind", KINDS)
def test_the_same_answers_by_page_and_by_api_make_the_same_rows(project, kind, data):
    mine = Assignment.objects.filter(queue__project=project).first() or KINDS[kind](project)
    payload = data.draw(holding(subject_of_assignment(mine)))
    kept = []
    for by_page in (True, False):
        with transaction.atomic():
            if by_page:
                judgment = submitted(enter(mine.rater), mine, payload)
            else:
                answer = by(mine.rater).post(
                    f"/api/v1/assignments/{mine.uid}/judgment/",
                    payload,
                    format="json",
                    headers={"Idempotency-Key": "one"},
                )
                assert answer.status_code == 201, answer.content
                judgment = Judgment.objects.get(assignment=mine)
            assert payload_of(judgment) == payload
            kept.append(rows_of(judgment))
            transaction.set_rollback(True)
    assert kept[0] == kept[1]


def test_alice_reviews_a_task_on_its_page(project):
    """The hint in the prompt is marked, the verifier is cited, and the task goes back with a reason."""
    mine = task(project)
    hint = tasks.PROMPT.index("with restore_right")
    of_run = {"gates": {"authorised": "pass"}, "criteria": {"why_failed": 5, "hack": False}}
    payload = {
        "gates": {"comparable": "pass"},
        "criteria": {
            "prompt_verifier": 2,
            "verifier_intent": 0,
            "prompt_intent": 1,
            "decision": 4,
            "reason": "Check that the owner said yes.",
            "world_realism": 2,
            "artificial": False,
        },
        "candidates": [of_run, of_run],
        "evidence": [
            {"criterion": "verifier_intent", "part": "verifier", "start": 0, "end": 10, "quote": "def verify"},
            {"criterion": None, "mark": "hint", "part": "prompt", "start": hint, "end": hint + 18}
            | {"quote": "with restore_right"},
        ],
        "rationale": "Any admin passes.",
        "confidence": 3,
    }
    judgment = submitted(enter(mine.rater), mine, payload)
    assert payload_of(judgment) == payload
    assert list(Evidence.objects.values_list("part", "mark", "criterion__key")) == [
        ("verifier", "", "verifier_intent"),
        ("prompt", "hint", None),
    ]
