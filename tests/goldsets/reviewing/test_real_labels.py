"""Labels that experts gave elsewhere: what can be compiled from them and what is refused, as docs/reviewers.md says."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from goldsets.reviewing.assurance import Demands
from goldsets.reviewing.classifier import fit
from goldsets.reviewing.examples import Example, Target
from goldsets.reviewing.families import Part, split_families
from goldsets.reviewing.proofs import judge, prove
from goldsets.reviewing.scoring import structure_of
from goldsets.stats.thresholds import curve
from tests.factories.settled import labelled_queue

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


# The severities that were published, as gates, each by the task's own text and by what a rater wrote of it.
AS_GATES = [
    ("underspecified", "problem_statement"),
    ("underspecified", "underspecified_notes"),
    ("false_negative", "problem_statement"),
    ("false_negative", "false_negative_notes"),
]


@pytest.mark.parametrize(("severity", "text"), AS_GATES)
def test_as_gates_none_of_them_is_certified(severity, text):
    """A gate passes at most 5% wrongly: not even the notes bear that out, and the tasks' text tells nothing at all."""
    parts = split_families(examples(severity, text), seed="")
    _, proofs = prove(fit(parts[Part.TRAIN], parts[Part.DEVELOPMENT]), parts, Target(severity, is_gate=True), Demands())
    holds = {proof.key: proof.holds for proof in proofs}
    assert holds["selective"] is False
    assert holds["baselines"] is (text != "problem_statement")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("severity", "text", "enough"),
    [
        ("underspecified", "problem_statement", False),
        ("false_negative", "problem_statement", False),
        ("other_major_issues", "problem_statement", False),
        ("underspecified", "underspecified_notes", True),
    ],
)
def test_the_command_refuses_to_compile_them_and_says_what_is_missing(project, severity, text, enough, capsys):
    queue = labelled_queue(project, examples(severity, text))
    with pytest.raises(CommandError, match=r"^Refused\. What is missing: .*at least two experts"):
        call_command("compile_reviewer", str(queue.uid), "--criterion", "authorised", "--json")
    report = json.loads(capsys.readouterr().out)
    holds = {proof["key"]: proof["holds"] for proof in report["assurance"]["proofs"]}
    assert (report["state"], report["artefact_sha256"]) == ("refused", "")
    assert (holds["enough"], holds["ceiling"]) == (enough, False)
