"""Inspect: samples from messages, pools and references; errors, limits and scores told apart; targets hidden."""

import json

import pytest

from reviews.trajectories.detect import read_run
from reviews.trajectories.inspect_log import LOST_NOTE
from reviews.trajectories.schema import Attachment, ReadOptions, RowError, Step, ToolResult

ASK = {"role": "user", "content": "What is 2 + 2?"}
ANSWER = {"role": "assistant", "content": "4"}


def sample(**changes):
    return {
        "id": 1,
        "epoch": 1,
        "input": "SECRET input",
        "target": "SECRET target",
        "messages": [ASK, ANSWER],
        "scores": {},
        **changes,
    }


def run_of(value, **header):
    row = {"eval": {"task": "sums", "model": "SECRET-model", **header}, "sample": value}
    return read_run(json.dumps(row).encode(), ReadOptions())


def steps_of(*messages, **changes):
    return run_of(sample(messages=list(messages), **changes)).steps


def model_event(**members):
    return {"event": "model", "output": {"choices": [{"message": ANSWER}]}, **members}


def test_epochs_are_runs_of_one_task():
    first, second = run_of(sample()), run_of(sample(epoch=2))
    assert first.key == second.key == "sums-1"
    assert (first.source_ref, second.source_ref) == ("epoch 1", "epoch 2")
    assert first.content_hash != second.content_hash


def test_references_are_resolved_everywhere_and_one_that_leads_nowhere_says_so():
    call = {"id": "c", "function": "run", "arguments": {"code": "attachment://b", "more": ["tc://c"]}}
    steps = steps_of(
        {"role": "user", "content": [{"type": "text", "text": "attachment://a"}]},
        {"role": "assistant", "content": "attachment://gone", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "attachment://a"},
        attachments={"a": "long text", "b": "print(1)"},
        transcript={"content": {"c": "older"}},
    )
    assert steps[0].text == "long text"
    assert (steps[1].text, steps[1].note) == ("attachment://gone", LOST_NOTE)
    assert steps[2].call.arguments == {"code": "print(1)", "more": ["older"]}
    assert steps[2].result.text == "long text"


def test_a_large_picture_behind_a_reference_says_where_it_is():
    picture = {"type": "image", "image": "attachment://p"}
    steps = steps_of({"role": "user", "content": [picture]}, attachments={"p": "data:image/png;base64," + "A" * 5000})
    assert steps[0].attachments[0].note.endswith("kept in the original at /sample/messages/0/content/0")


@pytest.mark.parametrize(
    "members",
    [
        {"events": [model_event(input=[], input_refs=[[0, 1], [2, 3]])], "message_pool": [ASK, "other", ANSWER]},
        {"events": [model_event(input=[], input_refs=[[0, 2]])], "events_data": {"messages": [ASK, ANSWER]}},
        {"events": [model_event(input=["older"]), model_event(input=[ASK, ANSWER])]},
    ],
)
def test_messages_that_are_missing_come_from_the_last_call_of_the_model(members):
    run = run_of(sample(messages=[], **members))
    assert [step.text for step in run.steps] == ["What is 2 + 2?", "4", "4"]
    original = json.loads(run.original)
    for step in run.steps:
        value = original
        for part in step.pointer.split("/")[1:]:
            value = value[int(part)] if isinstance(value, list) else value[part]
        assert value["content"] == step.text


def test_without_messages_and_events_input_and_output_are_the_run():
    run = run_of(sample(messages=None, input="What is 2 + 2?", output={"choices": [{"message": ANSWER}]}))
    assert [(step.role, step.pointer) for step in run.steps] == [
        ("user", "/sample/input"),
        ("agent", "/sample/output/choices/0/message"),
    ]
    empty = run_of(sample(messages=[], input="", error={"message": "boom"}))
    assert empty.steps == (Step(role="system", note="The run ended before its first step."),)
    assert (empty.outcome.result, empty.title) == ("crash", "Sample 1")


def test_an_error_of_a_tool_is_shown_with_its_words():
    call = {"id": "c", "function": "bash", "arguments": {"cmd": "x"}, "parse_error": "bad JSON"}
    error = {"type": "timeout", "message": "It took too long."}
    steps = steps_of(
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "function": "bash", "content": "", "error": error},
    )
    assert len(steps) == 1
    assert steps[0].result == ToolResult(text="It took too long.", error=True)
    assert steps[0].note == "The call could not be understood: bad JSON The tool reported an error: timeout."


