"""OpenAI chat: the same steps from every way of writing it, and nothing lost of what is odd in it."""

import json

import pytest

from reviews.trajectories.detect import read_run
from reviews.trajectories.schema import Attachment, ReadOptions, RowError, Step, ToolCall, ToolResult


def run_of(row):
    return read_run(json.dumps(row).encode(), ReadOptions())


def steps_of(*messages):
    return run_of({"messages": list(messages)}).steps


def call(name, arguments="{}", call_id="c1"):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def agent(*calls, content=None):
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def result(content, call_id="c1", **more):
    return {"role": "tool", "tool_call_id": call_id, "content": content, **more}


ASK = {"role": "user", "content": "Where is my order?"}


def test_a_message_with_two_calls_gives_three_steps_and_results_find_their_calls():
    steps = steps_of(
        ASK,
        agent(call("a", '{"x": 1}', "c1"), call("b", "{}", "c2"), content="One moment."),
        result("for b", "c2"),
        result("for a", "c1"),
        {"role": "assistant", "content": "Here it is."},
    )
    assert steps == (
        Step(role="user", text="Where is my order?", pointer="/messages/0"),
        Step(role="agent", text="One moment.", pointer="/messages/1"),
        Step(
            role="tool",
            call=ToolCall(id="c1", name="a", arguments_text='{"x": 1}', arguments={"x": 1}),
            result=ToolResult(text="for a"),
            pointer="/messages/1/tool_calls/0",
            result_pointer="/messages/3",
        ),
        Step(
            role="tool",
            call=ToolCall(id="c2", name="b", arguments_text="{}", arguments={}),
            result=ToolResult(text="for b"),
            pointer="/messages/1/tool_calls/1",
            result_pointer="/messages/2",
        ),
        Step(role="agent", text="Here it is.", pointer="/messages/4"),
    )


def test_arguments_that_are_not_json_keep_their_text():
    (step,) = steps_of(agent(call("a", '{"x": ')))
    assert step.call == ToolCall(id="c1", name="a", arguments_text='{"x": ', arguments=None)
    assert step.result is None


def test_arguments_given_as_a_value_are_noted():
    (step,) = steps_of(agent(call("a", {"x": "é"})))
    assert step.call == ToolCall(id="c1", name="a", arguments_text='{"x": "é"}', arguments={"x": "é"})
    assert step.note == "The source gives the arguments as a value, not as text."


def test_custom_tools_take_plain_text():
    (step,) = steps_of(agent({"id": "c1", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}))
    assert step.call == ToolCall(id="c1", name="sql", arguments_text="select 1", arguments=None)


def test_a_legacy_function_call_is_joined_by_name():
    steps = steps_of(
        {"role": "assistant", "content": None, "function_call": {"name": "a", "arguments": "{}"}},
        {"role": "function", "name": "a", "content": "42"},
    )
    assert len(steps) == 1
    assert steps[0].call.name == "a"
    assert steps[0].result.text == "42"
    assert steps[0].pointer == "/messages/0/function_call"


def test_results_without_ids_are_joined_by_name_and_then_by_order():
    nameless = {"role": "tool", "content": "first"}
    named = {"role": "tool", "content": "second", "name": "b"}
    steps = steps_of(agent(call("a", call_id=None), call("b", call_id=None)), named, nameless)
    assert [(step.call.name, step.result.text) for step in steps] == [("a", "first"), ("b", "second")]
    assert {step.note for step in steps} == {"The result has no call id; it was joined by order."}


def test_a_result_that_belongs_to_no_call_is_a_step_with_a_note():
    steps = steps_of(ASK, result("lost", "c9"))
    assert steps[1] == Step(
        role="tool",
        result=ToolResult(text="lost"),
        note='This result names the call "c9", which is not in the run.',
        result_pointer="/messages/1",
    )
    assert steps_of(ASK, {"role": "tool", "content": "x"})[1].note == "This result belongs to no call."


