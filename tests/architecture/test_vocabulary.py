"""Every word of the vocabulary is used by somebody, and every state knows what may follow it."""

import ast
import enum
from collections.abc import Iterator

import pytest
from django.db.models import Choices

import goldsets.enums
import reviews.enums
from tests.architecture.source import files, tree

ROOMS = {"reviews": reviews.enums, "goldsets": goldsets.enums}


def _vocabularies() -> list[type[enum.Enum]]:
    return [
        word
        for module in ROOMS.values()
        for word in vars(module).values()
        if isinstance(word, type) and issubclass(word, Choices) and word.__module__ == module.__name__
    ]


def _moves() -> list[tuple[str, dict]]:
    return [
        (name, moves) for module in ROOMS.values() for name, moves in vars(module).items() if name.endswith("_MOVES")
    ]


def _verbs_in_actions(room: str, vocabulary: str) -> Iterator[str]:
    for path in files("*.py", f"{room}/actions"):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == vocabulary:
                yield node.attr


@pytest.mark.parametrize(("room", "verbs"), [("reviews", reviews.enums.Verb), ("goldsets", goldsets.enums.GoldVerb)])
def test_every_verb_of_the_event_log_is_written_by_an_action(room, verbs):
    assert {verb.name for verb in verbs} - set(_verbs_in_actions(room, verbs.__name__)) == set()


@pytest.mark.parametrize(("name", "moves"), _moves(), ids=[name for name, _ in _moves()])
def test_every_state_says_what_may_follow_it(name, moves):
    states = type(next(iter(moves)))
    assert set(moves) == set(states), name
    assert all(following <= set(states) for following in moves.values()), name


@pytest.mark.parametrize("vocabulary", _vocabularies(), ids=lambda word: word.__name__)
def test_every_vocabulary_is_used_outside_of_its_own_module(vocabulary):
    users = [
        path
        for path in files("*.py", "annotator", "reviews", "goldsets")
        if path.name != "enums.py" and vocabulary.__name__ in path.read_text()
    ]
    assert users != []
