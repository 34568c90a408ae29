"""A small file of each format with its own oddities, the run it becomes, and what of it no rater may see.

`samples/` holds the files and `samples/expected/` what becomes of them. What is called SECRET tells how a run ended or
what somebody said of it: it is kept with the outcome and reaches nothing that raters see. Then the files are damaged.
"""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviews.trajectories import jsontext
from reviews.trajectories.detect import FORMATS, detect, read_runs
from reviews.trajectories.reading import BadRow, RunFile
from reviews.trajectories.render import fields
from reviews.trajectories.schema import ReadOptions, RowError

FOLDER = Path(__file__).parent / "samples"
FILES = sorted(path.name for path in FOLDER.glob("*.json"))
ROWS = {name: json.loads((FOLDER / name).read_text()) for name in FILES}
ASK = {"role": "user", "content": "Hi"}
PREFERENCES = [name for name in FILES if name.startswith("preference")]


def runs_of(name):
    """The runs in a sample."""
    with RunFile(FOLDER / name) as file:
        rows = list(file)
    assert not [row for row in rows if isinstance(row, BadRow)]
    return [run for row in rows for run in read_runs(row.original, ReadOptions(name=name))]


def normal_form(run):
    """All that a run says, as plain values, without what is empty."""
    outcome = msgspec.to_builtins(run.outcome)
    said = {
        "format": run.source_format,
        "key": run.key,
        "title": run.title,
        "source_ref": run.source_ref,
        "tools": run.tools,
        "outcome": outcome,
        "spent": msgspec.to_builtins(run.spent),
        "steps": [msgspec.to_builtins(step) for step in run.steps],
    }
    return json.loads(json.dumps({name: value for name, value in said.items() if value}))


def shown_to_raters(run):
    """Whatever of a run can come before a rater's eyes; pointers never do."""
    steps = [msgspec.structs.replace(step, pointer="", result_pointer="") for step in run.steps]
    return repr((steps, run.title, run.policy_text, run.policy_title, run.context, run.tools, run.versions))


def at(value, pointer):
    """What a JSON pointer leads to."""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value


@pytest.mark.parametrize("name", FILES)
def test_a_sample_becomes_the_runs_that_are_expected(name):
    expected = json.loads((FOLDER / "expected" / name).read_text())
    assert [normal_form(run) for run in runs_of(name)] == expected


@pytest.mark.parametrize("name", FILES)
def test_what_tells_the_end_or_the_verdict_is_kept_and_reaches_no_rater(name):
    for run in runs_of(name):
        outcome = json.dumps(msgspec.to_builtins(run.outcome))
        assert "SECRET" not in shown_to_raters(run) + run.key + run.source_ref
        assert ("SECRET" in outcome) == ("SECRET" in (FOLDER / name).read_text())


@pytest.mark.parametrize("name", FILES)
def test_every_step_points_to_its_words_in_the_original(name):
    for run in runs_of(name):
        original = jsontext.parse(run.original)
        for step in run.steps:
            assert step.pointer or step.result_pointer
            for pointer, words in ((step.pointer, step.text), (step.result_pointer, step.result and step.result.text)):
                if pointer:
                    found = json.dumps(at(original, pointer), ensure_ascii=False).replace("\\", "")
                    assert json.dumps(words or "", ensure_ascii=False)[1:-1].replace("\\", "") in found


@pytest.mark.parametrize("name", PREFERENCES)
def test_a_pair_is_two_runs_of_one_task_that_do_not_tell_which_was_preferred(name):
    one, other = runs_of(name)
    assert one.key == other.key
    assert one.title == other.title
    assert one.content_hash != other.content_hash
    assert {run.outcome.data["preference"] for run in (one, other)} == {"chosen", "rejected"}
    for run in (one, other):
        seen = shown_to_raters(run) + run.key + run.source_ref
        assert not [word for word in ("chosen", "rejected", "preferred") if word in seen]


def test_the_order_of_a_pair_comes_from_the_words_and_not_from_the_preference():
    row = ROWS["preference_sharegpt.json"]
    turned = {**row, "chosen": row["rejected"], "rejected": row["chosen"]}
    texts = [
        [run.steps[-1].text for run in read_runs(json.dumps(value).encode(), ReadOptions())] for value in (row, turned)
    ]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("name", [name for name in FILES if name.startswith("candidates")])
