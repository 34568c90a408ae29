"""Conversations told once, although every call of a model repeats what came before it."""

import json

import pytest

from reviews.trajectories.detect import read_runs
from reviews.trajectories.reading import RunFile
from reviews.trajectories.schema import ReadOptions, RowError
from reviews.trajectories.spans import AGAIN_NOTE, BACK_NOTE

BE_BRIEF = {"role": "system", "content": "Be brief."}
HELLO = {"role": "user", "content": "Hello."}
HI = {"role": "assistant", "content": "Hi."}
RAIN = {"role": "user", "content": "Does it rain?"}
NO = {"role": "assistant", "content": "No."}
SNOW = {"role": "user", "content": "Does it snow?"}


def chat(number, given, answered, trace="t1", **more):
    """A LangSmith run of a model: what it was given and what it answered."""
    return {
        "id": f"{trace}-{number}",
        "trace_id": trace,
        "name": "model",
        "run_type": "llm",
        "start_time": f"2026-01-01T00:00:{number:02}",
        "inputs": {"messages": given},
        "outputs": {"choices": [{"message": answered}]} if answered else None,
        **more,
    }


def tool(number, name, arguments, result, **more):
    return chat(number, [], None) | {
        "name": name,
        "run_type": "tool",
        "inputs": arguments,
        "outputs": {"output": result},
        **more,
    }


def call(call_id, name="weather", arguments='{"city": "Bonn"}'):
    made = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [made]}


def runs_of(*spans):
    return read_runs(json.dumps(list(spans)).encode(), ReadOptions())


def told(*spans):
    (run,) = runs_of(*spans)
    return [step.text or step.call.name for step in run.steps]


def test_a_repeated_history_is_told_once():
    assert told(
        chat(1, [BE_BRIEF, HELLO], HI),
        chat(2, [BE_BRIEF, HELLO, HI, RAIN], NO),
        chat(3, [BE_BRIEF, HELLO, HI, RAIN, NO, SNOW], NO),
    ) == ["Be brief.", "Hello.", "Hi.", "Does it rain?", "No.", "Does it snow?", "No."]


def test_the_order_is_that_of_time_and_not_of_the_file():
    assert told(chat(2, [HELLO, HI, RAIN], NO), chat(1, [HELLO], HI)) == ["Hello.", "Hi.", "Does it rain?", "No."]


def test_a_history_that_was_cut_or_is_left_out_is_told_once_too():
    assert told(
        chat(1, [BE_BRIEF, HELLO], HI),
        chat(2, [BE_BRIEF, HI, RAIN], NO),  # only the end of the history
        chat(3, [BE_BRIEF, SNOW], HI),  # only what is new
    ) == ["Be brief.", "Hello.", "Hi.", "Does it rain?", "No.", "Does it snow?", "Hi."]


def test_two_agents_that_take_turns_are_two_conversations():
    critic = {"role": "system", "content": "Find faults."}
    draft = {"role": "user", "content": "Is “Hi.” good?"}
    assert told(
        chat(1, [BE_BRIEF, HELLO], HI),
        chat(2, [critic, draft], NO),
        chat(3, [BE_BRIEF, HELLO, HI, RAIN], NO),
    ) == ["Be brief.", "Hello.", "Hi.", "Find faults.", "Is “Hi.” good?", "No.", "Does it rain?", "No."]


def test_asking_again_and_going_back_are_told_with_a_note():
    (run,) = runs_of(
        chat(1, [HELLO], HI),
        chat(2, [HELLO], {"role": "assistant", "content": "Good day."}),
        chat(3, [HELLO, {"role": "assistant", "content": "Changed."}, RAIN], NO),
    )
    assert [(step.text, step.note) for step in run.steps] == [
        ("Hello.", ""),
        ("Hi.", ""),
        ("Good day.", AGAIN_NOTE),
        ("Changed.", BACK_NOTE),
        ("Does it rain?", ""),
        ("No.", ""),
    ]