def test_a_second_result_of_one_call_is_kept_apart():
    first, second = steps_of(agent(call("a")), result("one"), result("two"))
    assert (first.result.text, second.result.text) == ("one", "two")
    assert second.note == 'This result names the call "c1", which has its result already.'


def test_two_calls_with_one_id_take_results_in_order():
    steps = steps_of(agent(call("a")), result("one"), agent(call("a")), result("two"))
    assert [step.result.text for step in steps] == ["one", "two"]


def test_parts_that_are_not_text_become_attachments():
    image = {"type": "image_url", "image_url": {"url": "https://example.com/cat.png"}}
    content = [{"type": "text", "text": "Look:"}, image, {"type": "text", "text": "What is it?"}]
    (step,) = steps_of({"role": "user", "content": content})
    assert step.text == "Look:\n\nWhat is it?"
    assert step.attachments == (Attachment(kind="image_url", raw=json.dumps(image)),)


def test_a_large_attachment_stays_in_the_original_and_says_where():
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 100_000}}
    (step,) = steps_of({"role": "user", "content": [image]})
    (attachment,) = step.attachments
    assert attachment.raw == ""
    assert attachment.note == "100,069 characters, kept in the original at /messages/0/content/0"


def test_reasoning_and_refusals_are_told_apart():
    thinking = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "No."}]
    steps = steps_of(
        {"role": "assistant", "content": thinking},
        {"role": "assistant", "content": "Yes.", "reasoning_content": "Well."},
        {"role": "assistant", "content": None, "refusal": "I cannot do that."},
    )
    assert [(step.text, step.reasoning) for step in steps] == [
        ("No.", "Hm."),
        ("Yes.", "Well."),
        ("I cannot do that.", ""),
    ]
    assert steps[2].note == "The source marks this message as a refusal."


def test_developer_is_system_and_an_empty_message_is_still_there():
    steps = steps_of({"role": "developer", "content": "Be kind."}, {"role": "assistant", "content": None})
    assert [(step.role, step.text) for step in steps] == [("system", "Be kind."), ("agent", "")]


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ([{"role": "narrator", "content": "x"}], 'Message 1 has the role "narrator", which is not known.'),
        ([ASK, {"role": 7}], "Message 2 has the role 7, which is not known."),
        ([ASK, "hello"], "Message 2 is not an object with a role."),
        ([agent("call me")], "Message 1 has a tool call without a function and its name."),
        (
            [agent({"id": "c1", "function": {"arguments": "{}"}})],
            "Message 1 has a tool call without a function and its name.",
        ),
        ([{"role": "assistant", "tool_calls": {"a": 1}}], "Message 1 has tool_calls that are not a list."),
    ],
)
def test_a_row_that_cannot_be_understood_is_refused_with_the_message(messages, reason):
    with pytest.raises(RowError) as refused:
        steps_of(*messages)
    assert str(refused.value) == reason


def test_a_bare_list_a_request_and_a_response_are_runs_too():
    answer = {"role": "assistant", "content": "Tomorrow."}
    texts = ["Where is my order?", "Tomorrow."]
    response = {"object": "chat.completion", "model": "m-1", "choices": [{"index": 0, "message": answer}]}
    for row in (
        [ASK, answer],
        {"messages": [ASK], "response": response},
        {"request": {"messages": [ASK], "model": "m-0"}, "response": response},
    ):
        assert [step.text for step in run_of(row).steps] == texts
    alone = run_of(response)
    assert [step.text for step in alone.steps] == ["Tomorrow."]
    assert alone.steps[0].pointer == "/choices/0/message"
    assert alone.outcome.model == "m-1"


def test_further_alternatives_of_an_answer_are_told():
    choices = [{"message": {"role": "assistant", "content": text}} for text in ("A", "B")]
    (step,) = run_of({"object": "chat.completion", "choices": choices}).steps
    assert (step.text, step.note) == ("A", "The source holds 2 alternatives of this message; the first is shown.")


