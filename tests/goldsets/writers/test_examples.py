"""What becomes an example to learn from, and what never does."""

import json

import msgspec
import pytest

from goldsets.writers.catalogue import FORMATS
from goldsets.writers.chat import common_prefix, messages_of
from goldsets.writers.examples import Policies, Reading
from goldsets.writers.label_row import UnfitRow, canonical, label_row
from goldsets.writers.wide import harmless
from tests.goldsets.writers.making import (
    ASKED,
    BETTER,
    GOOD,
    SAFE,
    STEPS,
    WORDS,
    called,
    comparison,
    corrected,
    document,
    judged,
    prefers,
    run,
    said_by_agent,
    value,
)

PREFERENCES = [name for name in FORMATS if name in ("trl_preference", "trl_reward", "openrlhf", "axolotl")]
PREFERENCES += ["trl_preference_implicit", "llama_factory", "openai_preference", "rewardbench", "rewardbench2"]


def rows(name, *documents, **policies):
    reading = Reading(WORDS, Policies(**policies))
    return [row for each in documents for row in FORMATS[name].rows(each, reading)], reading


def gates(first, second):
    return [value(SAFE, first, 1), value(SAFE, second, 2)]


# --- Messages ---------------------------------------------------------------------------------------------------------
def test_what_one_message_said_and_called_is_one_message_again():
    told = messages_of(STEPS)
    assert [message["role"] for message in told] == ["user", "assistant", "tool", "assistant"]
    assert told[1]["content"] == "Let me look."
    assert told[1]["tool_calls"][0]["function"] == {"name": "read_order", "arguments": '{"order": 7}'}
    assert told[2]["tool_call_id"] == told[1]["tool_calls"][0]["id"] == "call_3"


def test_two_calls_of_one_message_are_answered_behind_it():
    parallel = called(1, "read_account", "{}")
    told = messages_of([*STEPS[:3], parallel, STEPS[3]])
    assert [message["role"] for message in told] == ["user", "assistant", "tool", "tool", "assistant"]
    assert [call["function"]["name"] for call in told[1]["tool_calls"]] == ["read_order", "read_account"]


def test_the_common_beginning_ends_where_the_agent_speaks_in_both():
    one, other = messages_of(STEPS), messages_of([*STEPS[:2], called(1, answer="It was lost."), STEPS[3]])
    assert common_prefix(one, other) == 1, "the tool answered otherwise, so both go on from the call"
    assert common_prefix(one, one[:1]) == 0, "one ends where the other begins"


# --- Law 2 ------------------------------------------------------------------------------------------------------------
def test_a_failed_gate_is_never_imitated():
    made, reading = rows("trl_sft", document([value(SAFE, 0)]), document([value(SAFE, -1)]), document([value()]))
    assert len(made) == 1
    assert reading.left_out == {"a gate failed": 2}


@pytest.mark.parametrize("name", [*PREFERENCES, "helpsteer3"])
def test_where_both_fail_nothing_is_preferred(name):
    failed = comparison(*gates(0, 0), prefers(1, 1, tie="both_fail"))
    lied = comparison(*gates(0, 0), prefers(1, 2, strength=-2))
    for policy in ("leave_out", "both_ways"):
        made, reading = rows(name, failed, ties=policy)
        assert made == []
        assert reading.left_out["both fail a gate"] == 1
        if name != "helpsteer3":
            assert rows(name, lied, ties=policy)[0] == [], "not even if a label said so"


def test_who_fails_is_worse_without_a_strength():
    ((row,), _) = rows("trl_reward", comparison(*gates(1, 0), prefers(1, 2)))
    assert (row["chosen"][-1]["content"], row["rejected"][-1]["content"], row["margin"]) == ("Yes.", "No.", 0.0)
    ((row,), _) = rows("helpsteer3", comparison(*gates(1, 0), prefers(1, 2)))
    assert row["overall_preference"] == -3


def test_quality_beside_a_failed_gate_does_not_leave():
    with pytest.raises(UnfitRow, match="Label label-1 has a failed gate and quality values beside it"):
        label_row(document([value(SAFE, 0), value(GOOD, 3)]), WORDS)
    beside = comparison(*gates(0, 1), value(GOOD, 3, 2), prefers(2, 1))
    assert [found["gates_pass"] for found in label_row(beside, WORDS)["candidates"]] == [False, True]


