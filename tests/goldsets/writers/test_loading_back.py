"""Every format, with everything that files are afraid of in it, is loaded back by what reads it and is the same."""

import csv
import hashlib
import io
import json
import warnings
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pyarrow.parquet as pq
import pytest

from goldsets.enums import DatasetFormat
from goldsets.writers import card
from goldsets.writers.catalogue import FORMATS
from goldsets.writers.examples import Policies, Reading
from goldsets.writers.files import Told, parts_done, put_together, write_part
from goldsets.writers.manifest import manifest, write
from goldsets.writers.tally import Tally
from reviews.trajectories.schema import Step
from tests.goldsets.writers.making import (
    HOSTILE,
    MIXED,
    SAFE,
    STEPS,
    WORDS,
    comparison,
    corrected,
    document,
    judged,
    prefers,
    run,
    said_by_agent,
    value,
)

MEGABYTE = "x" * 1_000_000
ASKED = Step(role="user", text=HOSTILE, pointer="/messages/0")
LABELS = [
    document(
        rationale=HOSTILE,
        runs=[run([ASKED, said_by_agent(1, HOSTILE), *MIXED, said_by_agent(9, "Done.")])],
        steps=[(2, 1, "unanimous")],
    ),
    document([value(SAFE, 0)], position=2, judgments=[judged(corrections=[corrected(4, HOSTILE)])], failed_at=4),
    document(
        position=3,
        runs=[
            run([*STEPS[:3], said_by_agent(3, MEGABYTE)], outcome=None, tools=[{"name": "bare", "description": None}])
        ],
        steps=[(4, 0, "unanimous")],
    ),
    comparison(prefers(1, 2, strength=-2), position=4, answers=(HOSTILE, "plain"), judgments=[judged(rationale="")]),
    comparison(prefers(2, 1, strength=1), position=5, answers=("", "plain")),
    comparison(prefers(1, 2, strength=-1), position=6, answers=(MEGABYTE, "short")),
]


@pytest.fixture(scope="module")
def export(tmp_path_factory):
    """All formats in a folder, written in two parts, with card, Croissant and manifest."""
    working, out = tmp_path_factory.mktemp("working"), tmp_path_factory.mktemp("out")
    formats = list(FORMATS.values())
    told, tally = {form.name: Told() for form in formats}, Tally()
    for number, batches in enumerate([[LABELS[:2], LABELS[2:3]], [LABELS[3:]]]):
        part = write_part(batches, formats, WORDS, Policies(), working, number, Tally())
        assert parts_done(working)[number] == part
        tally.add(part.tally)
        for name, found in part.told.items():
            told[name].add(found)
    readings = {name: Reading(WORDS, counts=Counter(found.counts)) for name, found in told.items()}
    files = put_together(working, out, formats, 2, told, readings.__getitem__)
    definition = {"purpose": "train", "policies": {"ties": "leave_out"}}
    made = manifest(
        tally,
        told,
        files,
        dataset={"uid": "1", "name": 'Labels "of" all', "version": 2, "version_uid": "2", "project": "p"},
        definition=definition,
        left_out={"held_out_rows": 1},
        difference=None,
        licences={},
        groups=None,
        created_at="2026-11-30T08:00:00+00:00",
    )
    card.write(made, files, "train", out)
    write(made, out)
    return out


def expected(name):
    reading = Reading(WORDS)
    return [json.loads(json.dumps(row, default=str)) for each in LABELS for row in FORMATS[name].rows(each, reading)]


def plain(rows):
    return json.loads(json.dumps(rows, default=str))


def tables(export, name):
    return sorted(str(path) for path in export.glob(f"{FORMATS[name].file.removesuffix('.parquet')}-*-of-*.parquet"))


def loaded(export, name):
    """The rows of a format as somebody reads them who knows nothing but the file."""
    form = FORMATS[name]
    if form.kind == "table":
        return [row for path in tables(export, name) for row in pq.read_table(path).to_pylist()]
    text = (export / form.file).read_bytes().decode("utf-8-sig")
    if form.kind == "csv":
        return list(csv.DictReader(io.StringIO(text, newline="")))
    return json.loads(text) if form.kind == "array" else [json.loads(line) for line in text.split("\n")[:-1]]


