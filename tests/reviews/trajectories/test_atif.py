"""ATIF: observations go to their calls, copied steps are left out and said to be, and the agent stays unnamed."""

import json

import pytest

from reviews.trajectories.detect import read_run
from reviews.trajectories.schema import ReadOptions, RowError, Step, ToolResult


def run_of(*steps, **members):
    row = {
        "schema_version": "ATIF-v1.7",
        "session_id": "s-1",
        "agent": {"name": "SECRET-agent", "version": "1", "model_name": "SECRET-model"},
        "steps": list(steps),
        **members,
    }
    return read_run(json.dumps(row).encode(), ReadOptions())


def step(source, message="", **more):
    return {"step_id": 1, "source": source, "message": message, **more}


def call(call_id, name="f", **arguments):
    return {"tool_call_id": call_id, "function_name": name, "arguments": arguments}


def results(*found):
    return {"results": list(found)}


def test_results_find_their_calls_by_id_and_by_order():
    run = run_of(
        step(
            "agent",
            tool_calls=[call("c1"), call("c2"), call("c3")],
            observation=results({"source_call_id": "c2", "content": "two"}, {"content": "one"}),
        )
    )
    assert [each.result and each.result.text for each in run.steps] == ["one", "two", None]
    assert run.steps[0].note == "The result has no call id; it was joined by order."
    assert (run.steps[1].pointer, run.steps[1].result_pointer) == (
        "/steps/0/tool_calls/1",
        "/steps/0/observation/results/0",
    )


def test_what_the_world_answers_to_words_is_a_step_of_its_own():
    run = run_of(
        step("agent", tool_calls=[call("c1")]),
        step("agent", '{"commands": []}', observation=results({"content": "$ "})),
    )
    assert run.steps[0].result is None
    assert run.steps[1].text == '{"commands": []}'
    assert run.steps[2] == Step(
        role="tool",
        result=ToolResult(text="$ "),
        note="This result belongs to no call.",
        result_pointer="/steps/1/observation/results/0",
    )


def test_copied_steps_are_left_out_and_the_run_says_so():
    run = run_of(
        step("user", "Fix it", is_copied_context=True),
        step("agent", "I will", is_copied_context=True),
        step("agent", "Going on."),
        continued_trajectory_ref="next.json",
    )
    assert [(each.role, each.text, each.note) for each in run.steps] == [
        (
            "system",
            "",
            "Left out here: 2 steps that were copied from an earlier run for context. The original has them.",
        ),
        ("agent", "Going on.", "The run goes on in another file: next.json."),
    ]
    assert run.title == "Fix it"
    (only,) = run_of(step("user", "x", is_copied_context=True)).steps
    assert only.note.startswith("Left out here: 1 step that was copied")


def test_runs_of_sub_agents_and_pictures_are_attachments():
    reference = [{"session_id": "sub", "trajectory_path": "sub.json"}]
    picture = {"type": "image", "source": {"path": "a.png"}}
    run = run_of(
        step("user", [{"type": "text", "text": "Look"}, picture]),
        step("system", "Handing over.", observation=results({"subagent_trajectory_ref": reference})),
    )
    assert (run.steps[0].text, run.steps[0].attachments[0].kind) == ("Look", "image")
    assert run.steps[2].attachments[0].kind == "run of a sub-agent"
    assert json.loads(run.steps[2].attachments[0].raw) == reference


def test_the_reward_in_extra_is_taken_and_nothing_of_it_or_the_agent_is_shown():
    run = run_of(
        step("user", "Hi", metrics={"cost_usd": 0.123}),
        extra={"reward": 1.0, "task_id": 7, "why": "SECRET"},
        notes="SECRET notes",
        final_metrics={"total_cost_usd": 9.75},
    )
    assert (run.outcome.result, run.outcome.reward, run.outcome.model) == ("success", 1.0, "SECRET-model")
    assert run.outcome.data["final_metrics"] == {"total_cost_usd": 9.75}
    assert run.key == "7"
    shown = repr((run.steps, run.title, run.key, run.tools, run.source_ref))
    assert not [hidden for hidden in ("SECRET", "0.123", "9.75") if hidden in shown]


def test_runs_of_sub_agents_inside_are_told_and_not_shown():
    run = run_of(step("user", "Hi"), subagent_trajectories=[{"steps": [step("agent", "SECRET")]}])
    assert run.steps[-1].note == "The original holds runs of sub-agents too; they are not shown."
    assert "SECRET" not in repr((run.steps, run.outcome.data["session_id"]))


def test_a_run_without_steps_says_so():
    assert run_of().steps == (Step(role="system", note="The run ended before its first step."),)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (step("oracle"), 'Step 1 has the source "oracle", which is not known.'),
        ("text", "Step 1 has the source null, which is not known."),
        (step("agent", tool_calls={"a": 1}), "Step 1 has tool_calls or results that are not a list."),
        (step("agent", tool_calls=[{"id": "c"}]), "Step 1 has a tool call without a function_name."),
    ],
)
def test_a_bad_step_is_refused_with_its_place(bad, reason):
    with pytest.raises(RowError) as refused:
        run_of(bad)
    assert str(refused.value) == reason
