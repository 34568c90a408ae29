"""Labels that experts gave elsewhere: what can be compiled from them and what is refused, as docs/reviewers.md says."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from goldsets.reviewing.assurance import Demands
from goldsets.reviewing.classifier import fit
from goldsets.reviewing.examples import Example, Target
from goldsets.reviewing.families import Part, split_families
from goldsets.reviewing.proofs import judge, prove
from goldsets.reviewing.scoring import structure_of
from goldsets.stats.thresholds import curve

TASKS = Path(__file__).parents[4] / "shared" / "data" / "preferences" / "swebench-task-annotations" / "tasks.jsonl"
pytestmark = pytest.mark.skipif(not TASKS.is_file(), reason="the annotated tasks do not lie beside the project")


def examples(severity: str, text: str) -> list[Example]:
    """A task passes where its severity is below 2, as those who published it kept or dropped tasks."""
    rows = [json.loads(line) for line in TASKS.read_text().splitlines()]
    return [
        Example(
            key=row["instance_id"],
            family=row["family"],
            text=row[text],
            structure=structure_of({"text": row[text]}),
            label=int(float(row[severity]) < 2),
            position=position,
        )
        for position, row in enumerate(rows)
        if row[text]
    ]


def area(found: list[Example], seed: str = "") -> float:
    parts = split_families(found, seed=seed)
    test = judge(fit(parts[Part.TRAIN], parts[Part.DEVELOPMENT]), parts[Part.TEST])
    value = curve(test.pass_probability, test.labels == 1).roc_area.value
    assert value is not None
    return value


def test_a_raters_note_tells_the_severity_in_repositories_that_were_never_seen():
    assert area(examples("underspecified", "underspecified_notes")) > 0.88
    assert area(examples("false_negative", "false_negative_notes")) > 0.92


def test_the_notes_reviewer_is_certified_and_lacks_only_the_single_experts():
    """The file has one decided severity a task, so the test against single experts cannot be run."""
    parts = split_families(examples("underspecified", "underspecified_notes"), seed="")
    quality = Target("underspecified", is_gate=False)
    asked = Demands(false_accepts=0.1)
    _, proofs = prove(fit(parts[Part.TRAIN], parts[Part.DEVELOPMENT]), parts, quality, asked)
    found = {proof.key: proof for proof in proofs}
    certificates = found["selective"].figures["certificates"]
    assert found["selective"].holds
    assert certificates["pass"]["threshold"] is not None
    assert found["baselines"].holds
    assert found["alt_test"].holds is False


def test_the_tasks_own_text_tells_nothing_and_a_random_split_would_have_flattered():
    found = examples("false_negative", "problem_statement")
    by_task = [replace(example, family=example.key) for example in found]
    assert area(found) < 0.45
    assert max(area(by_task, seed) for seed in "abcde") > 0.53