def texts_in(value):
    """Every text in a value, and in the JSON text that it may be."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [text for one in value for text in texts_in(one)]
    return [value] if isinstance(value, str) else []


OF_KIND = {kind: [name for name, form in FORMATS.items() if form.kind == kind] for kind in ("lines", "table")}


def test_every_format_has_a_name_for_people_and_none_is_forgotten():
    assert set(FORMATS) == set(DatasetFormat.values)


# verl gets the prompts alone, people no runs.
@pytest.mark.parametrize("name", FORMATS)
def test_quotes_breaks_emoji_and_a_megabyte_are_whole_in_every_format(export, name):
    texts = texts_in(loaded(export, name))
    assert any(HOSTILE in text for text in texts)
    assert name in ("verl", "csv") or any(MEGABYTE in text for text in texts)


# Where a run's calls are told: their arguments stand as they were written, whatever they are.
CALLING = ["jsonl", "parquet", "trl_sft", "trl_kto", "verifiers", "openai_evals", "calibration", "reviewer"]


@pytest.mark.parametrize("name", CALLING)
def test_arguments_that_have_nothing_in_common_stay_apart(export, name):
    told = "\n".join(texts_in(loaded(export, name)))
    for step in MIXED:
        assert step.call.arguments_text in told


@pytest.mark.parametrize("name", OF_KIND["table"])
def test_tables_load_with_the_declared_types_and_the_same_rows(export, name):
    parts = [pq.read_table(path) for path in tables(export, name)]
    assert len(parts) == 2
    assert all(part.schema.equals(FORMATS[name].schema) for part in parts)
    rows = [row for part in parts for row in part.to_pylist()]
    assert len(rows) > 0
    assert plain(rows) == expected(name)


@pytest.mark.parametrize("name", OF_KIND["table"])
def test_hugging_face_datasets_loads_every_table_as_it_is(export, name, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import datasets  # slow, and only here

        datasets.disable_progress_bars()
        loaded = datasets.load_dataset(
            "parquet", data_files=tables(export, name), split="train", cache_dir=str(tmp_path)
        )
        assert plain(loaded.to_list()) == expected(name)


@pytest.mark.parametrize("name", OF_KIND["lines"])
def test_lines_are_json_and_the_same_rows(export, name):
    text = (export / FORMATS[name].file).read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.split("\n")[:-1]]
    assert len(rows) > 0
    assert len(rows) == len(expected(name))
    for row, wanted in zip(rows, expected(name), strict=True):
        assert _without_times(row) == _without_times(wanted)


def _without_times(row):
    """Times are written as JSON has them; `default=str` writes them otherwise."""
    return json.loads(json.dumps(row).replace("2026-11-30 08:00:00.123456+00:00", "2026-11-30T08:00:00.123456Z"))


def test_the_card_gives_every_format_as_a_configuration_that_loads(export, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import datasets

        datasets.disable_progress_bars()
        names = datasets.get_dataset_config_names(str(export))
        assert set(names) == set(OF_KIND["table"]), "the hub loads files of one kind alone"
        loaded = datasets.load_dataset(str(export), "trl_preference", cache_dir=str(tmp_path))
        assert list(loaded) == ["train"]
        assert plain(loaded["train"].to_list()) == expected("trl_preference")


def test_croissant_is_valid_and_its_hashes_are_those_of_the_files(export):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import mlcroissant

        told = mlcroissant.Dataset(jsonld=export / "croissant.json")
        assert told.metadata.name == 'Labels "of" all'
        assert told.metadata.license == ["https://choosealicense.com/licenses/other/"]
        assert len(told.metadata.distribution) > len(FORMATS)
        for file in told.metadata.distribution:
            assert hashlib.sha256((export / file.id).read_bytes()).hexdigest() == file.sha256


@pytest.mark.parametrize(
    ("licences", "for_the_hub", "for_machines"),
    [
        ({"a": "CC-BY-4.0"}, ["license: cc-by-4.0"], ["https://spdx.org/licenses/CC-BY-4.0"]),
        ({"a": "MIT", "b": "MIT"}, ["license: mit"], ["https://spdx.org/licenses/MIT"]),
        (
            {"a": "Ours, ask Lea"},
            ["license: other", 'license_name: "Ours, ask Lea"'],
            ["Ours, ask Lea"],
        ),
        (
            {"a": "MIT", "b": "CC0-1.0"},
            ["license: other"],
            ["https://spdx.org/licenses/CC0-1.0", "https://spdx.org/licenses/MIT"],
        ),
        (
            {"a": "MIT", "b": ""},
            ["license: other"],
            ["https://choosealicense.com/licenses/other/", "https://spdx.org/licenses/MIT"],
        ),
        ({}, ["license: other"], ["https://choosealicense.com/licenses/other/"]),
    ],
)
def test_card_and_croissant_say_the_licences_that_are_stated(export, licences, for_the_hub, for_machines):
    made = json.loads((export / "manifest.json").read_text(encoding="utf-8")) | {"licences": licences}
    head = card.card(made, [], "train").split("---")[1].splitlines()
    assert [line for line in head if line.startswith("license")] == for_the_hub
    assert card.croissant(made, [])["license"] == for_machines


def test_the_wide_table_comes_back_from_csv_without_a_formula(export):
    text = (export / "labels.csv").read_bytes().decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert len(rows) == len(LABELS)
    assert rows[0]["rationale"] == HOSTILE
    assert rows[3]["better"] == "A, by 2"
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row.values())


def test_label_studio_reads_one_list_of_tasks_and_a_control_for_every_answer(export):
    tasks = json.loads((export / "label_studio.json").read_text(encoding="utf-8"))
    assert len(tasks) == len(LABELS)
    first = tasks[0]["annotations"][0]
    assert first["ground_truth"] is True
    assert [(answer["from_name"], answer["value"]) for answer in first["result"]] == [
        ("said-by", {"text": ["consensus"]}),
        ("safe", {"choices": ["pass"]}),
        ("the-rationale", {"text": [HOSTILE]}),
    ]
    assert HOSTILE in tasks[0]["data"]["text"]
    view = ElementTree.fromstring((export / "label_studio.xml").read_text(encoding="utf-8"))  # noqa: S314  our own
    controls = {control.get("name"): [one.get("value") for one in control] for control in view if control.get("toName")}
    assert controls["safe"] == ["pass", "fail", "unsure"]
    answered = {answer["from_name"] for task in tasks for one in task["annotations"] for answer in one["result"]}
    assert answered <= set(controls)


def test_llama_factory_finds_what_its_info_names(export):
    info = json.loads((export / "dataset_info.json").read_text())
    assert info["llama_factory"]["ranking"] is True
    for told in info.values():
        first = json.loads((export / told["file_name"]).read_text().partition("\n")[0])
        assert set(told["columns"].values()) <= set(first)


@pytest.mark.parametrize("bundle", ["calibration", "reviewer"])
def test_both_bundles_are_as_their_schemas_say(export, bundle):
    import jsonschema

    schema = json.loads((Path(__file__).parents[3] / f"docs/schemas/{bundle}-bundle.json").read_text())
    about = json.loads((export / f"{bundle}_bundle.json").read_text())
    jsonschema.validate(about, schema)
    of_line = {"$defs": schema["$defs"], "$ref": "#/$defs/line"}
    for line in (export / FORMATS[bundle].file).read_text(encoding="utf-8").split("\n")[:-1]:
        jsonschema.validate(json.loads(line), of_line)


def test_every_file_hashes_as_the_manifest_says(export):
    told = json.loads((export / "manifest.json").read_text())
    for file in told["files"]:
        data = (export / file["name"]).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (file["bytes"], file["sha256"])
    assert told["counts"]["labels_by_kind"] == {"comparison": 3, "trajectory": 3}
    assert told["redactions"] == {"phone": 18}
    assert told["formats"]["trl_preference"]["baselines"]["pairs"] == 3
