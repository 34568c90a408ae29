"""Anthropic messages: blocks become steps in their order, and results are no words of the user."""

import json

import pytest

from reviews.trajectories.detect import read_run
from reviews.trajectories.schema import Attachment, ReadOptions, RowError, Step, ToolCall, ToolResult

ASK = {"role": "user", "content": "Where is my order?"}


def run_of(row):
    return read_run(json.dumps(row).encode(), ReadOptions())


def steps_of(*messages):
    return run_of({"system": "", "messages": list(messages)}).steps


def agent(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def user(*blocks):
    return {"role": "user", "content": list(blocks)}


def text(words):
    return {"type": "text", "text": words}


def call(name="f", call_id="t1", **arguments):
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result(content, call_id="t1", **more):
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def test_the_system_text_is_the_first_step_and_may_be_blocks():
    run = run_of({"system": [text("Be kind."), text("Be brief.")], "messages": [ASK]})
    assert run.steps[0] == Step(role="system", text="Be kind.\n\nBe brief.", pointer="/system")


def test_a_result_in_a_user_message_goes_to_its_call_and_the_words_beside_it_are_the_users():
    steps = steps_of(ASK, agent(call(x=1)), user(result("done"), text("And now?")))
    assert steps[1] == Step(
        role="tool",
        call=ToolCall(id="t1", name="f", arguments_text='{"x": 1}', arguments={"x": 1}),
        result=ToolResult(text="done"),
        pointer="/messages/1/content/0",
        result_pointer="/messages/2/content/0",
    )
    assert steps[2:] == (Step(role="user", text="And now?", pointer="/messages/2"),)


def test_words_between_calls_keep_their_place():
    steps = steps_of(agent(text("First."), call(call_id="a"), text("Then."), call(call_id="b")))
    assert [(step.role, step.text, step.pointer) for step in steps] == [
        ("agent", "First.", "/messages/0"),
        ("tool", "", "/messages/0/content/1"),
        ("agent", "Then.", "/messages/0/content/2"),
        ("tool", "", "/messages/0/content/3"),
    ]


def test_errors_and_pictures_of_results_are_kept():
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBOR"}}
    steps = steps_of(agent(call()), user(result([text("No such file"), image], is_error=True)))
    assert steps[0].result == ToolResult(text="No such file", error=True)
    assert steps[0].attachments == (Attachment(kind="image", raw=json.dumps(image)),)


def test_thoughts_are_reasoning_and_hidden_ones_are_attachments():
    (step,) = steps_of(
        agent(
            {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "AAAA"},
            text("Yes."),
        )
    )
    assert (step.text, step.reasoning) == ("Yes.", "Hm.")
    assert step.attachments == (
        Attachment(kind="redacted_thinking", raw='{"type": "redacted_thinking", "data": "AAAA"}'),
    )


def test_a_long_document_stays_in_the_original_and_says_where():
    document = {"type": "document", "source": {"data": "x" * 10_000}}
    (step,) = steps_of(user(text("Read this."), document))
    assert step.attachments[0].note.endswith("kept in the original at /messages/0/content/1")


def test_tools_at_the_provider_are_calls_with_results():
    found = [{"type": "web_search_result", "url": "https://example.com", "title": "Example"}]
    steps = steps_of(
        agent(
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}},
            {"type": "web_search_tool_result", "tool_use_id": "s1", "content": found},
            {"type": "server_tool_use", "id": "s2", "name": "web_search", "input": {"query": "q"}},
            {
                "type": "web_search_tool_result",
                "tool_use_id": "s2",
                "content": {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
            },
            {"type": "mcp_tool_use", "id": "s3", "name": "find", "server_name": "shop", "input": {}},
            {"type": "mcp_tool_result", "tool_use_id": "s3", "content": [text("found")]},
            text("Done."),
        )
    )
    assert [step.call and step.call.name for step in steps] == ["web_search", "web_search", "find", None]
    assert [step.result and step.result.error for step in steps] == [False, True, False, None]
    assert json.loads(steps[0].result.text) == found
    assert steps[2].result.text == "found"


def test_a_request_its_response_and_both_are_runs():
    response = {
        "type": "message",
        "role": "assistant",
        "model": "m-1",
        "content": [text("Hi!")],
        "stop_reason": "end_turn",
    }
    assert run_of(response).steps == (Step(role="agent", text="Hi!", pointer=""),)
    both = run_of({"request": {"model": "m-0", "messages": [ASK]}, "response": response})
    assert [(step.text, step.pointer) for step in both.steps] == [
        ("Where is my order?", "/request/messages/0"),
        ("Hi!", "/response"),
    ]
    assert both.outcome.model == "m-1"
    assert both.outcome.data["response"]["stop_reason"] == "end_turn"


def test_a_bare_list_with_blocks_is_a_run_and_a_message_without_any_is_still_there():
    run = run_of([ASK, agent(call()), user(result(None)), {"role": "assistant", "content": []}])
    assert run.source_format == "anthropic"
    assert [(step.role, step.pointer) for step in run.steps] == [
        ("user", "/0"),
        ("tool", "/1/content/0"),
        ("agent", "/3"),
    ]
    assert run.steps[1].result == ToolResult(text="")


def test_plain_messages_stay_openai_chat_and_steps_are_the_same():
    messages = [ASK, {"role": "assistant", "content": "Tomorrow."}]
    chat, blocks = run_of(messages), run_of({"system": "", "messages": messages})
    assert (chat.source_format, blocks.source_format) == ("openai_chat", "anthropic")
    assert [step.text for step in chat.steps] == [step.text for step in blocks.steps]


def test_everything_beside_the_conversation_is_outcome():
    run = run_of(
        {
            "model": "SECRET-model",
            "messages": [ASK, agent(call())],
            "tools": [{"name": "f", "input_schema": {}}],
            "metadata": {"user_id": "SECRET-user"},
        }
    )
    assert run.tools == [{"name": "f", "input_schema": {}}]
    assert (run.outcome.model, run.outcome.data["metadata"]) == ("SECRET-model", {"user_id": "SECRET-user"})
    assert "SECRET" not in repr((run.steps, run.title, run.key, run.tools))


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"role": "oracle", "content": ""}, 'Message 2 has the role "oracle", which is not known.'),
        ("hello", "Message 2 has the role missing, which is not known."),
    ],
)
def test_a_message_that_cannot_be_understood_is_refused(message, reason):
    with pytest.raises(RowError) as refused:
        steps_of(ASK, message)
    assert str(refused.value) == reason
