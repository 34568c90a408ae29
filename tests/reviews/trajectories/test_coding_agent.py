"""Sessions of a coding agent: one file is one run, and every turn of its tree is told."""

import json

from reviews.trajectories.coding_agent import (
    BACK_NOTE,
    COMPACTION_NOTE,
    META_NOTE,
    MISSING_NOTE,
    SIDE_NOTE,
    SUMMARY_NOTE,
)
from reviews.trajectories.detect import read_run
from reviews.trajectories.reading import BadRow, RunFile
from reviews.trajectories.schema import ReadOptions


def line(uuid, parent, role="user", content="", **more):
    message = {"role": role, "content": content, **more.pop("message", {})}
    return {
        "type": role,
        "uuid": uuid,
        "parentUuid": parent,
        "isSidechain": False,
        "sessionId": "s1",
        "message": message,
        **more,
    }


def run_of(*lines):
    return read_run(json.dumps(list(lines)).encode(), ReadOptions())


def told(run):
    return [(step.role, step.text or (step.call and step.call.name), step.note) for step in run.steps]


def test_a_file_is_one_run_and_a_line_that_is_cut_is_refused_alone(tmp_path):
    path = tmp_path / "session.jsonl"
    good = [line("a", None, content="Fix the test"), line("b", "a", "assistant", "Done.")]
    path.write_text("\n".join(json.dumps(each) for each in good) + '\n{"type":"user","uuid":"c')
    with RunFile(path) as file:
        bad, row = file
    assert bad == BadRow("line 3", "It is not valid JSON: it is cut off before its end.")
    run = read_run(row.original, ReadOptions())
    assert (row.place, run.source_format, run.source_ref) == ("the file", "coding_agent", "session s1")
    assert [(step.text, step.pointer) for step in run.steps] == [
        ("Fix the test", "/0/message"),
        ("Done.", "/1/message"),
    ]


def test_a_file_may_begin_with_lines_that_are_no_messages(tmp_path):
    path = tmp_path / "session.jsonl"
    first = {"type": "summary", "summary": "SECRET title", "leafUuid": "a"}
    snapshot = {"type": "file-history-snapshot", "messageId": "a", "snapshot": {}}
    path.write_text("\n".join(json.dumps(each) for each in (first, snapshot, line("a", None, content="Hi"))))
    with RunFile(path) as file:
        (row,) = file
    run = read_run(row.original, ReadOptions())
    assert told(run) == [("user", "Hi", "")]
    assert run.outcome.data["lines_not_shown"] == {"summary": 1, "file-history-snapshot": 1}
    assert run.title == "Hi"


def test_side_conversations_are_shown_where_they_happened_and_marked():
    run = run_of(
        line("a", None, content="Find the bug"),
        line("b", "a", "assistant", [{"type": "tool_use", "id": "t1", "name": "Task", "input": {}}]),
        line("x", None, content="Search for it", isSidechain=True),
        line("y", "x", "assistant", "Found it.", isSidechain=True),
        line("c", "b", content=[{"type": "tool_result", "tool_use_id": "t1", "content": "Found it."}]),
        line("d", "c", "assistant", "It is in line 3."),
    )
    assert told(run) == [
        ("user", "Find the bug", ""),
        ("tool", "Task", ""),
        ("user", "Search for it", SIDE_NOTE),
        ("agent", "Found it.", SIDE_NOTE),
        ("agent", "It is in line 3.", ""),
    ]
    assert run.steps[1].result.text == "Found it."
    assert run.title == "Find the bug"


def test_going_back_and_beginning_anew_is_said():
    run = run_of(
        line("a", None, content="Write a poem"),
        line("b", "a", "assistant", "Roses are red"),
        line("c", "a", "assistant", "Violets are blue"),
        line("d", "gone", content="Another one"),
    )
    assert [note for _, _, note in told(run)] == ["", "", BACK_NOTE, MISSING_NOTE]


def test_calls_made_at_once_and_their_results_are_no_branches():
    run = run_of(
        line("a", None, content="Read both"),
        line(
            "b", "a", "assistant", [{"type": "tool_use", "id": "t1", "name": "Read", "input": {}}], message={"id": "m"}
        ),
        line(
            "c", "b", "assistant", [{"type": "tool_use", "id": "t2", "name": "Read", "input": {}}], message={"id": "m"}
        ),
        line("d", "b", content=[{"type": "tool_result", "tool_use_id": "t1", "content": "one"}]),
        line("e", "c", content=[{"type": "tool_result", "tool_use_id": "t2", "content": "two"}]),
        line("f", "e", "assistant", "Both are short."),
    )
    assert {note for _, _, note in told(run)} == {""}
    assert [step.result.text for step in run.steps if step.call] == ["one", "two"]
    assert run.steps[2].pointer == "/2/message/content/0"


def test_a_compaction_is_marked_and_its_summary_is_not_the_users():
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": "b",
        "parentUuid": None,
        "logicalParentUuid": "a",
        "sessionId": "s1",
        "content": "Conversation compacted",
    }
    run = run_of(
        line("a", None, content="Begin"),
        boundary,
        line("c", "b", content="They began.", isCompactSummary=True),
        line("d", "c", content="<reminder>", isMeta=True),
        line("e", "d", content="Go on"),
    )
    assert told(run) == [
        ("user", "Begin", ""),
        ("system", "Conversation compacted", COMPACTION_NOTE),
        ("system", "They began.", SUMMARY_NOTE),
        ("user", "<reminder>", META_NOTE),
        ("user", "Go on", ""),
    ]


def test_what_agent_it_was_stays_hidden():
    run = run_of(
        line("a", None, content="Hi", version="SECRET-2.0", cwd="/SECRET"),
        line(
            "b",
            "a",
            "assistant",
            "Hello.",
            message={"model": "SECRET-model", "usage": {"input_tokens": 7, "output_tokens": 2}},
        ),
    )
    assert run.outcome.model == "SECRET-model"
    assert run.outcome.data["usage"] == {"input_tokens": 7, "output_tokens": 2}
    assert (run.outcome.data["version"], run.outcome.data["cwd"]) == ("SECRET-2.0", "/SECRET")
    assert "SECRET" not in repr((run.steps, run.title, run.key, run.versions))
