"""What a row is, by its content, said in words; and hostile text made fit for storage."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviews.trajectories.detect import FORMATS, REPLACED_NOTE, detect, read_run
from reviews.trajectories.schema import ReadOptions, RowError

ASK = {"role": "user", "content": "Hi"}
TAU = {"task_id": 1, "reward": 0.0, "info": {}, "traj": [ASK]}


@pytest.mark.parametrize(
    ("value", "name", "reason"),
    [
        (TAU, "tau_bench", "tau-bench: it has traj, task_id and reward"),
        ({"messages": [ASK]}, "openai_chat", "OpenAI chat: it has messages with roles"),
        ([ASK], "openai_chat", "OpenAI chat: a list of messages with roles"),
        ({"choices": [{"message": ASK}]}, "openai_chat", "OpenAI chat: it is a chat completion with choices"),
        ({"request": {"messages": [ASK]}}, "openai_chat", "OpenAI chat: it has a request with messages"),
        (
            {"object": "response", "output": []},
            "openai_responses",
            "OpenAI Responses: it is a response with output items",
        ),
        (
            {"input": "Hi", "model": "m"},
            "openai_responses",
            "OpenAI Responses: it is a request with a model and input",
        ),
        (
            [ASK, {"type": "function_call", "call_id": "c"}],
            "openai_responses",
            "OpenAI Responses: a list of Responses items",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]}]},
            "anthropic",
            "Anthropic messages: its messages have Anthropic's blocks",
        ),
        (
            {"system": "Be kind.", "messages": [ASK]},
            "anthropic",
            "Anthropic messages: it has messages and a system text beside them",
        ),
        (
            {"schema_version": "ATIF-v1.7", "steps": []},
            "atif",
            "ATIF: it has schema_version ATIF-v1.7 and steps",
        ),
        (
            {"prompt": [ASK], "completion": [], "reward": 1.0},
            "verifiers",
            "verifiers: it has prompt, completion and reward",
        ),
    ],
)
def test_a_format_is_told_with_its_reason(value, name, reason):
    assert detect(value) == (name, reason)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (7, "It is no object and no list, so it is no run."),
        ([], "It fits no known format: a list, but not of messages with roles."),
        ({}, "It fits no known format. Its members are: none."),
        ({"a": 1, "b": 2}, "It fits no known format. Its members are: a, b."),
        ({"messages": []}, "It fits no known format. Its members are: messages."),
        ({"tasks": [], "simulations": []}, "It looks like a whole tau2-bench file. Import the file itself."),
        ({"eval": {}, "samples": []}, "It looks like a whole Inspect log. Import the file itself."),
        (
            {"uuid": "u", "parentUuid": None, "sessionId": "s", "type": "user"},
            "It looks like one line of a coding agent's session. Import the file itself.",
        ),
    ],
)
def test_a_row_of_no_format_is_refused_with_what_it_seems_to_be(value, reason):
    with pytest.raises(RowError) as refused:
        detect(value)
    assert str(refused.value) == reason


# Every member that a format asks about, some with what it may hold, and so every mixture of formats in one row.
MEMBERS = sorted(
    {name for known in FORMATS.values() for name in known.needs or ()} | {"role", "prompt", "inputs", "eval"}
)
HELD = st.one_of(
    st.sampled_from(
        ["text", "response", 1, True, None, [ASK], [[ASK]], {"role": "user"}, [{"from": "gpt", "value": "x"}]]
    ),
    st.dictionaries(st.sampled_from(MEMBERS), st.just([ASK]), max_size=3),
)


@given(row=st.dictionaries(st.sampled_from(MEMBERS), HELD, max_size=8))
def test_formats_that_are_not_asked_would_not_have_been_it(row):
    assert next((name for name, known in FORMATS.items() if known.recognise(row)), None) == _detected(row)


def _detected(row):
    try:
        return detect(row).name
    except RowError:
        return None


def test_the_guide_names_every_format():
    guide = (Path(__file__).resolve().parents[3] / "docs" / "formats.md").read_text()
    assert [name for name in FORMATS if f"`{name}`" not in guide] == []


def test_the_format_can_be_chosen_and_then_must_fit():
    both = {**TAU, "messages": [{"role": "user", "content": "Another text"}]}
    data = json.dumps(both).encode()
    assert read_run(data, ReadOptions()).source_format == "tau_bench"
    assert read_run(data, ReadOptions(format="openai_chat")).steps[0].text == "Another text"
    with pytest.raises(RowError, match="It is not tau-bench, the format chosen for this file"):
        read_run(json.dumps([ASK]).encode(), ReadOptions(format="tau_bench"))
    with pytest.raises(RowError, match="There is no format called csv"):
        read_run(data, ReadOptions(format="csv"))


def test_the_original_is_kept_byte_for_byte():
    data = b'{"messages": [{"role": "user", "content": "\\u0048i", "x": 1.10}], "a": 1, "a": 2}'
    assert read_run(data, ReadOptions()).original == data


def test_text_that_cannot_be_stored_is_replaced_in_the_step_and_the_step_says_so():
    data = b'[{"role": "user", "content": "a\\u0000b\\ud800"}, {"role": "user", "content": "\\ud83d\\ude00"}]'
    run = read_run(data, ReadOptions())
    assert [(step.text, step.note) for step in run.steps] == [("a␀b�", REPLACED_NOTE), ("😀", "")]
    assert run.title == "a␀b�"
    assert run.original == data


def test_nul_hidden_in_arguments_is_found_too():
    arguments = '{"x": "\\u0000"}'
    call = {"id": "c\x00", "type": "function", "function": {"name": "f", "arguments": arguments}}
    row = {"messages": [{"role": "assistant", "content": None, "tool_calls": [call]}], "metadata": {"k\x00": "v\udfff"}}
    run = read_run(json.dumps(row).encode(), ReadOptions())
    assert run.steps[0].call.id == "c␀"
    assert run.steps[0].call.arguments == {"x": "␀"}
    assert run.outcome.data == {"metadata": {"k␀": "v�"}}


any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
names = ["role", "content", "tool_calls", "function_call", "tool_call_id", "name", "refusal", "audio", "reasoning"]
roles = st.sampled_from(["user", "assistant", "tool", "function", "system", "developer"])
parts = st.fixed_dictionaries({"type": st.sampled_from(["text", "image_url", "refusal", "thinking"]), "text": any_json})
calls = st.fixed_dictionaries(
    {
        "id": st.none() | st.sampled_from(["c1", "c2"]),
        "function": st.fixed_dictionaries({"name": st.text(max_size=5), "arguments": any_json}),
    }
)
messages = st.one_of(
    st.fixed_dictionaries({"role": roles}, optional=dict.fromkeys(names[1:], any_json)),
    st.fixed_dictionaries({"role": roles, "content": st.lists(parts, max_size=3)}),
    st.fixed_dictionaries(
        {"role": st.just("assistant"), "content": st.none(), "tool_calls": st.lists(calls, max_size=3)}
    ),
    st.fixed_dictionaries(
        {"role": st.just("tool"), "tool_call_id": st.sampled_from(["c1", "c2"]), "content": any_json}
    ),
)
rows = st.fixed_dictionaries(
    {"task_id": any_json, "reward": any_json, "info": any_json, "traj": any_json | st.lists(messages, max_size=4)}
) | st.fixed_dictionaries(
    {"messages": st.lists(messages, max_size=4)},
    optional={"response": any_json, "choices": any_json, "tools": any_json, "model": any_json},
)


def run_or_reason(row):
    """The run in a row, or the sentence that refuses it."""
    try:
        return read_run(json.dumps(row).encode(), ReadOptions())
    except RowError as refused:
        return str(refused)


@given(rows)
def test_any_row_becomes_a_run_that_accounts_for_every_message_or_is_refused(row):
    run = run_or_reason(row)
    if isinstance(run, str):
        assert run.endswith(".")
        return
    assert run.steps
    pointers = {part for step in run.steps for part in (step.pointer, step.result_pointer) if part}
    source = row.get("traj", row.get("messages"))
    base = "/traj" if run.source_format == "tau_bench" else "/messages"
    for place, message in enumerate(source if isinstance(source, list) else []):
        is_policy = run.policy_text and place == 0
        assert is_policy or any(pointer.split("/")[1:3] == [base[1:], str(place)] for pointer in pointers), message


@given(
    st.dictionaries(
        st.sampled_from([*FORMATS, "messages", "choices", "response", "request", "traj", "task_id", "reward"]), any_json
    )
)
def test_any_object_is_a_run_or_is_refused(value):
    found = run_or_reason(value)
    assert found.endswith(".") if isinstance(found, str) else found.steps