def test_answers_compared_are_runs_of_one_task_that_do_not_tell_which_was_preferred(name):
    runs = runs_of(name)
    assert len({run.key for run in runs}) == len({run.title for run in runs}) == 1
    assert len({run.content_hash for run in runs}) == len(runs) == runs[0].outcome.data["candidates"]
    for run in runs:
        seen = shown_to_raters(run) + run.key + run.source_ref
        assert run.compared
        assert not [word for word in ("chosen", "rejected", "response", "completions", "score") if word in seen]


@pytest.mark.parametrize(
    ("row", "preferences"),
    [
        ({"prompt": "p", "output_1": "a", "output_2": "b", "label": 2}, {"a": "rejected", "b": "chosen"}),
        (
            {"prompt": "p", "response1": "a", "response2": "b", "overall_preference": -3},
            {"a": "chosen", "b": "rejected"},
        ),
        ({"prompt": "p", "response1": "a", "response2": "b", "overall_preference": 0}, {"a": "tie", "b": "tie"}),
        ({"prompt": "p", "output_a": "a", "output_b": "b", "label": "left"}, {"a": None, "b": None}),
        ({"prompt": "p", "responses": ["a", "b"], "scores": [1, 2]}, {"a": None, "b": None}),
        ({"prompt": "p", "chosen": "a", "rejected": ["b", "c"]}, {"a": "chosen", "b": "rejected", "c": "rejected"}),
    ],
)
def test_a_preference_is_read_where_its_meaning_is_known_and_kept_as_it_is_elsewhere(row, preferences):
    runs = read_runs(json.dumps(row).encode(), ReadOptions())
    assert {run.steps[-1].text: run.outcome.data.get("preference") for run in runs} == preferences
    for run in runs:
        for name in {"label", "overall_preference"} & row.keys():
            assert run.outcome.data[name] == row[name]
        if "scores" in row:
            place = row["responses"].index(run.steps[-1].text)
            assert run.outcome.data["scores"][0]["value"] == row["scores"][place]


@pytest.mark.parametrize(
    "row",
    [
        {"prompt": "p", "responses": ["only one"]},
        {"prompt": "p", "answers": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]},
        {"responses": ["a", "b"]},
        {"prompt": "p", "chosen": ["a"], "rejected": []},
        {"instruction": "You want two refunds.", "actions": [], "outputs": ["54.04", "41.64"], "user_id": "u"},
        {"instruction": "Rate.", "rating": 1, "answer_a": 4, "answer_b": 2},
    ],
)
def test_what_compares_nothing_is_not_taken_for_answers(row):
    with pytest.raises(RowError):
        detect(row)


def test_answers_beyond_a_hundred_are_refused():
    row = {"prompt": "p", "responses": [str(number) for number in range(101)]}
    with pytest.raises(RowError, match="It has 101 answers"):
        read_runs(json.dumps(row).encode(), ReadOptions())


def test_a_large_image_of_an_answer_does_not_tell_where_it_stands():
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 9000}}
    row = {"prompt": "Draw two.", "chosen": [{"role": "assistant", "content": [image]}], "rejected": "2"}
    runs = read_runs(json.dumps(row).encode(), ReadOptions())
    notes = [attachment.note for run in runs for step in run.steps for attachment in step.attachments]
    assert notes == ["9,069 characters, kept in the original"]


def test_there_is_a_sample_for_every_format_that_has_no_other_test_file():
    read = {run.source_format for name in FILES for run in runs_of(name)}
    assert read >= FORMATS.keys() - {
        "assay_task",
        "tau_bench",
        "tau2_bench",
        "inspect_log",
        "atif",
        "verifiers",
        "coding_agent",
        "anthropic",
        "openai_responses",
        "openai_chat",
    }


def places_in(value, place=()):
    """Every place inside a value."""
    yield place
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, child in pairs:
        yield from places_in(child, (*place, name))


def with_change(value, place, change):
    """The value with something else at a place."""
    if not place:
        return change
    name, *rest = place
    if isinstance(value, list):
        return [*value[:name], with_change(value[name], rest, change), *value[name + 1 :]]
    return {**value, name: with_change(value[name], rest, change)}


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
words = st.sampled_from(["tool", "assistant", "user", "system", "tool_call", "EVALUATOR", "llm", '{"role": 1}', "[[]]"])
anything = st.recursive(
    scalars | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6) | words, inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("name", FILES)
