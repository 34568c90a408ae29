"""Corrections: what the agent should have done, written by the rater and held to the tools the agent had."""

import pytest

from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.errors import Invalid
from reviews.models import Judgment
from reviews.queries.payloads import payload_of
from reviews.trajectories.corrected import Unfit, read_given
from reviews.trajectories.tools import tools_of
from tests import factories as make

TOOLS = (
    {
        "name": "read_account",
        "parameters": {
            "type": "object",
            "properties": {"account_id": {"type": "string", "pattern": "^A-[0-9]{4}$"}},
            "required": ["account_id"],
            "additionalProperties": False,
        },
    },
    {"name": "close_ticket"},
)
RIGHT = {"tool": "read_account", "arguments": {"account_id": "A-5017"}}
REWRITE = {"step": 3, "kind": "rewrite", "steps": [RIGHT], "reason": "The requester owns A-5017."}


@pytest.fixture
def mine(db):
    return assigned("offered")


def assigned(rule):
    project = make.project()
    queue = make.queue(project, items=[make.item(project, tools=TOOLS)], rubric={"correction": rule})
    return claim(actor=make.expert(project, "Alice"), queue=queue)


def submitted(mine, payload):
    receipt = submit(actor=mine.rater, uid=mine.uid, payload=payload, idempotency_key="k")
    return Judgment.objects.get(pk=receipt.judgment.pk)


def errors_of(mine, *corrections, payload=None):
    with pytest.raises(Invalid) as refused:
        submitted(mine, (payload or make.passing()) | {"corrections": list(corrections)})
    return list(refused.value.errors)


def test_a_rewritten_step_is_kept_beside_the_run_and_reads_back_as_it_was_written(mine):
    judgment = submitted(mine, make.failing(corrections=[REWRITE]))
    kept = judgment.corrections.get()
    assert (kept.step, kept.kind, kept.reason) == (3, "rewrite", "The requester owns A-5017.")
    assert kept.steps[0]["call"]["arguments_text"] == '{"account_id": "A-5017"}'
    assert payload_of(judgment)["corrections"] == [REWRITE]


def test_another_way_on_takes_the_place_of_all_that_follows(mine):
    way = [RIGHT | {"result": "{}"}, {"text": "Your order is on its way."}]
    other = {"step": 3, "kind": "continue", "steps": way, "reason": "This is how it is done."}
    assert errors_of(mine, other, REWRITE | {"step": 4, "steps": [{"text": "Done."}]}) == ["corrections"]
    assert submitted(mine, make.passing(corrections=[other])).corrections.get().steps[1]["text"] == way[1]["text"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"step": 1}, "step"),  # the requester's
        ({"step": 9}, "step"),
        ({"kind": "delete"}, "kind"),
        ({"reason": " "}, "reason"),
        ({"steps": []}, "steps"),
        ({"steps": [RIGHT, RIGHT]}, "steps"),
        ({"steps": ["No"]}, "steps.0"),
        ({"steps": [{"text": " "}]}, "steps.0.text"),
        ({"steps": [{"text": "a\x00b"}]}, "steps.0.text"),
        ({"steps": [{"tool": "delete_account"}]}, "steps.0.tool"),
        ({"steps": [RIGHT | {"arguments": {"account_id": "5017"}}]}, "steps.0.arguments"),
        ({"steps": [RIGHT | {"arguments": {}}]}, "steps.0.arguments"),
        ({"steps": [RIGHT | {"arguments": {"account_id": "A-5017", "force": True}}]}, "steps.0.arguments"),
        ({"steps": [RIGHT | {"arguments": "A-5017"}]}, "steps.0.arguments"),
        ({"steps": [RIGHT | {"text": "And a word."}]}, "steps.0.text"),
        ({"steps": [RIGHT | {"role": "user"}]}, "steps.0.role"),
    ],
)
def test_a_correction_that_does_not_hold_is_named_at_its_field(mine, change, field):
    assert errors_of(mine, REWRITE | change) == [f"corrections.0.{field}"]


def test_a_step_is_corrected_once(mine):
    assert errors_of(mine, REWRITE, REWRITE) == ["corrections"]


@pytest.mark.django_db
def test_the_rubric_says_whether_corrections_are_wanted():
    assert errors_of(assigned("never"), REWRITE) == ["corrections"]
    on_fail = assigned("on_fail")
    assert errors_of(on_fail, payload=make.failing()) == ["corrections"]
    submitted(on_fail, make.passing())
    assert errors_of(assigned("always")) == ["corrections"]


def test_a_schema_that_is_none_checks_nothing_and_fetches_nothing():
    for takes in (
        {"type": 7},
        {"$ref": "http://127.0.0.1:9/schema.json"},
        {"$ref": "#/nowhere"},
        {"properties": {"a": {"pattern": "(a+)+$"}}},
        {"patternProperties": {"(a+)+$": {}}},
        {"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
    ):
        tools = tools_of([{"name": "t", "parameters": takes}])
        assert read_given({"tool": "t", "arguments": {"b": "a" * 60 + "!"}}, tools).call.name == "t"


def test_a_pattern_is_matched_in_linear_time():
    tools = tools_of([{"name": "t", "parameters": {"properties": {"a": {"pattern": "^(a+)+$"}}}}])
    with pytest.raises(Unfit):
        read_given({"tool": "t", "arguments": {"a": "a" * 5_000 + "!"}}, tools)


def test_where_no_tools_are_known_any_call_is_taken():
    assert read_given({"tool": "anything", "arguments": {"x": [1, {"y": None}]}}, []).call.arguments == {
        "x": [1, {"y": None}]
    }
