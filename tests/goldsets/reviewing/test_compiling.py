"""Which labels become a reviewer and which are refused, each time with what is missing."""

from dataclasses import replace

import pytest

from goldsets.reviewing.compiling import compile_reviewer
from goldsets.reviewing.examples import Target
from goldsets.reviewing.scoring import score
from tests.goldsets.reviewing.made import labelled

GATE = Target("authorised")
ALWAYS_NO = [{"name": "always", "verdict": 0}]


def proofs(compiled):
    return {proof.key: proof for proof in compiled.assurance.proofs}


@pytest.fixture(scope="module")
def plain():
    return compile_reviewer(labelled(told=1.0), GATE)


def test_labels_that_the_text_tells_become_a_reviewer_that_holds_in_every_respect(plain):
    assert (plain.assurance.holds, plain.assurance.missing) == (True, [])
    assert [proof.key for proof in plain.assurance.proofs] == [
        "enough", "ceiling", "leaks", "selective", "alt_test", "false_accepts", "false_rejects", "slices", "baselines",
        "probes", "cost",
    ]  # fmt: skip
    bound = proofs(plain)["false_accepts"].figures["bound"]
    assert (bound["value"], bound["high"]) == (0.0, pytest.approx(1 - 0.05 ** (1 / bound["n_units"])))
    assert proofs(plain)["selective"].figures["coverage"]["value"] > 0.9
    assert proofs(plain)["cost"].figures["expert_minutes"] == 6.0


def test_the_same_labels_and_seed_give_the_same_reviewer(plain):
    again = compile_reviewer(labelled(told=1.0), GATE)
    assert again.reviewer == plain.reviewer
    assert again.families == plain.families


def test_always_no_is_refused_though_it_passes_the_alternative_annotator_test():
    refused = compile_reviewer(labelled(2000, passing=0.06), GATE, rules=ALWAYS_NO)
    found = proofs(refused)
    assert (found["alt_test"].holds, found["selective"].holds) == (True, True)
    assert (found["false_rejects"].holds, found["baselines"].holds) == (False, False)
    assert found["false_rejects"].words == "37 of 37 passes wrongly decided: at most 100.0% at 95%."
    assert not refused.assurance.holds


def test_a_copy_of_one_of_two_experts_is_refused():
    """Where the labels are one expert's, what is fitted on them is that expert's copy."""
    two = [
        replace(example, label=example.votes["Rater A"])
        for example in labelled(told=1.0, experts=("Rater A", "Rater B"))
    ]
    refused = compile_reviewer(two, GATE)
    assert proofs(refused)["alt_test"].holds is False
    assert "three experts with 30 test items each that others judged too" in refused.assurance.missing


def test_too_few_labels_are_refused_before_anything_is_fitted_and_the_words_count_what_is_missing():
    refused = compile_reviewer(labelled(60, families=5), GATE)
    assert refused.reviewer is None
    assert refused.assurance.missing == ["3 more passes", "17 more fails", "3 more families of tasks"]


def test_one_slice_without_its_own_fails_is_named():
    examples = [
        replace(example, slices={"ticket": "billing"} if example.position % 5 == 0 else {"ticket": "shipping"})
        for example in labelled(told=1.0)
    ]
    examples = [e for e in examples if e.label or e.slices["ticket"] != "billing"]
    refused = compile_reviewer(examples, GATE)
    assert refused.assurance.missing == ["17 more fails in billing"]


def test_experts_who_do_not_agree_leave_nothing_to_preserve():
    refused = compile_reviewer(labelled(careful=0.7), GATE)
    assert refused.reviewer is None
    assert proofs(refused)["ceiling"].words == "The experts' own alpha is 0.13; 0.40 is asked for."


def test_labels_that_the_text_does_not_tell_are_refused_and_nothing_is_decided():
    refused = compile_reviewer(labelled(told=0.5), GATE)
    assert refused.reviewer["thresholds"] == {"pass": None, "fail": None}
    assert proofs(refused)["selective"].holds is False
    assert proofs(refused)["false_accepts"].words == "It decides nothing, so there is nothing to bound."


def test_copies_of_a_run_in_two_families_are_a_leak():
    examples = labelled()
    twice = [*examples, *(replace(e, key=f"copy of {e.key}", family=f"{e.family} again") for e in examples[:60])]
    refused = compile_reviewer(twice, GATE)
    assert (refused.reviewer, proofs(refused)["leaks"].holds) == (None, False)


def test_what_no_gate_may_pass_a_criterion_of_quality_may_within_its_bound():
    rules = [{"name": "says so", "contains": "verified", "verdict": 1}]
    examples = labelled(2000, told=0.98)
    found = {gate: proofs(compile_reviewer(examples, Target("x", is_gate=gate), rules=rules)) for gate in (True, False)}
    for proof in (found[True]["false_accepts"], found[False]["false_accepts"]):
        assert 0 < proof.figures["bound"]["value"] < proof.figures["bound"]["high"] < 0.05
    assert (found[True]["false_accepts"].holds, found[False]["false_accepts"].holds) == (False, True)


SKIPPED = {"name": "skipped", "contains": "skipped", "verdict": 0}
ALWAYS = {"name": "always", "verdict": 1}


def test_a_cascade_is_proven_as_a_whole_and_hands_on_what_a_rule_cannot_tell():
    examples = labelled(told=1.0)
    compiled = compile_reviewer(examples, GATE, rules=[SKIPPED, ALWAYS], cascade=True)
    assert (compiled.assurance.holds, compiled.assurance.missing) == (True, [])
    skipped, always = compiled.reviewer["rules"]
    assert skipped["confidence"] > compiled.reviewer["keeps_from"] == 0.9
    assert 0.3 < always["confidence"] < 0.9, "a rule that fits everything keeps nothing"
    run = examples[0]
    plain = replace(run, text=run.text.replace("skipped", "guessed"))
    found = score(compiled.reviewer, plain.text, plain.structure)
    classifier = {**compiled.reviewer["classifier"], "thresholds": compiled.reviewer["thresholds"]}
    assert found == score(classifier, plain.text, plain.structure)


def test_a_rule_that_is_wrong_is_no_part_of_what_a_cascade_says():
    examples = labelled(400)
    wrong = [{"name": "skipped", "contains": "skipped", "verdict": 1}]
    cascade = compile_reviewer(examples, GATE, rules=wrong, cascade=True).reviewer
    alone = compile_reviewer(examples, GATE).reviewer
    verdicts = [[score(one, e.text, e.structure) for e in examples] for one in (cascade, alone)]
    assert verdicts[0] == verdicts[1]
