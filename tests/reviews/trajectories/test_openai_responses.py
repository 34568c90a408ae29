"""OpenAI Responses: items of every kind become steps, joined by call_id; what lies elsewhere is said."""

import json

import pytest

from reviews.trajectories.detect import read_run
from reviews.trajectories.schema import Attachment, ReadOptions, RowError, Step, ToolCall, ToolResult

ASK = {"role": "user", "content": "Where is my order?"}


def run_of(row):
    return read_run(json.dumps(row).encode(), ReadOptions())


def steps_of(*items):
    return run_of({"model": "m", "input": list(items)}).steps


def test_a_text_as_input_is_the_users_and_instructions_are_the_systems():
    run = run_of({"model": "m", "instructions": "Be brief.", "input": "Hi", "previous_response_id": "resp_0"})
    assert run.steps == (
        Step(
            role="system",
            text="Be brief.",
            note="What came before lies behind the response resp_0 and is not in this row.",
            pointer="/instructions",
        ),
        Step(role="user", text="Hi", pointer="/input"),
    )
    assert run.title == "Hi"


def test_calls_are_joined_by_call_id_even_where_ids_mislead():
    (step,) = steps_of(
        {"type": "function_call", "id": "x", "call_id": "c1", "name": "f", "arguments": '{"a": 1.10}'},
        {"type": "function_call_output", "id": "y", "call_id": "c1", "output": "done"},
    )
    assert step == Step(
        role="tool",
        call=ToolCall(id="c1", name="f", arguments_text='{"a": 1.10}', arguments={"a": 1.1}),
        result=ToolResult(text="done"),
        pointer="/input/0",
        result_pointer="/input/1",
    )


def test_a_call_that_carries_its_result_is_one_step():
    mcp = {
        "type": "mcp_call",
        "id": "m1",
        "server_label": "shop",
        "name": "find",
        "arguments": '{"q": "x"}',
        "output": "found",
    }
    search = {"type": "web_search_call", "id": "w1", "status": "completed", "action": {"type": "search", "query": "q"}}
    failed = {"type": "mcp_call", "id": "m2", "name": "find", "arguments": "{}", "error": {"code": 500}}
    first, second, third = steps_of(mcp, search, failed)
    assert (first.call.name, first.result.text, first.note) == ("find", "found", "A tool of the server shop.")
    assert first.result_pointer == "/input/0/output"
    assert (second.call.name, second.call.arguments) == (
        "web_search",
        {"action": {"type": "search", "query": "q"}},
    )
    assert second.result is None
    assert third.result == ToolResult(text='{"code": 500}', error=True)


def test_a_screen_and_custom_tools_are_kept():
    steps = steps_of(
        {"type": "computer_call", "call_id": "c1", "action": {"type": "click", "x": 1}},
        {"type": "computer_call_output", "call_id": "c1", "output": {"type": "screenshot", "image_url": "data:…"}},
        {"type": "custom_tool_call", "call_id": "c2", "name": "sql", "input": "select 1"},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "1"},
    )
    assert steps[0].attachments[0].kind == "computer_call_output"
    assert (steps[1].call.arguments_text, steps[1].result.text) == ("select 1", "1")


def test_a_thought_goes_to_the_message_behind_it_and_stands_alone_before_a_call():
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}], "encrypted_content": "abc"}
    answer = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Yes."}]}
    call = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
    secret = Attachment(kind="encrypted reasoning", raw='"abc"')
    assert [(step.text, step.reasoning, step.attachments) for step in steps_of(thought, answer)] == [
        ("Yes.", "Hm.", (secret,))
    ]
    assert [(step.role, step.reasoning) for step in steps_of(thought, call)] == [("agent", "Hm."), ("tool", "")]
    assert [step.reasoning for step in steps_of(ASK, thought)] == ["", "Hm."]


def test_what_is_not_known_becomes_an_attachment_and_pictures_too():
    listing = {"type": "mcp_list_tools", "server_label": "shop", "tools": []}
    picture = {"type": "input_image", "image_url": "https://example.com/cat.png"}
    steps = steps_of({"role": "user", "content": [{"type": "input_text", "text": "Look"}, picture]}, listing)
    assert steps[0].attachments == (Attachment(kind="input_image", raw=json.dumps(picture)),)
    assert steps[1] == Step(
        role="system", attachments=(Attachment(kind="mcp_list_tools", raw=json.dumps(listing)),), pointer="/input/1"
    )


def test_refusals_and_cut_answers_are_told():
    refusal = {
        "type": "message",
        "role": "assistant",
        "status": "incomplete",
        "content": [{"type": "refusal", "refusal": "I cannot."}],
    }
    (step,) = steps_of(refusal)
    assert (step.text, step.note) == ("I cannot.", "The source marks this as incomplete.")


@pytest.mark.parametrize(
    ("changes", "result"),
    [
        ({"status": "completed"}, "unknown"),
        ({"status": "failed", "error": {"code": "server_error"}}, "crash"),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "timeout"),
    ],
)
def test_how_a_response_ended(changes, result):
    answer = {"type": "message", "role": "assistant", "content": "x"}
    run = run_of({"object": "response", "model": "SECRET-model", "output": [answer], **changes})
    assert (run.outcome.result, run.outcome.model) == (result, "SECRET-model")
    assert run.outcome.data["status"] == changes["status"]
    assert "SECRET" not in repr((run.steps, run.title, run.tools))


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"model": "m", "input": ["x"]}, "The item at /input/0 is not an object."),
        (
            {"model": "m", "input": [{"role": "oracle", "content": ""}]},
            'The item at /input/0 has the role "oracle", which is not known.',
        ),
        ({"object": "response", "output": []}, "It holds no items."),
        ({"model": "m", "instructions": 7, "input": "x"}, "Its instructions are not a list of items."),
    ],
)
def test_what_cannot_be_understood_is_refused_with_the_place(row, reason):
    with pytest.raises(RowError) as refused:
        run_of(row)
    assert str(refused.value) == reason