def test_the_same_words_said_twice_are_said_twice():
    assert told(
        chat(1, [HELLO], HI),
        chat(2, [HELLO, HI, HELLO], HI),
    ) == ["Hello.", "Hi.", "Hello.", "Hi."]


def test_a_tool_gives_its_result_where_no_message_has_it():
    (run,) = runs_of(
        chat(1, [RAIN], call("c1")),
        tool(2, "weather", {"city": "Bonn"}, "dry"),
        tool(3, "log", {"line": "done"}, None, error="disk full"),
    )
    assert [(step.call.name, step.result.text, step.result.error) for step in run.steps[1:]] == [
        ("weather", "dry", False),
        ("log", "disk full", True),
    ]
    assert run.steps[1].result_pointer == "/1"


def test_what_a_tool_says_otherwise_than_the_message_is_attached():
    (run,) = runs_of(
        chat(1, [RAIN], call("c1")),
        tool(2, "weather", {"city": "Bonn"}, "wet"),
        chat(3, [RAIN, call("c1"), {"role": "tool", "tool_call_id": "c1", "content": "dry"}], NO),
    )
    step = run.steps[1]
    assert (step.result.text, step.attachments[0].raw) == ("dry", '"wet"')
    assert step.note == "The tool's own span gives another output; it is attached."


def test_a_span_around_the_calls_adds_only_what_none_of_them_says():
    chain = {
        "id": "chain",
        "trace_id": "t1",
        "name": "agent",
        "run_type": "chain",
        "start_time": "2026-01-01T00:00:00",
        "inputs": {"messages": [BE_BRIEF, HELLO]},
        "outputs": {"messages": [HELLO, HI, RAIN]},
    }
    assert told(chain, chat(1, [HELLO], HI, parent_run_id="chain")) == ["Be brief.", "Hello.", "Hi.", "Does it rain?"]


def test_a_call_inside_a_call_is_told_by_the_inner_one():
    outer = chat(1, [HELLO], HI)
    inner = chat(2, [BE_BRIEF, HELLO], HI, parent_run_id="t1-1")
    assert told(outer, inner) == ["Be brief.", "Hello.", "Hi."]


def test_an_answer_that_is_no_message_is_attached():
    (run,) = runs_of(chat(1, [HELLO], None) | {"outputs": {"joke": "Why?"}})
    step = run.steps[1]
    assert (step.role, step.attachments[0].kind, step.attachments[0].raw) == ("agent", "outputs", '{"joke": "Why?"}')
    assert step.note == "What the model answered could not be read as a message; it is attached."


def test_messages_that_are_none_are_told_where_they_were():
    (run,) = runs_of(chat(1, "Hello.", HI))
    assert [(step.text, step.note) for step in run.steps] == [
        ("Hi.", "What the model was given here could not be read as messages; the original has it at /0.")
    ]


def test_traces_in_one_file_are_runs_that_each_keep_their_part_of_it():
    one, other = runs_of(chat(1, [HELLO], HI), chat(1, [RAIN], NO, trace="t2"), chat(2, [HELLO, HI, SNOW], NO))
    assert [step.text for step in one.steps] == ["Hello.", "Hi.", "Does it snow?", "No."]
    assert [step.text for step in other.steps] == ["Does it rain?", "No."]
    assert [run["id"] for run in json.loads(other.original)] == ["t2-1"]
    assert other.steps[0].pointer == "/0/inputs/messages/0"
    (alone,) = runs_of(chat(1, [RAIN], NO, trace="t2"))
    assert alone.content_hash == other.content_hash


def test_runs_without_anything_to_read_are_refused():
    empty = chat(1, [], None) | {"inputs": {"x": 1}, "name": "embed"}
    with pytest.raises(RowError) as refused:
        runs_of(empty)
    assert str(refused.value) == "None of its runs has messages or tool calls that can be read: embed (llm)."


def batch(span_id, start, given, answered):
    """A line of the collector's file exporter: one span of one conversation."""
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.conversation.id": "c1",
        "gen_ai.input.messages": json.dumps(given),
        "gen_ai.output.messages": json.dumps([answered]),
    }
    pairs = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
    span = {"traceId": f"t{start}", "spanId": span_id, "startTimeUnixNano": str(start), "attributes": pairs}
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


