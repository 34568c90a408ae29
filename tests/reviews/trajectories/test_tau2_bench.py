"""tau2-bench: the policy beside the run, both sides' tools, spoken runs, and a task id that is not believed."""

import json

import pytest

from reviews.trajectories.detect import read_run
from reviews.trajectories.reading import RunFile
from reviews.trajectories.schema import ReadOptions, RowError, Step
from reviews.trajectories.tau2_bench import REQUESTER_NOTE, WRAPPED_NOTE

ASK = {"role": "user", "content": "Cancel order W-1."}
ENDED = {"reward": 1.0, "action_checks": None, "communicate_checks": None}


def action(action_id, name="cancel", **arguments):
    return {"action_id": action_id, "name": name, "arguments": arguments}


def task(task_id, *actions, told=()):
    return {"id": task_id, "evaluation_criteria": {"actions": list(actions), "communicate_info": list(told)}}


def simulation(**changes):
    return {
        "id": "s",
        "task_id": "0",
        "trial": 0,
        "termination_reason": "user_stop",
        "reward_info": ENDED,
        "messages": [ASK],
        **changes,
    }


def run_of(sim, **members):
    row = {"info": {"environment_info": {"domain_name": "retail"}}, "tasks": [], **members, "simulation": sim}
    return read_run(json.dumps(row).encode(), ReadOptions())


def runs_of(tmp_path, tasks, *simulations):
    path = tmp_path / "results.json"
    info = {"environment_info": {"domain_name": "retail"}}
    path.write_text(json.dumps({"info": info, "tasks": tasks, "simulations": simulations}))
    with RunFile(path) as file:
        return [(row.place, read_run(row.original, ReadOptions())) for row in file]


def test_each_simulation_is_a_row_with_its_place_and_only_its_own_task(tmp_path):
    tasks = [task("0", action("0_0")), task("1", action("1_0"))]
    found = runs_of(tmp_path, tasks, simulation(), simulation(task_id="1", trial=1))
    assert [(place, run.key, run.source_ref) for place, run in found] == [
        ("simulations, index 0", "retail-0", "trial 0"),
        ("simulations, index 1", "retail-1", "trial 1"),
    ]
    assert json.loads(found[0][1].original)["tasks"] == tasks[:1]


def test_a_task_id_that_the_checks_belie_is_corrected_and_the_row_says_so(tmp_path):
    tasks = [task("0", action("0_0")), task("89", action("89_0", order="W-1"))]
    checks = {**ENDED, "action_checks": [{"action": action("89_0", order="W-1"), "action_match": True}]}
    ((_, run),) = runs_of(tmp_path, tasks, simulation(reward_info=checks))
    assert run.key == "retail-89"
    assert run.outcome.data["notes"] == [
        "The simulation names task 0; its checks are those of task 89, which was taken."
    ]


def test_a_task_without_actions_is_known_by_what_had_to_be_told_or_by_there_being_nothing(tmp_path):
    tasks = [task("0", action("0_0")), task("24", told=["wool"]), task("57")]
    told = {**ENDED, "communicate_checks": [{"info": "wool", "met": True}]}
    nothing = {
        **ENDED,
        "info": {"action": {"note": "No actions to evaluate"}, "communicate": {"note": "No communicate_info"}},
    }
    found = runs_of(tmp_path, tasks, simulation(reward_info=told), simulation(reward_info=nothing))
    assert [run.key for _, run in found] == ["retail-24", "retail-57"]


def test_where_the_checks_fit_no_task_the_id_is_kept_and_doubted(tmp_path):
    checks = {**ENDED, "action_checks": [{"action": action("5_0"), "action_match": True}]}
    ((_, run),) = runs_of(tmp_path, [task("0", action("0_0"))], simulation(reward_info=checks))
    assert run.key == "retail-0"
    assert run.outcome.data["notes"] == ["The checks of the simulation are not those of the task 0 that it names."]


def test_a_run_that_did_not_come_to_its_end_has_no_checks_to_doubt_it_by(tmp_path):
    early = simulation(termination_reason="max_steps", reward_info={"reward": 0.0, "action_checks": []})
    ((_, run),) = runs_of(tmp_path, [task("0", action("0_0"))], early)
    assert (run.key, run.outcome.data.get("notes")) == ("retail-0", None)


def test_the_requester_may_call_tools_too():
    call = {"id": "c1", "name": "toggle_data", "arguments": {"on": True}, "requestor": "user"}
    answer = {"id": "c1", "role": "tool", "content": "No signal", "requestor": "user", "error": True}
    run = run_of(simulation(messages=[{"role": "user", "content": None, "tool_calls": [call]}, answer]))
    (step,) = run.steps
    assert (step.role, step.call.name, step.note) == ("tool", "toggle_data", REQUESTER_NOTE)
    assert (step.result.text, step.result.error) == ("No signal", True)
    assert (step.pointer, step.result_pointer) == ("/simulation/messages/0/tool_calls/0", "/simulation/messages/1")


