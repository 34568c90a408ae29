"""Each export is read by what it is for, installed from PyPI, and is there what the database holds."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from reviews.models import Label, LabelValue
from tests.consumers.world import exported, steps_of, told
from tests.environments import environment
from tests.goldsets.writers.making import HOSTILE

PROGRAMS = Path(__file__).parent / "programs"
# Trainers stand in one environment: their loaders work with each other's versions, and torch is there once. What they
# need to train many models on many cards does not come along.
TRAINING = ("torch==2.13.0", "trl==1.16.0", "ray==2.60.0", "tensordict==0.10.0", "hydra-core==1.3.8", "numba==0.68.1")
TRAINING += (
    "peft==0.21.2",
    "codetiming==1.4.0",
    "colorama==0.4.6",
    "pylatexenc==2.11",
    "pillow==13.0.0",
    "fire==0.7.1",
)
TRAINING += ("requests==2.34.2", "addict==2.4.0", "posthog==7.91.1")
TRAINERS = ("verl==0.9.1", "openrlhf==0.11.2", "axolotl==0.19.0", "llamafactory==0.9.5")
INSPECT = ("inspect-ai==0.3.285",)
LABEL_STUDIO = ("label-studio==1.23.2",)
# Nothing is asked of a hub, nothing is told to anybody, and one version of transformers serves them all.
QUIET = {"HF_HUB_OFFLINE": "1", "DO_NOT_TRACK": "1", "AXOLOTL_DO_NOT_TRACK": "1", "DISABLE_VERSION_CHECK": "1"}


def read_by(program: str, folder: Path, python: Path) -> Any:
    """What the consumer made of the files."""
    done = subprocess.run(
        [str(python), str(PROGRAMS / f"{program}.py"), str(folder)],
        env={**os.environ, **QUIET, "HF_HOME": str(folder.parent / "hub"), "HOME": str(folder.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    line = next(line for line in done.stdout.splitlines() if line.startswith("READ "))
    return json.loads(line.removeprefix("READ "))


@pytest.fixture(scope="session")
def training() -> Path:
    return environment("training", TRAINING, alone=TRAINERS)


def tools_in(text: str) -> tuple[list[dict[str, Any]], str]:
    """The tools that a chat template put in front, and what follows them."""
    assert text.startswith("<tools>")
    tools, _end, rest = text.removeprefix("<tools>").partition("</tools>")
    return json.loads(tools), rest


# --- TRL --------------------------------------------------------------------------------------------------------------
def test_trl_trains_on_every_file_and_prepares_what_the_database_holds(world, training):
    formats = ("trl_preference", "trl_preference_implicit", "trl_reward", "trl_kto", "trl_sft")
    read = read_by("trl_trains", exported(world, *formats), training)
    better, worse = steps_of(world.pair.item, 2), steps_of(world.pair.item, 1)
    for name in ("trl_preference", "trl_preference_implicit"):
        pair = row_of(read[name], world.pair)
        tools, prompt = tools_in(pair["prompt_ids"])
        assert [tool["function"]["name"] for tool in tools] == ["read_account", "close_ticket"]
        assert prompt == told(better[:2]) + "<assistant>"
        assert (pair["chosen_ids"], pair["rejected_ids"]) == (f"{better[2].text}</>", f"{worse[2].text}</>")
        corrected = row_of(read[name], world.failed)
        assert corrected["chosen_ids"] == '<call read_account>{"account_id": "A-5017"}</>'
    reward = row_of(read["trl_reward"], world.pair)
    assert (reward["margin"], tools_in(reward["chosen_ids"])[1]) == (2.0, told(better))
    assert tools_in(reward["rejected_ids"])[1] == told(worse)
    for label, passes in ((world.mixed, True), (world.long, True), (world.failed, False)):
        kto = row_of(read["trl_kto"], label)
        steps = steps_of(label.item)
        assert kto["label"] is passes
        assert kto["prompt_ids"].endswith(told(steps[:1]) + "<assistant>")
        assert "<assistant>" + kto["completion_ids"] == told(steps[1:])
    shown = row_of(read["trl_sft"], world.mixed)["input_ids"]
    tools, text = tools_in(shown)
    assert text == told(steps_of(world.mixed.item))
    assert tools[1]["function"] == {
        "name": "bare",
        "description": "",
        "parameters": {"type": "object", "properties": {}},
    }
    assert [row["source"] for row in read["trl_sft"]] == ["trajectory", "trajectory", "correction"]


def row_of(rows: list[dict[str, Any]], label: Label) -> dict[str, Any]:
    (found,) = [row for row in rows if row["id"].startswith(str(label.uid))]
    return found


# --- verl -------------------------------------------------------------------------------------------------------------
def test_verl_gives_its_rollouts_the_prompts_and_the_verdict_beside_them(world, training):
    rows = read_by("verl_reads", exported(world, "verl"), training)
    by_label = {row["extra_info"]["label"]: row for row in rows}
    for label, passes in ((world.mixed, True), (world.long, True), (world.failed, False)):
        row = by_label[str(label.uid)]
        assert [message["content"] for message in row["raw_prompt"]] == [steps_of(label.item)[0].text]
        assert row["extra_info"]["gates_pass"] is passes
        assert row["extra_info"]["outcome_reward"] == label.item.trajectory.outcome.reward
        assert (row["ability"], row["reward_model"]["style"]) == ("refunds", "rule")
        assert row["tools_kwargs"] == {}, "its loop asks it for the arguments of a tool"


# --- OpenRLHF, Axolotl, LLaMA-Factory ---------------------------------------------------------------------------------
def test_openrlhf_reads_pairs_with_their_margin(world, training):
    corrected, pair = read_by("openrlhf_reads", exported(world, "openrlhf"), training)
    better, worse = steps_of(world.pair.item, 2), steps_of(world.pair.item, 1)
    assert pair == {
        "prompt": told(better[:2]) + "<assistant>",
        "chosen": f"{better[2].text}</>",
        "rejected": f"{worse[2].text}</>",
        "margin": 2.0,
    }
    assert corrected["margin"] == 0


def test_axolotl_reads_pairs_of_texts(world, training):
    (pair,) = read_by("axolotl_reads", exported(world, "axolotl"), training)
    better, worse = steps_of(world.pair.item, 2), steps_of(world.pair.item, 1)
    assert pair["prompt"] == (
        f"<user>{better[0].text}</>"
        f"<assistant>\n[calls read_order {better[1].call.arguments_text}]</>"
        f"<tool>{better[1].result.text}</><assistant>"
    )
    assert (pair["chosen"], pair["rejected"]) == (f"{better[2].text}</>", f"{worse[2].text}</>")


def test_llama_factory_finds_both_files_and_keeps_every_row(world, training):
    read = read_by("llama_factory_reads", exported(world, "llama_factory", "llama_factory_kto"), training)
    (pair,) = read["llama_factory"]
    better, worse = steps_of(world.pair.item, 2), steps_of(world.pair.item, 1)
    for side, last in (("chosen", better[2]), ("rejected", worse[2])):
        text = pair[f"{side}_input_ids"]
        assert 'Action: read_order\nAction Input: {"order": 7}' in text
        assert text.endswith(f"{last.text}<|im_end|>\n")
    mixed, long = read["llama_factory_kto"]
    assert (mixed["kto_tags"], long["kto_tags"]) == (True, True)
    for step in steps_of(world.mixed.item):
        assert step.text in mixed["input_ids"]
    assert 'Action Input: {"order": "seven", "amount": {"cents": 100}, "reason": null}' in mixed["input_ids"]
    assert 'Action Input: "not json at all"' in mixed["input_ids"]
    assert steps_of(world.long.item)[1].text in long["input_ids"]


# --- Inspect ----------------------------------------------------------------------------------------------------------
def test_inspect_reads_samples_and_scores(world):
    read = read_by("inspect_reads", exported(world, "inspect", "inspect_scores"), environment("inspect", INSPECT))
    samples = {sample["id"]: sample for sample in read["samples"]}
    for label, target in ((world.mixed, "pass"), (world.long, "pass"), (world.failed, "fail")):
        sample = samples[str(label.uid)]
        assert sample["target"] == target
        said = [message["content"] for message in sample["input"]]
        for step in steps_of(label.item):
            assert step.text in said
        values = {value.criterion.key: value.value for value in LabelValue.objects.filter(label=label)}
        assert {name: score["value"] for name, score in read["scores"][str(label.uid)].items()} == values
    calls = [call for message in samples[str(world.mixed.uid)]["input"] for call in message.get("tool_calls") or ()]
    assert [call["arguments"] for call in calls][:3] == [
        {"order": 7},
        {"order": "seven", "amount": {"cents": 100}, "reason": None},
        {"raw": "not json at all"},
    ]


# --- Label Studio -----------------------------------------------------------------------------------------------------
def test_label_studio_imports_the_tasks_into_a_project_with_the_config_beside_them(world):
    python = environment("label-studio-alone", LABEL_STUDIO)
    read = read_by("label_studio_imports", exported(world, "label_studio"), python)
    assert read["problems"] == []
    tasks = {task["data"]["item"]: task for task in read["tasks"]}
    for label in (world.mixed, world.long, world.failed, world.pair):
        truth, judged = sorted(tasks[str(label.item.uid)]["annotations"], key=lambda one: not one["ground_truth"])
        answers = {answer["from_name"]: answer["value"] for answer in truth["result"]}
        assert answers["said-by"] == {"text": ["consensus"]}
        for value in label.values.filter(criterion__kind="ordinal"):
            (level,) = [one["name"] for one in value.criterion.levels if one["value"] == value.value]
            assert answers[value.criterion.key] == {"choices": [level]}
        assert judged["ground_truth"] is False
    shown = tasks[str(world.mixed.item.uid)]["data"]["text"]
    assert HOSTILE in shown
    first, second = tasks[str(world.pair.item.uid)]["annotations"]
    assert {"text": ["B, by 2"]} in [answer["value"] for answer in first["result"] + second["result"]]