def test_a_conversation_over_several_lines_and_traces_is_one_run(tmp_path):
    lines = [batch("b", 2, [HELLO, HI, RAIN], NO), batch("a", 1, [HELLO], HI)]
    path = tmp_path / "traces.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with RunFile(path) as file:
        (row,) = list(file)
    assert row.place == "lines 1 to 2"
    (run,) = read_runs(row.original, ReadOptions())
    assert [step.text for step in run.steps] == ["Hello.", "Hi.", "Does it rain?", "No."]
    assert run.steps[0].pointer == "/1/resourceSpans/0/scopeSpans/0/spans/0/attributes/2/value/stringValue"


def test_a_broken_line_among_gathered_ones_is_refused_alone(tmp_path):
    path = tmp_path / "traces.jsonl"
    first, last = (json.dumps(batch(name, start, [HELLO], HI)) for name, start in (("a", 1), ("b", 2)))
    path.write_text(f"{first}\n{{broken\n{last}\n")
    with RunFile(path) as file:
        broken, row = list(file)
    assert (broken.place, broken.original) == ("line 2", b"{broken")
    assert row.place == "lines 1 to 3"


def test_gathered_lines_make_rows_of_bounded_size(tmp_path):
    words = {"role": "user", "content": "x" * 3_000_000}
    path = tmp_path / "traces.jsonl"
    path.write_text("".join(json.dumps(batch("a", n, [words], HI)) + "\n" for n in range(5)))
    with RunFile(path) as file:
        assert [row.place for row in file] == ["lines 1 to 2", "lines 3 to 4", "line 5"]


def test_spans_without_content_are_refused_with_the_likely_cause():
    bare = {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "t", "spanId": "s", "attributes": []}]}]}]}
    with pytest.raises(RowError) as refused:
        read_runs(json.dumps(bare).encode(), ReadOptions())
    assert str(refused.value) == (
        "None of its 1 spans has messages or tool calls. Tracers leave content out unless they are told to record it."
    )


def test_log_records_go_with_the_spans_they_belong_to():
    def record(trace, name, body):
        values = [{"key": key, "value": {"stringValue": text}} for key, text in body.items()]
        return {
            "traceId": trace,
            "spanId": f"s-{trace}",
            "eventName": name,
            "body": {"kvlistValue": {"values": values}},
        }

    records = [
        record("t1", "gen_ai.user.message", {"content": "Hello."}),
        record("t2", "gen_ai.user.message", {"content": "Does it rain?"}),
        record("t1", "gen_ai.choice", {"message": '{"content": "Hi."}'}),
        record("t2", "gen_ai.choice", {"message": '{"content": "No."}'}),
    ]
    logs = {"resourceLogs": [{"resource": {}, "scopeLogs": [{"logRecords": records}]}]}
    one, other = read_runs(json.dumps([logs]).encode(), ReadOptions())
    assert [step.text for step in one.steps] == ["Hello.", "Hi."]
    assert [step.text for step in other.steps] == ["Does it rain?", "No."]
    kept = json.loads(other.original)
    assert kept == [{"resourceLogs": [{"resource": {}, "scopeLogs": [{"logRecords": records[1::2]}]}]}]


def test_a_patch_without_a_trace_goes_with_the_run_it_adds_to():
    posts = [chat(1, [HELLO], None), chat(1, [RAIN], None, trace="t2")]
    patch = {"id": "t2-1", "outputs": {"choices": [{"message": NO}]}}
    one, other = read_runs(json.dumps({"post": posts, "patch": [patch]}).encode(), ReadOptions())
    assert [step.text for step in one.steps] == ["Hello."]
    assert [(step.text, step.pointer) for step in other.steps] == [
        ("Does it rain?", "/post/0/inputs/messages/0"),
        ("No.", "/patch/0/outputs/choices/0/message"),
    ]
