"""The rubric by which a task is reviewed, as a lead may start with it: its questions, and its marks on the text."""

from typing import Any

from reviews.enums import Block, CriterionKind, EvidenceRule, ItemKind, Scope

NAME = "Task review"
FIT = ("None", "Hardly", "Mostly", "Fully")
# The criterion that says what becomes of a task. Its values ask for a reason, all but the first.
DECISION = "decision"
DECISIONS = ("Keep", "Drop", "Back to prompt", "Back to verifier", "Back to world")
KEEP, DROP, TO_PROMPT, TO_VERIFIER, TO_WORLD = range(1, 6)
HACKS = (
    "State set without the work",
    "Check or file tampered with",
    "Answer hard-coded or guessed",
    "Only the wording that is checked",
    "More rights than needed",
    "Another way",
)
MARKS = (
    ("hint", "Hint", "Says how to do it, where a requester would not."),
    ("unrealistic", "Unrealistic", "Nobody would write or have it so."),
    ("ambiguous", "Ambiguous", "Can be read in more than one way."),
    ("unchecked", "Not checked", "Asked for or intended, and no check looks at it."),
    ("loophole", "Loophole", "Lets through what it should not."),
    ("too_strict", "Too strict", "Refuses what would be right."),
)


def _named(*names: str, start: int = 1) -> list[dict[str, Any]]:
    return [{"value": value, "name": name, "anchor": ""} for value, name in enumerate(names, start=start)]


def _fit(key: str, title: str, question: str, none: str, full: str) -> dict[str, Any]:
    levels = _named(*FIT, start=0)
    levels[0]["anchor"], levels[-1]["anchor"] = none, full
    return {
        "key": key,
        "title": title,
        "question": question,
        "kind": CriterionKind.ORDINAL.value,
        "block": Block.TASK_SUCCESS.value,
        "levels": levels,
        "evidence": EvidenceRule.ON_FAIL.value,
    }


def _of_each_run(key: str, title: str, kind: CriterionKind, **more: Any) -> dict[str, Any]:
    return {"key": key, "title": title, "kind": kind.value, "scope": Scope.CANDIDATE.value, **more}


def task_review() -> dict[str, Any]:
    """All that `write_rubric` takes but who writes it and where."""
    return {
        "name": NAME,
        "item_kind": ItemKind.TASK.value,
        "marks": [{"key": key, "name": name, "hint": hint} for key, name, hint in MARKS],
        "criteria": [
            _fit(
                "prompt_verifier",
                "Prompt and verifier",
                "Does it check what is asked?",
                "It checks something else.",
                "All that is asked is checked, and nothing more.",
            ),
            _fit(
                "verifier_intent",
                "Verifier and intent",
                "Does a pass show the intent?",
                "A run that misses the intent passes.",
                "Who passes has shown the intent.",
            ),
            _fit(
                "prompt_intent",
                "Prompt and intent",
                "Is it asked as people ask, without hints?",
                "It gives the solution away.",
                "As in real use, and what is intended is needed.",
            ),
            {
                "key": DECISION,
                "title": "Decision",
                "kind": CriterionKind.CHOICE.value,
                "levels": _named(*DECISIONS),
            },
            {
                "key": "reason",
                "title": "Reason",
                "question": "What is to change, or why it goes.",
                "kind": CriterionKind.TEXT.value,
                "condition": {"criterion": DECISION, "values": [DROP, TO_PROMPT, TO_VERIFIER, TO_WORLD]},
            },
            {
                "key": "world_realism",
                "title": "World like the real one",
                "question": "How near is the world to one in use?",
                "kind": CriterionKind.ORDINAL.value,
                "block": Block.PROCESS.value,
                "levels": _named("Made up", "Simplified", "Near", "As in use", start=0),
            },
            {
                "key": "artificial",
                "title": "Artificial difficulty",
                "question": "Is it hard for a reason that real work has not?",
                "kind": CriterionKind.BINARY.value,
            },
            {
                "key": "meaningful_failures",
                "title": "Failures mean something",
                "question": "Would a failed run show a weakness that matters?",
                "kind": CriterionKind.BINARY.value,
                "required": False,
            },
            {
                "key": "meaningful_successes",
                "title": "Successes show the behaviour",
                "question": "Does a run that passes do what is wanted of the agent?",
                "kind": CriterionKind.BINARY.value,
                "required": False,
            },
            _of_each_run(
                "why_failed",
                "Why it failed",
                CriterionKind.CHOICE,
                levels=_named("Agent", "World", "Prompt", "Verifier", "Did not fail"),
            ),
            _of_each_run("hack", "Rewarded but undesired", CriterionKind.BINARY),
            _of_each_run(
                "hack_kind",
                "What kind of hack",
                CriterionKind.MULTI_CHOICE,
                levels=_named(*HACKS),
                condition={"criterion": "hack", "values": [1]},
                evidence=EvidenceRule.ALWAYS.value,
            ),
            _of_each_run(
                "skipped_step",
                "Skipped a necessary step",
                CriterionKind.BINARY,
                required=False,
            ),
        ],
    }