def test_kto_is_true_where_every_gate_passes_and_needs_a_gate():
    made, reading = rows("trl_kto", document([value()]), document([value(SAFE, 0)]), document([value(GOOD, 3)]))
    assert [row["label"] for row in made] == [True, False]
    assert reading.left_out == {"no gate tells good from bad": 1}
    assert reading.counts == {"every gate passes": 1, "a gate fails": 1}


# --- Pairs ------------------------------------------------------------------------------------------------------------
def test_a_pair_is_cut_where_its_sides_part_and_the_margin_is_the_strength():
    pair = comparison(prefers(2, 1, strength=2))
    ((explicit,), reading) = rows("trl_preference", pair)
    assert [message["role"] for message in explicit["prompt"]] == ["user", "assistant", "tool"]
    assert [message["content"] for message in explicit["chosen"]] == ["No."]
    ((implicit,), _) = rows("trl_preference_implicit", pair)
    assert implicit["chosen"] == explicit["prompt"] + explicit["chosen"]
    assert "prompt" not in implicit
    ((reward,), _) = rows("trl_reward", pair)
    assert reward["margin"] == 2.0
    assert reading.counts == {
        "pairs people decided": 1,
        "the longer one is better": 0,
        "the first one is better": 0,
    }


def test_a_ranking_gives_every_pair_that_is_ordered():
    ranking = comparison(prefers(1, 2, 2), answers=("Yes.", "No.", "Perhaps."))
    made, reading = rows("trl_preference", ranking)
    assert [row["id"] for row in made] == ["label-1/1>2", "label-1/1>3"]
    assert reading.left_out == {"ties": 1}
    ((best,), _) = rows("rewardbench2", ranking)
    assert (best["chosen"], best["rejected"]) == (["Yes."], ["No.", "Perhaps."])
    assert (best["num_correct"], best["total_completions"]) == (1, 3)


def test_ties_leave_as_the_policy_says():
    tie = comparison(prefers(1, 1, tie="equally_good"))
    assert rows("trl_reward", tie)[0] == rows("helpsteer3", tie)[0] == []
    assert rows("trl_reward", tie, ties="keep")[0] == []
    assert [row["overall_preference"] for row in rows("helpsteer3", tie, ties="keep")[0]] == [0]
    both = rows("trl_reward", tie, ties="both_ways")[0]
    assert [(row["chosen"][-1]["content"], row["margin"]) for row in both] == [("Yes.", 0.0), ("No.", 0.0)]


def test_opinions_leave_beside_the_label():
    opinions = [judged("rater-1", [prefers(1, 2, strength=-3)]), judged("rater-2", [prefers(2, 1, strength=1)])]
    pair = comparison(prefers(1, 2, strength=-1), judgments=opinions)
    ((row,), _) = rows("helpsteer3", pair)
    assert [opinion["score"] for opinion in row["individual_preference"]] == [-3, 1]


def test_a_correction_is_better_than_what_it_stands_for_unless_the_run_had_failed_before():
    fixed = judged(corrections=[corrected(4, "I cannot do that.")])
    failed = document([value(SAFE, 0)], judgments=[fixed], failed_at=4)
    ((pair,), _) = rows("trl_preference", failed)
    assert (pair["chosen"][0]["content"], pair["rejected"][0]["content"]) == ("I cannot do that.", "It is on its way.")
    assert len(pair["prompt"]) == 3
    ((shown,), _) = rows("trl_sft", failed)
    assert (shown["source"], shown["completion"][0]["content"]) == ("correction", "I cannot do that.")
    late = document([value(SAFE, 0)], judgments=[fixed], failed_at=2)
    made, reading = rows("trl_preference", late)
    assert made == []
    assert reading.left_out["a correction after the run had failed"] == 1


def test_formats_with_one_message_a_side_leave_longer_sides_out():
    longer = [STEPS[0], said_by_agent(1, "No."), STEPS[0], said_by_agent(3, "Still no.")]
    pair = document([prefers(2, 1, strength=1)], runs=[run(longer), run(STEPS, 2)], kind="comparison")
    for name in ("axolotl", "llama_factory", "openai_preference"):
        made, reading = rows(name, pair)
        assert made == []
        assert reading.left_out["more than one message on a side"] == 1
    ((told,), _) = rows("llama_factory", comparison(prefers(1, 2, strength=-1)))
    assert [turn["from"] for turn in told["conversations"]] == ["human", "function_call", "observation"]
    assert json.loads(told["conversations"][1]["value"]) == [{"name": "read_order", "arguments": {"order": 7}}]
    assert told["chosen"] == {"from": "gpt", "value": "Yes."}


