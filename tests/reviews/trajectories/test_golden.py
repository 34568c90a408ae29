"""One small conversation written in every format: the same steps from each, pointers that lead to them, nothing told.

Each file of `golden/` holds one run: two words of the user, three of the agent with a thought, two calls made at once.
Everything in it that is called SECRET is no part of what happened and may reach no rater. Then the files are damaged.
"""

import copy
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviews.trajectories import jsontext
from reviews.trajectories.detect import FORMATS, read_run, read_runs
from reviews.trajectories.reading import BadRow, RunFile
from reviews.trajectories.render import fields
from reviews.trajectories.schema import ReadOptions, RowError

FOLDER = Path(__file__).parent / "golden"
STEPS = json.loads((FOLDER / "steps.json").read_text())
FILES = sorted(path.name for path in FOLDER.iterdir() if path.name != "steps.json")


def rows_of(name):
    with RunFile(FOLDER / name) as file:
        rows = list(file)
    assert not [row for row in rows if isinstance(row, BadRow)]
    return [row.original for row in rows]


def run_of(name):
    (original,) = rows_of(name)
    return read_run(original, ReadOptions(name=name))


def seen(step):
    """What a reader sees of a step, as `steps.json` has it."""
    call = [step.call.name, step.call.arguments] if step.call else None
    shown = {"role": step.role, "text": step.text, "reasoning": step.reasoning, "call": call}
    shown["result"] = step.result.text if step.result else None
    return {name: value for name, value in shown.items() if value}


def at(value, pointer):
    """What a JSON pointer leads to."""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value


def shown_to_raters(run):
    of_task = (run.title, run.key, run.family, run.policy_text, run.policy_title, run.context, run.slices)
    return repr((run.steps, of_task, run.tools, run.versions))


def test_there_is_a_file_for_every_format_that_holds_runs():
    read = {run_of(name).source_format for name in FILES}
    missing = FORMATS.keys() - read
    assert not missing & {"tau_bench", "tau2_bench", "inspect_log", "atif", "verifiers", "coding_agent", "anthropic"}
    assert not missing & {"openai_responses", "openai_chat"}


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_steps(name):
    assert [seen(step) for step in run_of(name).steps] == STEPS


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_fields_to_cite(name):
    of_chat = [fields(step) for step in run_of("openai_chat.json").steps]
    assert [fields(step) for step in run_of(name).steps] == of_chat


@pytest.mark.parametrize("name", FILES)
def test_the_pointers_lead_into_the_original(name):
    run = run_of(name)
    original = jsontext.parse(run.original)
    for step in run.steps:
        assert step.pointer
        assert at(original, step.pointer) is not None
        if step.call:
            assert step.call.name in json.dumps(at(original, step.pointer))
            assert step.result.text in json.dumps(at(original, step.result_pointer), ensure_ascii=False).replace(
                "\\", ""
            )


@pytest.mark.parametrize("name", FILES)
def test_nothing_that_is_no_part_of_the_run_reaches_a_rater(name):
    run = run_of(name)
    assert "SECRET" not in shown_to_raters(run)
    assert "SECRET" in run.original.decode()


@pytest.mark.parametrize(
    ("name", "result", "reward", "model"),
    [
        ("tau2_bench.json", "success", 1.0, "SECRET"),
        ("inspect_log.json", "success", 1.0, "SECRET"),
        ("atif.json", "failure", 0.0, "SECRET"),
        ("verifiers_2025.jsonl", "success", 1.0, ""),
        ("verifiers_later.jsonl", "unknown", 0.5, ""),
        ("verifiers_traces.jsonl", "success", 1.0, "SECRET"),
        ("anthropic.json", "unknown", None, "SECRET"),
        ("coding_agent.jsonl", "unknown", None, "SECRET"),
        ("openai_responses.json", "unknown", None, "SECRET"),
    ],
)
def test_how_it_ended_is_kept_apart(name, result, reward, model):
    outcome = run_of(name).outcome
    assert (outcome.result, outcome.reward, outcome.model) == (result, reward, model)