def test_everything_beside_the_conversation_is_outcome_and_reaches_no_step():
    row = {
        "messages": [ASK, agent(call("a"))],
        "tools": [{"type": "function", "function": {"name": "a"}}],
        "model": "SECRET-model",
        "reward": 0.5,
        "label": False,
        "metadata": {"task_id": "late-order", "verdict": "SECRET-verdict"},
    }
    run = run_of(row)
    assert run.tools == row["tools"]
    assert (run.key, run.title) == ("late-order", "Where is my order?")
    assert (run.outcome.model, run.outcome.reward, run.outcome.result) == ("SECRET-model", 0.5, "unknown")
    assert run.outcome.data["metadata"]["verdict"] == "SECRET-verdict"
    assert "SECRET" not in repr((run.steps, run.title, run.key, run.policy_text, run.tools, run.source_ref))


def test_a_title_is_one_short_line():
    run = run_of([{"role": "user", "content": "word \n" * 100}])
    assert run.title == ("word " * 16).rstrip()[:79] + "…"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (
            "# Refund\nPlease fix **desk.py** so that `refund()` works.",
            "Refund Please fix desk.py so that refund() works.",
        ),
        ("- 2 * 3 and a_b_c #7", "2 * 3 and a_b_c #7"),
        ("**", "**"),
    ],
)
def test_a_title_has_no_marks_of_markdown(text, title):
    assert run_of([{"role": "user", "content": text}]).title == title


def test_a_row_may_say_what_its_task_is():
    row = {
        "task_id": "late-order-3",
        "run_id": "r-0007",
        "family": "refunds",
        "title": "Refund for a late order",
        "context": {"request": "I want my money back.", "requester": {"Owns": "A-5017"}, "answer": "SECRET-answer"},
        "slices": {"ticket": "refund", "depth": 2},
        "policy": {"title": "Desk policy", "text": "1. Ask first."},
        "environment": "desk 3.2",
        "tools_version": "5",
        "reset": "from snapshot 12 before each run",
        "stochasticity": "the order of search results",
        "messages": [ASK],
        "outcome": {"result": "failure", "reward": 0.0, "model": "SECRET-model", "data": {"habit": "SECRET-habit"}},
    }
    run = run_of(row)
    assert (run.key, run.source_ref, run.family, run.title) == (
        "late-order-3",
        "run r-0007",
        "refunds",
        "Refund for a late order",
    )
    assert run.context == {"request": "I want my money back.", "requester": {"Owns": "A-5017"}}
    assert run.slices == {"ticket": "refund", "depth": 2}
    assert (run.policy_title, run.policy_text) == ("Desk policy", "1. Ask first.")
    assert run.versions == {
        "environment": "desk 3.2",
        "tools": "5",
        "reset": "from snapshot 12 before each run",
        "stochasticity": "the order of search results",
    }
    assert (run.outcome.result, run.outcome.reward, run.outcome.model) == ("failure", 0.0, "SECRET-model")
    assert run.outcome.data == {"task_id": "late-order-3", "run_id": "r-0007", "habit": "SECRET-habit"}


def test_a_member_of_another_type_is_taken_for_outcome_and_not_shown():
    row = {
        "messages": [ASK],
        "title": ["SECRET"],
        "context": "SECRET",
        "outcome": "SECRET",
        "policy": None,
        "slices": 1,
    }
    run = run_of(row)
    assert run.outcome.data == {key: value for key, value in row.items() if key != "messages"}
    assert run.outcome.result == "unknown"
    assert "SECRET" not in repr((run.title, run.context, run.policy_text, run.slices))


def test_a_reward_no_float_can_hold_is_no_reward():
    run = run_of({"messages": [ASK], "reward": 10**400})
    assert run.outcome.reward is None
    assert run.outcome.data == {"reward": 10**400}