def test_wrapped_words_are_unwrapped_end_marks_noted_and_thoughts_of_the_requester_hidden():
    thought = {"message": {"reasoning_content": "SECRET"}}
    run = run_of(
        simulation(
            messages=[
                {"role": "assistant", "content": '{"message": "Done."}'},
                {"role": "assistant", "content": '{"message": "Done.", "more": 1}'},
                {"role": "user", "content": "Bye ###STOP###", "raw_data": thought},
            ]
        )
    )
    assert [(step.text, step.note) for step in run.steps[:2]] == [
        ("Done.", WRAPPED_NOTE),
        ('{"message": "Done.", "more": 1}', ""),
    ]
    assert run.steps[2].note.startswith("###STOP### is the mark")
    assert "SECRET" not in repr(run.steps)


def test_speech_is_put_together_by_speaker():
    def tick(agent="", user="", **more):
        return {
            "agent_chunk": {"role": "assistant", "content": agent},
            "user_chunk": {"role": "user", "content": user},
            **more,
        }

    call = {"id": "c1", "name": "find", "arguments": {}, "requestor": "assistant"}
    ticks = [
        tick(),
        tick(user="Hel"),
        tick(user="lo."),
        tick(agent="One mo"),
        tick(agent="ment.", agent_tool_calls=[call]),
        tick(agent_tool_results=[{"id": "c1", "role": "tool", "content": "W-1"}]),
        tick(agent="Found it."),
    ]
    run = run_of(simulation(messages=[], ticks=ticks))
    assert [(step.role, step.text or step.call.name, step.pointer) for step in run.steps] == [
        ("user", "Hello.", "/simulation/ticks/1/user_chunk"),
        ("agent", "One moment.", "/simulation/ticks/3/agent_chunk"),
        ("tool", "find", "/simulation/ticks/4/agent_tool_calls/0"),
        ("agent", "Found it.", "/simulation/ticks/6/agent_chunk"),
    ]
    assert run.steps[2].result.text == "W-1"


def test_of_sound_the_script_is_read_and_not_the_bytes():
    spoken = {"role": "user", "is_audio": True, "content": "UklGRg==", "audio_script_gold": "Hello."}
    run = run_of(simulation(messages=[], ticks=[{"user_chunk": spoken}]))
    assert [step.text for step in run.steps] == ["Hello."]


def test_sound_without_words_is_a_run_that_says_so():
    run = run_of(simulation(messages=[], ticks=[{"agent_chunk": {"contains_speech": False}}] * 1200))
    assert run.steps == (
        Step(role="system", note="The source holds 1,200 ticks of sound without words.", pointer="/simulation/ticks"),
    )


@pytest.mark.parametrize(
    ("reason", "reward_info", "result"),
    [
        ("user_stop", {"reward": 1.0}, "success"),
        ("agent_stop", {"reward": 0.0}, "failure"),
        ("user_stop", {"reward": 0.7}, "failure"),
        ("user_stop", None, "unknown"),
        ("max_steps", {"reward": 0.0}, "timeout"),
        ("timeout", None, "timeout"),
        ("agent_error", {"reward": 0.0}, "crash"),
        ("infrastructure_error", None, "crash"),
        ("too_many_errors", {"reward": 0.0}, "failure"),
    ],
)
def test_how_a_run_ended(reason, reward_info, result):
    run = run_of(simulation(termination_reason=reason, reward_info=reward_info))
    assert run.outcome.result == result


def test_a_simulation_alone_is_a_run_and_needs_the_domain():
    data = json.dumps(simulation()).encode()
    alone = read_run(data, ReadOptions(domain="retail"))
    assert (alone.key, alone.steps[0].pointer) == ("retail-0", "/messages/0")


def test_reviews_and_goals_stay_hidden():
    review = {"errors": [{"severity": "SECRET", "turn_idx": 1, "reasoning": "SECRET"}]}
    run = run_of(simulation(review=review), tasks=[{"id": "0", "user_scenario": "SECRET"}])
    assert run.outcome.data["simulation"]["review"] == review
    assert run.outcome.data["tasks"][0]["user_scenario"] == "SECRET"
    assert "SECRET" not in repr((run.steps, run.title, run.key, run.policy_text, run.context))


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ("text", "Its messages are not a list."),
        (["text"], "Message 1 is not an object with a role."),
        ([ASK, {"role": "oracle"}], 'Message 2 has the role "oracle", which is not known.'),
        ([{"role": "assistant", "tool_calls": [{"id": "c"}]}], "Message 1 has a tool call without a name."),
    ],
)
def test_a_bad_row_is_refused_with_the_reason(messages, reason):
    with pytest.raises(RowError) as refused:
        run_of(simulation(messages=messages))
    assert str(refused.value) == reason
