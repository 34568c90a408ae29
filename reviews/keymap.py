"""The keys of the judge page: one table from which the handlers, the key sheet and everybody's own choice come.

A key is one printable character or an arrow. Digits choose levels, and Escape, Enter, Tab, Space and whatever is
pressed with Ctrl, Alt or Meta stay with the page and the browser.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from string import ascii_letters
from typing import Any


@dataclass(frozen=True)
class Act:
    """Something a key does. `name` is what the script calls it; `needs` what must be there for it to do anything."""

    name: str
    words: str
    key: str
    group: str
    needs: str = ""


READING, JUDGING, PAGE = "Reading", "Judging", "The page"
# What not every queue has.
CANDIDATES, RANKING, TASK, STEP_LABELS, CORRECTIONS, UNSURE = (
    "candidates",
    "ranking",
    "task",
    "labels",
    "fixes",
    "unsure",
)
ACTS = (
    Act("next_step", "next step", "j", READING),
    Act("previous_step", "previous step", "k", READING),
    Act("go_to", "go to a step by its number", "g", READING),
    Act("fold", "fold or unfold the result of the step", "o", READING),
    Act("fold_parts", "fold or unfold all parts of its JSON", "O", READING),
    Act("raw", "the text of the step as it is, without its layout", "v", READING),
    Act("raw_all", "the text of every step as it is", "V", READING),
    Act("diff", "changes side by side, or below each other", "d", READING),
    Act("next_telling", "next write or error", "w", READING),
    Act("previous_telling", "previous write or error", "W", READING),
    Act("next_candidate", "next candidate", "b", READING, CANDIDATES),
    Act("previous_candidate", "previous candidate", "B", READING, CANDIDATES),
    Act("differences", "mark what differs between candidates", "D", READING, CANDIDATES),
    Act("only", "all steps, writes, errors or agent alone", "a", READING),
    Act("find", "find in the run and the policy", "/", READING),
    Act("next_hit", "next hit", "n", READING),
    Act("previous_hit", "previous hit", "N", READING),
    Act("next_question", "next question", "ArrowDown", JUDGING),
    Act("previous_question", "previous question", "ArrowUp", JUDGING),
    Act("pass", "pass the gate", "p", JUDGING),
    Act("fail", "fail the gate", "f", JUDGING),
    Act("unsure", "unsure of the gate", "u", JUDGING, UNSURE),
    Act("cite", "cite the step, or the selected text", "e", JUDGING),
    Act("failed_here", "this step is where it failed", "x", JUDGING),
    Act("mark", "mark the selected text of a task, or the step", "h", JUDGING, TASK),
    Act("note", "write a note on the answer", "m", JUDGING),
    Act("label", "label the step, or the next one without a label", "l", JUDGING, STEP_LABELS),
    Act("label_rest", "label the rest as this step, or take that back", "=", JUDGING, STEP_LABELS),
    Act("first_wrong", "first step labelled as an error", "L", JUDGING, STEP_LABELS),
    Act("correct", "write the step as it should have been", "c", JUDGING, CORRECTIONS),
    Act("why", "write why", "r", JUDGING),
    Act("ask", "ask the lead about the run", "q", PAGE),
    Act("ask_here", "ask the lead about the step", "Q", PAGE),
    Act("skip", "skip this item", "s", PAGE),
    Act("undo", "change the last submission, for a minute", "z", PAGE),
    Act("sheet", "these keys", "?", PAGE),
)
GROUPS = (READING, JUDGING, PAGE)
BY_NAME = {act.name: act for act in ACTS}
DEFAULTS = {act.key for act in ACTS}
# What belongs to no one act, as (keys, words, group, needs).
FIXED = (
    (("0", "…", "9"), "choose a level, an answer or, at a step, a word", JUDGING, ""),
    (("y", "n"), "yes or no, while such a question is marked", JUDGING, ""),
    (("↵",), "write into the marked question; on to the next one", JUDGING, ""),
    (("Shift", "↑ ↓"), "move a candidate in a ranking", JUDGING, RANKING),
    (("Ctrl", "↵"), "submit and next", JUDGING, ""),
    (("Esc",), "leave a text, close what is open", PAGE, ""),
)
ARROWS = {"ArrowDown": "↓", "ArrowUp": "↑", "ArrowLeft": "←", "ArrowRight": "→"}


def keymap(chosen: Any = None) -> dict[str, str]:
    """The key of every act: what somebody chose, where it still can be used, and else the default.

    An act that came later, and whose default somebody has given to another one, gets a letter that is free.
    """
    known = chosen if isinstance(chosen, Mapping) else {}
    own = {act.name: str(known[act.name]) for act in ACTS if act.name in known and _refusal(known[act.name]) is None}
    if len(set(own.values())) < len(own):
        own = {}
    keys = {act.name: own[act.name] for act in ACTS if act.name in own}
    free = [key for key in (*(act.key for act in ACTS), *ascii_letters) if key not in keys.values()]
    for act in ACTS:
        if act.name not in keys:
            keys[act.name] = act.key if act.key in free else next(key for key in free if key not in DEFAULTS)
            free.remove(keys[act.name])
    return {act.name: keys[act.name] for act in ACTS}


def refusals(keys: Mapping[str, Any]) -> dict[str, str]:
    """What is wrong with a whole keymap, a sentence for each act at fault. Of two on one key the later is at fault."""
    found = {name: f"There is no “{name}” that a key could do." for name in keys if name not in BY_NAME}
    taken: dict[str, Act] = {}
    for act in ACTS:
        key = keys.get(act.name)
        sentence = _refusal(key)
        if sentence is None and key in taken:
            other = taken[key].words
            sentence = f"{shown(key)} is taken: it is for “{other}”. Choose another, or change that one too."
        if sentence:
            found[act.name] = sentence
        else:
            taken[str(key)] = act
    return found


def _refusal(key: Any) -> str | None:
    """Why a key cannot be used at all."""
    if not isinstance(key, str) or not key:
        return "Press a key for it."
    if key in ARROWS:
        return None
    if len(key) > 1:
        return "A key is one character or an arrow. Other keys stay with the browser."
    if key.isspace() or not key.isprintable():
        return "Space and keys that show nothing stay with the browser."
    if key.isdecimal():
        return "Digits choose levels, so they cannot do anything else."
    return None


def shown(key: str) -> str:
    """A key as it is written on it."""
    return ARROWS.get(key, key)