@given(data=st.data())
@settings(deadline=None)
def test_a_damaged_sample_is_runs_or_a_reason_and_never_a_crash(name, data):
    row = ROWS[name]
    for _ in range(data.draw(st.integers(1, 3))):
        row = with_change(row, data.draw(st.sampled_from(list(places_in(row)))), data.draw(anything))
    reason = "."
    runs = []
    try:
        runs = read_runs(json.dumps(row).encode(), ReadOptions())
    except RowError as refused:
        reason = str(refused)
    assert reason.endswith(".")
    for run in runs:
        assert run.steps
        original = jsontext.parse(run.original)
        for step in run.steps:
            assert all(isinstance(field.text, str) for field in fields(step))
            for pointer in (step.pointer, step.result_pointer):
                at(original, pointer)  # fails where a pointer leads nowhere


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("swe_agent.json", "SWE-agent: its trajectory has actions with observations"),
        ("swe_agent_history.json", "SWE-agent: its history has messages with roles"),
        ("mini_swe_agent.json", "mini-swe-agent: its trajectory_format says so"),
        ("openhands.json", "OpenHands: its history has actions and observations"),
        ("openhands_v1.json", "OpenHands events: a list of events that say their kind and source"),
        ("otlp.json", "OpenTelemetry GenAI: it has resourceSpans"),
        ("langsmith.json", "LangSmith: it has post and patch"),
        ("langfuse.json", "Langfuse: it has a trace with observations"),
        ("sharegpt.json", "ShareGPT: it has conversations with from and value"),
        ("preference.json", "Preference pair: it has chosen and rejected"),
        ("preference_openai.json", "Preference pair: it has preferred_output and non_preferred_output"),
        ("preference_dialogue.json", "Preference pair: it has chosen and rejected"),
        ("candidates.json", "Answers compared: it has a prompt and 3 answers to it"),
        ("candidates_conversations.json", "Answers compared: it has 2 conversations"),
        ("who_and_when.json", "Who&When failure attribution: its history has a mistake_step"),
        ("prm800k.json", "PRM800K: it has a question with its problem and a label with steps"),
        ("kto.json", "KTO record: it has prompt, completion and a label of true or false"),
        ("stepwise.json", "Stepwise record: it has prompt, completions and labels"),
        ("sft.json", "Fine-tuning record: it has prompt and completion"),
        ("label_studio.json", "Label Studio task: it has data with annotations"),
    ],
)
def test_the_format_is_told_with_its_reason(name, reason):
    assert detect(ROWS[name]).reason == reason


@pytest.mark.parametrize(
    "more",
    [
        {"label": True, "model": "m"},
        {"history": [ASK]},
        {"context": {"request": "Hi"}, "attributes": {"colour": "red"}},
        {"conversations": []},
        {"prompt": "Hi"},
    ],
)
def test_a_logged_chat_with_one_more_member_is_still_a_chat(more):
    assert detect({"messages": [ASK], **more}).name == "openai_chat"


def test_label_studio_min_export_is_refused_because_answers_look_like_data():
    row = {"id": 1, "text": "Hi", "sentiment": "good", "annotator": 1, "annotation_id": 2}
    with pytest.raises(RowError, match="answers cannot be told from data"):
        read_runs(json.dumps(row).encode(), ReadOptions())


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (
            {"data": {"image": "s3://x/y.png"}, "annotations": []},
            "Its data has no run, dialogue or text. Its members are: image.",
        ),
        ({"prompt": "a", "completions": ["b"], "labels": []}, "It has 1 completions and 0 labels."),
        ({"conversations": [{"from": "oracle", "value": "x"}]}, 'Turn 1 is from "oracle", which is not known.'),
        (
            [{"id": "e", "timestamp": "t", "source": "x", "kind": "PauseEvent"}],
            "It holds no messages, actions or observations, only changes of state.",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(row, reason):
    with pytest.raises(RowError) as refused:
        read_runs(json.dumps(row).encode(), ReadOptions())
    assert str(refused.value) == reason
