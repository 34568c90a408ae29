"""verifiers: three generations of rollouts, tasks told by prompts where ids mislead, branches told where they begin."""

import json

import pytest

from reviews.trajectories.detect import read_run
from reviews.trajectories.schema import ReadOptions, RowError
from reviews.trajectories.verifiers import BRANCH_NOTE, ID_NOTE, ROOT_NOTE

ASK = {"role": "user", "content": "What is 2 + 2?"}
ANSWER = {"role": "assistant", "content": "4"}


def run_of(row, **options):
    return read_run(json.dumps(row).encode(), ReadOptions(**options))


def rollout(**changes):
    return {"id": 0, "prompt": [ASK], "completion": [ANSWER], "reward": 1.0, "task": "default", **changes}


def trace(*nodes, **changes):
    return {
        "id": "t1",
        "task": {"type": "Sums", "data": {"idx": 4}},
        "nodes": [{"parent": parent, "message": message} for parent, message in nodes],
        "rewards": {},
        **changes,
    }


def test_calls_as_json_texts_are_read_and_results_joined_by_order():
    call = json.dumps({"id": "c1", "function": {"name": "python", "arguments": '{"code": "2+2"}'}, "type": "function"})
    run = run_of(
        rollout(
            completion=[
                {"role": "assistant", "content": "", "tool_calls": [call]},
                {"role": "tool", "content": "4", "tool_calls": None},
            ]
        )
    )
    assert (run.steps[1].call.id, run.steps[1].call.arguments) == ("c1", {"code": "2+2"})
    assert run.steps[1].call.arguments_text == '{"code": "2+2"}'
    assert run.steps[1].result.text == "4"
    assert (run.steps[1].pointer, run.steps[1].result_pointer) == ("/completion/0/tool_calls/0", "/completion/1")


def test_texts_as_prompt_and_completion_are_two_steps():
    run = run_of(rollout(prompt="What is 2 + 2?", completion="4"))
    assert [(step.role, step.text, step.pointer) for step in run.steps] == [
        ("user", "What is 2 + 2?", "/prompt"),
        ("agent", "4", "/completion"),
    ]


def test_rows_of_one_id_with_different_prompts_are_different_tasks():
    here, again = run_of(rollout()), run_of(rollout(reward=0.0))
    other = run_of(rollout(prompt=[{"role": "user", "content": "What is 3 + 3?"}]))
    assert here.key == again.key != other.key
    assert here.outcome.data["notes"] == [ID_NOTE]
    assert run_of(rollout(), domain="sums").key == here.key.replace("task-", "sums-")
    later = run_of({"example_id": 3, "prompt": [ASK], "completion": [ANSWER], "reward": 1.0})
    assert later.key == here.key.replace("task-", "task-3-")
    assert "notes" not in later.outcome.data


@pytest.mark.parametrize(
    ("changes", "result"),
    [
        ({"reward": 1.0}, "success"),
        ({"reward": 0.0}, "failure"),
        ({"reward": 0.6}, "unknown"),
        ({"reward": None}, "unknown"),
        ({"reward": 0.0, "is_truncated": True}, "timeout"),
        ({"reward": 1.0, "is_truncated": True}, "success"),
        ({"reward": 0.0, "stop_condition": "max_turns_reached"}, "timeout"),
        ({"reward": 0.0, "error": {"type": "ModelError"}}, "crash"),
    ],
)
def test_how_a_rollout_ended(changes, result):
    assert run_of(rollout(**changes)).outcome.result == result


def test_a_graph_is_shown_in_order_with_its_branches_told():
    run = run_of(
        trace(
            (None, ASK),
            (0, ANSWER),
            (0, {"role": "assistant", "content": "5"}),
            (None, {"role": "user", "content": "Summary"}),
            (3, {"role": "assistant", "content": "4!"}),
        )
    )
    assert [(step.text, step.note) for step in run.steps] == [
        ("What is 2 + 2?", ""),
        ("4", ""),
        ("5", BRANCH_NOTE.format(0)),
        ("Summary", ROOT_NOTE),
        ("4!", ""),
    ]
    assert run.steps[4].pointer == "/nodes/4/message"
    assert (run.key, run.source_ref) == ("Sums-4", "trace t1")


def test_a_branch_that_begins_with_a_call_or_a_result_is_told_too():
    calls = [{"id": "c1", "name": "f", "arguments": "{}"}]
    run = run_of(
        trace(
            (None, ASK),
            (0, ANSWER),
            (0, {"role": "assistant", "content": None, "tool_calls": calls}),
            (1, {"role": "tool", "tool_call_id": "c1", "content": "x"}),
        )
    )
    assert run.steps[2].note == f"{BRANCH_NOTE.format(0)} {BRANCH_NOTE.format(1)}"


@pytest.mark.parametrize(
    ("rewards", "reward", "result"),
    [
        ({"a": {"score": 1.0, "weight": 0.75}, "b": {"score": 1.0, "weight": 0.25}}, 1.0, "success"),
        ({"a": {"score": 0.5, "weight": 1.0}}, 0.5, "unknown"),
        ({"a": 0.0}, 0.0, "failure"),
        ({"a": None}, None, "unknown"),
        ({}, None, "unknown"),
    ],
)
def test_the_reward_of_a_trace_is_the_weighted_sum(rewards, reward, result):
    outcome = run_of(trace((None, ASK), rewards=rewards)).outcome
    assert (outcome.reward, outcome.result) == (reward, result)


def test_an_error_that_was_overcome_is_no_crash():
    assert run_of(trace((None, ASK), errors=[{"type": "x"}], ok=False)).outcome.result == "crash"
    assert run_of(trace((None, ASK), errors=[{"type": "x"}], ok=True)).outcome.result == "unknown"


def test_nothing_of_the_outcome_leaks():
    old = run_of(
        rollout(answer="SECRET", info={"hint": "SECRET", "oai_tools": [{"name": "python"}]}, judge_reward=0.25),
        model="SECRET-model",
    )
    new = run_of(
        trace(
            (None, ASK),
            task={"type": "Sums", "data": {"idx": 1, "answer": "SECRET"}},
            agent={"config": {"model": "SECRET-model"}},
            rewards={"SECRET": {"score": 0.25, "weight": 1}},
            info={"SECRET": 1},
            stop_condition="SECRET",
        )
    )
    assert old.tools == [{"name": "python"}]
    for run in (old, new):
        assert run.outcome.model == "SECRET-model"
        assert "SECRET" not in repr((run.steps, run.title, run.key, run.tools, run.source_ref, run.policy_text))
        assert "0.25" not in repr((run.steps, run.title, run.key))


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (rollout(prompt=[], completion=[]), "It holds no messages."),
        (rollout(completion=[{"role": "oracle"}]), 'Message 2 has the role "oracle", which is not known.'),
        (
            rollout(completion=[{"role": "assistant", "content": "", "tool_calls": ["no JSON"]}]),
            "Message 2 has a tool call without a function and its name.",
        ),
    ],
)
def test_a_bad_row_is_refused_with_the_reason(row, reason):
    with pytest.raises(RowError) as refused:
        run_of(row)
    assert str(refused.value) == reason
