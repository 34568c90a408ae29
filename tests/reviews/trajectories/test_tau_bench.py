"""tau-bench: steps from traj, the policy beside them, and everything that tells the end kept out of sight."""

import json

import pytest

from reviews.trajectories.detect import read_run
from reviews.trajectories.schema import ReadOptions, RowError, Step

POLICY = "# Retail policy\n\n- Ask before you act."
TALK = [
    {"role": "system", "content": POLICY},
    {"role": "user", "content": "Hi, cancel my order #W1."},
    {
        "role": "assistant",
        "content": None,
        "function_call": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "cancel", "arguments": '{"order_id": "#W1"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "name": "cancel", "content": '{"status": "cancelled"}'},
    {"role": "assistant", "content": "Done.", "tool_calls": None, "function_call": None},
    {"role": "user", "content": "Thanks! ###STOP###"},
]
ENDED = {"reward": 1.0, "info": {"r_actions": 1.0, "gt_data_hash": "SECRET-hash"}, "actions": [{"name": "SECRET-act"}]}


def row(**changes):
    task = {
        "user_id": "SECRET-user",
        "instruction": "SECRET-instruction",
        "actions": [{"name": "SECRET-action", "kwargs": {}}],
        "outputs": ["SECRET-output"],
    }
    info = {"task": task, "source": "user", "user_cost": 0.0123, "reward_info": ENDED}
    return {"task_id": 12, "reward": 1.0, "info": info, "traj": TALK, "trial": 3, **changes}


def read(value, **options):
    return read_run(json.dumps(value).encode(), ReadOptions(**options))


def test_the_leading_system_message_is_the_policy_and_no_step():
    run = read(row())
    assert run.policy_text == POLICY
    assert [(step.role, step.text or step.call.name) for step in run.steps] == [
        ("user", "Hi, cancel my order #W1."),
        ("tool", "cancel"),
        ("agent", "Done."),
        ("user", "Thanks! ###STOP###"),
    ]
    assert run.steps[1].pointer == "/traj/2/tool_calls/0"
    assert run.steps[1].result_pointer == "/traj/3"
    assert run.source_ref == "trial 3"


def test_the_end_mark_is_kept_as_written_and_said_to_be_no_words():
    last = read(row()).steps[-1]
    assert last.note == (
        "###STOP### is the mark with which the simulated requester ends the run; they are not the requester's words."
    )


@pytest.mark.parametrize(
    ("reward", "info", "result"),
    [
        (1.0, {"reward_info": ENDED}, "success"),
        (0.0, {"reward_info": {"reward": 0.0}}, "failure"),
        (0.0, {"reward_info": None}, "timeout"),
        (0.0, {}, "timeout"),
        (0.0, {"error": "boom", "traceback": "Traceback…"}, "crash"),
        (0.5, {"reward_info": {"reward": 0.5}}, "failure"),
    ],
)
def test_how_a_run_ended_is_not_read_off_its_reward_alone(reward, info, result):
    outcome = read(row(reward=reward, info=info)).outcome
    assert (outcome.result, outcome.reward) == (result, reward)


def test_a_crash_without_steps_is_a_run_that_says_so_in_neutral_words():
    run = read(row(traj=[], reward=0.0, info={"error": "SECRET-boom", "traceback": "SECRET-trace"}))
    assert run.steps == (Step(role="system", note="The run ended before its first step."),)
    assert run.outcome.result == "crash"
    assert run.outcome.data["info"] == {"error": "SECRET-boom", "traceback": "SECRET-trace"}
    assert run.title == "Task 12"
    assert "SECRET" not in repr(run.steps)


def test_nothing_of_the_outcome_leaks_into_what_raters_may_see():
    run = read(row(), model="SECRET-model", name="SECRET-model_results.json")
    assert run.outcome.model == "SECRET-model"
    for secret in ("SECRET-user", "SECRET-instruction", "SECRET-action", "SECRET-output", "SECRET-hash", "SECRET-act"):
        assert secret in json.dumps(run.outcome.data)
    assert "SECRET" not in repr((run.steps, run.title, run.key, run.policy_text, run.tools, run.source_ref))
    assert "0.0123" not in repr(run.steps)


def test_the_domain_names_the_task():
    assert read(row(), domain="retail").key == "retail-12"


def test_without_a_domain_the_policy_tells_tasks_of_two_domains_apart():
    here, there = read(row(), name="gpt-a.json"), read(row(trial=4), name="gpt-b.json")
    assert here.key == there.key
    assert here.key.startswith("task-12-")
    airline = read(row(traj=[{"role": "system", "content": "Airline policy"}, *TALK[1:]]))
    assert airline.key != here.key


def test_two_trials_with_the_same_steps_are_two_runs_and_one_row_is_one_run():
    assert read(row()).content_hash != read(row(trial=4)).content_hash
    again = json.dumps(row(), indent=1, sort_keys=True).encode()
    assert read(row()).content_hash == read_run(again, ReadOptions(domain="x")).content_hash


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"traj": "text"}, "Its traj is not a list of messages."),
        ({"task_id": None}, "Its task_id is neither a number nor a text."),
        ({"traj": [{"role": "oracle", "content": ""}]}, 'Message 1 has the role "oracle", which is not known.'),
    ],
)
def test_a_bad_row_is_refused_with_the_reason(changes, reason):
    with pytest.raises(RowError) as refused:
        read(row(**changes))
    assert str(refused.value) == reason


def test_an_odd_info_is_no_crash_of_the_import():
    assert read(row(info="none")).outcome.result == "success"
    assert read(row(info=None, reward="high")).outcome.result == "timeout"