def test_tools_at_the_provider_and_hidden_thoughts_keep_their_place():
    search = {
        "type": "tool_use",
        "tool_type": "web_search",
        "id": "w",
        "name": "web_search",
        "arguments": '{"q": 1}',
        "result": "found",
    }
    hidden = {"type": "reasoning", "reasoning": "AAAA", "redacted": True, "summary": "It sums."}
    steps = steps_of(
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "Let me see."}, search, hidden, {"type": "text", "text": "4"}],
        }
    )
    assert [(step.role, step.text, step.reasoning) for step in steps] == [
        ("agent", "Let me see.", ""),
        ("tool", "", ""),
        ("agent", "4", "It sums."),
    ]
    assert (steps[1].call.arguments, steps[1].result.text) == ({"q": 1}, "found")
    assert steps[1].result_pointer == "/sample/messages/0/content/1/result"
    assert steps[2].attachments[0].kind == "redacted reasoning"


@pytest.mark.parametrize(
    ("changes", "result", "reward"),
    [
        ({"scores": {"match": {"value": "C"}}}, "success", 1.0),
        ({"scores": {"match": {"value": "I"}}}, "failure", 0.0),
        ({"scores": {"match": {"value": "P"}}}, "unknown", 0.5),
        ({"scores": {"match": {"value": "N"}}}, "failure", 0.0),
        ({"scores": {"match": {"value": True}}}, "success", 1.0),
        ({"scores": {"match": {"value": 0.3}}}, "unknown", 0.3),
        ({"scores": {"match": {"value": "fine"}}}, "unknown", None),
        ({"scores": {"a": {"value": "C"}, "b": {"value": "I"}}}, "unknown", None),
        ({"scores": None}, "unknown", None),
        ({"score": {"value": "C"}, "scores": None}, "success", 1.0),
        ({"scores": {"match": {"value": "I"}}, "limit": {"type": "message", "limit": 50}}, "timeout", 0.0),
        ({"scores": {"match": {"value": "C"}}, "limit": {"type": "message", "limit": 50}}, "success", 1.0),
        ({"scores": {"match": {"value": "I"}}, "error": {"message": "boom"}}, "crash", 0.0),
    ],
)
def test_scores_limits_and_errors_are_told_apart(changes, result, reward):
    outcome = run_of(sample(**changes)).outcome
    assert (outcome.result, outcome.reward) == (result, reward)


def test_a_score_that_is_no_number_is_kept_as_its_text():
    data = json.dumps({"eval": {}, "sample": sample(scores={"m": {"value": float("nan")}})}).encode()
    assert b"NaN" in data
    outcome = read_run(data, ReadOptions()).outcome
    assert (outcome.reward, outcome.data["scores"]) == (None, [{"grader": "m", "value": "NaN", "explanation": ""}])


def test_nothing_of_the_outcome_leaks():
    run = run_of(
        sample(
            metadata={"solution": "SECRET solution"},
            scores={"match": {"value": "C", "answer": "SECRET answer", "explanation": "SECRET why"}},
            store={"key": "SECRET store"},
            events=[{"event": "score", "score": "SECRET event"}],
        )
    )
    assert run.outcome.model == "SECRET-model"
    assert run.outcome.data["scores"] == [{"grader": "match", "value": "C", "explanation": "SECRET why"}]
    assert run.outcome.data["sample"]["target"] == "SECRET target"
    assert {"store", "events", "messages"}.isdisjoint(run.outcome.data["sample"])
    assert "SECRET" not in repr((run.steps, run.title, run.key, run.policy_text, run.tools, run.source_ref))


def test_the_tools_of_the_last_call_are_kept_with_their_descriptions():
    tools = [{"name": "bash", "description": "attachment://d"}]
    run = run_of(sample(events=[model_event(tools=tools)], attachments={"d": "Runs commands."}))
    assert run.tools == [{"name": "bash", "description": "Runs commands."}]


def test_a_picture_is_an_attachment():
    picture = {"type": "image", "image": "https://example.com/x.png"}
    (step,) = steps_of({"role": "user", "content": [{"type": "text", "text": "Look"}, picture]})
    assert step.attachments == (Attachment(kind="image", raw=json.dumps(picture)),)


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"role": "oracle", "content": "x"}, 'Message 1 has the role "oracle", which is not known.'),
        ("text", "Message 1 has the role null, which is not known."),
        ({"role": "assistant", "tool_calls": {"a": 1}}, "Message 1 has tool_calls that are not a list."),
        ({"role": "assistant", "tool_calls": [{"id": "c"}]}, "Message 1 has a tool call without a function."),
    ],
)
def test_a_bad_sample_is_refused_with_the_reason(message, reason):
    with pytest.raises(RowError) as refused:
        steps_of(message)
    assert str(refused.value) == reason