def test_axolotl_reads_texts_alone_so_calls_are_told_in_words_and_no_side_is_a_call_or_empty():
    ((row,), _) = rows("axolotl", comparison(prefers(1, 2, strength=-1)))
    assert [message["role"] for message in row["messages"]] == ["user", "assistant", "tool"]
    assert row["messages"][1]["content"] == 'Let me look.\n[calls read_order {"order": 7}]'
    assert (row["chosen"], row["rejected"]) == (
        {"role": "assistant", "content": "Yes."},
        {"role": "assistant", "content": "No."},
    )
    without_answer = msgspec.structs.replace(called(1), result=None)
    calls = [run([ASKED, said_by_agent(1, "No.")]), run([ASKED, without_answer], 2)]
    for pair, why in (
        (document([prefers(2, 1, strength=1)], runs=calls, kind="comparison"), "a side calls a tool"),
        (comparison(prefers(1, 2, strength=-1), answers=("", "No.")), "a side says nothing"),
    ):
        made, reading = rows("axolotl", pair)
        assert (made, reading.left_out[why]) == ([], 1)


# --- Steps ------------------------------------------------------------------------------------------------------------
def test_steps_leave_with_their_ratings_and_neutral_ones_as_the_policy_says():
    steps = document(steps=[(2, 1, "unanimous"), (3, 0, "unanimous"), (4, -1, "unanimous")])
    ((row,), _) = rows("trl_stepwise", steps)
    assert row["prompt"] == "Where is my refund?"
    assert row["completions"] == ["Let me look.", 'read_order {"order": 7}\nIt was sent.', "It is on its way."]
    assert row["labels"] == [True, True, False]
    assert rows("trl_stepwise", steps, neutral="bad")[0][0]["labels"] == [True, False, False]
    made, reading = rows("trl_stepwise", steps, neutral="leave_out")
    assert (made, reading.left_out) == ([], {"neutral steps": 1})
    ((told,), _) = rows("prm800k", steps)
    assert [step["completions"][0]["rating"] for step in told["label"]["steps"]] == [1, 0, -1]
    assert (told["label"]["finish_reason"], told["is_quality_control_question"]) == ("found_error", False)


def test_what_stands_between_labelled_steps_goes_with_the_one_behind_it():
    ((row,), _) = rows("trl_stepwise", document(steps=[(2, 1, ""), (4, 1, "")]))
    assert row["completions"][1] == 'read_order {"order": 7}\nIt was sent.\n\nIt is on its way.'


# --- Rows of labels ---------------------------------------------------------------------------------------------------
def test_the_hash_is_of_the_content_and_of_nothing_else():
    ((row,), _) = rows("jsonl", document())
    ((other,), _) = rows("jsonl", document(rationale="other"))
    assert row["row_sha256"] != other["row_sha256"]
    assert canonical(dict(reversed(row.items()))) == canonical(row)


def test_a_preference_reads_in_words():
    ((row,), _) = rows("jsonl", comparison(prefers(1, 2, strength=-2)))
    assert row["values"][0] | {"name": "A, by 2", "ranks": [1, 2], "value": -2} == row["values"][0]
    ((row,), _) = rows("jsonl", comparison(prefers(2, 1, 2), answers=("a", "b", "c")))
    assert row["values"][0]["name"] == "B > A = C"
    assert (row["kind"], row["gates_pass"], row["steps"], len(row["candidates"])) == ("comparison", None, [], 3)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_a_spreadsheet_runs_nothing(text):
    assert harmless(text) == f"'{text}"
    ((row,), _) = rows("csv", document(rationale=text))
    assert row["rationale"] == f"'{text}"


def test_candidates_stand_side_by_side_in_the_wide_table():
    ((row,), _) = rows("csv", comparison(*gates(1, 0), prefers(1, 2)))
    assert (row["safe"], row["better"]) == ("A: pass; B: fail", "A > B")
    assert WORDS.questions[BETTER].key == "better"