@pytest.mark.parametrize(
    ("name", "scores"),
    [
        (
            "tau2_bench.json",
            [
                {"grader": "reward", "value": 1.0, "explanation": ""},
                {"grader": "DB", "value": 1.0, "explanation": ""},
                {"grader": "db_check", "value": True, "explanation": ""},
                {"grader": "action_checks/0", "value": True, "explanation": "find_order"},
                {"grader": "nl_assertions/0", "value": True, "explanation": "SECRET assertion It did."},
            ],
        ),
        ("inspect_log.json", [{"grader": "includes", "value": "C", "explanation": "SECRET why"}]),
        ("atif.json", [{"grader": "reward", "value": 0.0, "explanation": ""}]),
        (
            "verifiers_2025.jsonl",
            [
                {"grader": "reward", "value": 1.0, "explanation": ""},
                {"grader": "judge_reward", "value": 1.0, "explanation": ""},
                {"grader": "total_tool_calls", "value": 2.0, "explanation": ""},
            ],
        ),
        (
            "verifiers_later.jsonl",
            [
                {"grader": "reward", "value": 0.5, "explanation": ""},
                {"grader": "format", "value": 0.5, "explanation": ""},
            ],
        ),
        (
            "verifiers_traces.jsonl",
            [
                {"grader": "solved", "value": 1.0, "explanation": "weight 0.5"},
                {"grader": "polite", "value": 1.0, "explanation": "weight 0.5"},
                {"grader": "turns", "value": 2.0, "explanation": ""},
            ],
        ),
    ],
)
def test_scores_of_the_source_have_one_shape(name, scores):
    assert run_of(name).outcome.data["scores"] == scores


def test_a_run_in_a_list_or_in_lines_is_the_same_run(tmp_path):
    (original,) = rows_of("anthropic.json")
    value = json.loads(original)
    for name, text in (("list.json", json.dumps([value, value], indent=1)), ("lines.jsonl", json.dumps(value) + "\n")):
        path = tmp_path / name
        path.write_text(text)
        with RunFile(path) as file:
            hashes = {read_run(row.original, ReadOptions()).content_hash for row in file}
        assert hashes == {run_of("anthropic.json").content_hash}


def places_in(value, place=()):
    """Every place inside a value."""
    yield place
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, child in pairs:
        yield from places_in(child, (*place, name))


def mutated(value, place, change):
    """The value with something else at a place, or without what is there."""
    if not place:
        return value if change is None else change
    value = copy.deepcopy(value)
    parent = value
    for name in place[:-1]:
        parent = parent[name]
    if change is None:
        del parent[place[-1]]
    else:
        parent[place[-1]] = change
    return value


def runs_or_none(original):
    """The runs in a row; none, after a look at the reason, where it is refused."""
    refused = None
    try:
        return read_runs(original, ReadOptions())
    except RowError as error:
        refused = str(error)
    assert refused.endswith(".")
    return []


ROWS = {name: [jsontext.parse(row) for row in rows_of(name)] for name in FILES}
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("tool_result"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "role", "content", "name", "id", "input", "output", "text", "x"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)


@pytest.mark.parametrize("name", FILES)
@settings(deadline=None)
@given(data=st.data())
def test_a_damaged_row_is_a_run_or_a_reason_and_never_a_crash(name, data):
    row = data.draw(st.sampled_from(ROWS[name]))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.sampled_from(list(places_in(row))))
        row = mutated(row, place, data.draw(st.none() | anything))
    original = jsontext.parse(json.dumps(row).encode())
    for run in runs_or_none(json.dumps(row).encode()):
        assert run.steps
        assert run.title is not None
        for step in run.steps:
            assert fields(step) is not None
            if not run.original or jsontext.parse(run.original) == original:
                for pointer in filter(None, (step.pointer, step.result_pointer)):
                    at(original, pointer)


@pytest.mark.parametrize("name", FILES)
@given(data=st.data())
@settings(deadline=None, max_examples=40)
def test_a_damaged_file_gives_rows_or_reasons_and_never_a_crash(name, data, tmp_path_factory):
    content = (FOLDER / name).read_bytes()
    cut = data.draw(st.integers(0, len(content)))
    junk = data.draw(st.binary(max_size=3) | st.sampled_from([b"", b'"', b"{", b"]", b",", b"\n", b"\x00"]))
    path = tmp_path_factory.mktemp("damaged") / name
    path.write_bytes(content[:cut] + junk + content[data.draw(st.integers(cut, len(content))) :])
    with RunFile(path) as file:
        for row in file:
            if isinstance(row, BadRow):
                assert row.reason.endswith(".")
                continue
            assert all(run.steps for run in runs_or_none(row.original))
