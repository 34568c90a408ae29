"""One table of keys: complete, without collisions, and nothing that a person chose can make it otherwise."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviews.keymap import ACTS, BY_NAME, FIXED, keymap, refusals
from reviews.models import Rubric
from reviews.queries.preferences import key_sheet, reading_keys

SCRIPTS = Path(__file__).resolve().parents[2] / "static" / "js"
DEFAULTS = keymap()


def test_the_defaults_collide_nowhere():
    assert refusals(DEFAULTS) == {}
    assert len(set(DEFAULTS.values())) == len(ACTS)


def test_the_script_does_every_act_and_no_other():
    done = []
    for name in ("reader.js", "judge.js"):
        table = re.search(r"const ACTS = \{\n(.*?)\n\};", (SCRIPTS / name).read_text(), re.DOTALL).group(1)
        done += re.findall(r"^  (\w+):", table, re.MULTILINE)
    assert done == [act.name for act in ACTS]


def test_two_acts_may_change_places():
    assert refusals({**DEFAULTS, "pass": "f", "fail": "p"}) == {}


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        ("j", "j is taken: it is for “next step”. Choose another, or change that one too."),
        ("", "Press a key for it."),
        (None, "Press a key for it."),
        (7, "Press a key for it."),
        ("F5", "A key is one character or an arrow. Other keys stay with the browser."),
        ("Enter", "A key is one character or an arrow. Other keys stay with the browser."),
        (" ", "Space and keys that show nothing stay with the browser."),
        ("\t", "Space and keys that show nothing stay with the browser."),
        ("7", "Digits choose levels, so they cannot do anything else."),
        ("٣", "Digits choose levels, so they cannot do anything else."),
    ],
)
def test_what_cannot_be_a_key_is_refused_with_a_sentence(key, sentence):
    assert refusals({**DEFAULTS, "cite": key}) == {"cite": sentence}


@pytest.mark.parametrize("key", ["%", "+", "ö", "ж", "'", "-", "ArrowLeft"])
def test_letters_of_any_script_signs_and_arrows_can_be_keys(key):
    assert refusals({**DEFAULTS, "cite": key}) == {}


def test_an_act_that_does_not_exist_is_named():
    assert refusals({**DEFAULTS, "dance": "d"}) == {"dance": "There is no “dance” that a key could do."}


@given(
    st.dictionaries(st.sampled_from([*BY_NAME, "dance"]), st.text(max_size=3) | st.none() | st.integers()) | st.text()
)
def test_whatever_is_stored_everybody_has_a_key_for_everything(chosen):
    keys = keymap(chosen)
    assert set(keys) == set(BY_NAME)
    assert len(set(keys.values())) == len(ACTS)


def test_an_act_that_came_later_takes_no_key_away_and_costs_nobody_their_own():
    later = BY_NAME["correct"].key
    keys = keymap({"cite": later, "skip": "%"})
    assert (keys["cite"], keys["skip"]) == (later, "%")
    assert keys["correct"] not in {later, "%", ""}
    assert refusals(keys) == {}


def words_of(**rubric) -> set[str]:
    """What the sheet says on the page of an item that is judged by this rubric."""
    return {line.words for _group, lines in key_sheet(DEFAULTS, Rubric(**rubric)) for line in lines}


def test_the_sheet_has_the_keys_that_do_something_in_the_queue():
    label, correct, mark = (BY_NAME[name].words for name in ("label", "correct", "mark"))
    everywhere = words_of()
    assert {label, correct, mark, "next candidate", "unsure of the gate"} & everywhere == set()
    assert "move a candidate in a ranking" not in everywhere
    asked = {"step_labels": {"words": [{"value": 1}]}, "correction": "always", "unsure_allowed": True}
    assert words_of(**asked) - everywhere >= {label, correct, "unsure of the gate"}
    beside = {"next candidate", "mark what differs between candidates"}
    assert words_of(item_kind="comparison") - everywhere == beside | {
        "previous candidate",
        "move a candidate in a ranking",
    }
    assert words_of(item_kind="task") - everywhere == beside | {"previous candidate", mark}
    acts = {act.words for act in ACTS} | {words for _keys, words, _group, _needs in FIXED}
    assert words_of(**asked, item_kind="task") | words_of(item_kind="comparison") == acts


def test_where_one_run_is_read_there_are_no_keys_for_several():
    assert "next candidate" not in {line.words for line in reading_keys(DEFAULTS)}
