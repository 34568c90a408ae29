"""Near texts: similarity by hand, planted copies found, everything else left alone."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldsets.stats.near import Index, shingles, similarity, text_hash, words

WORDS = [f"word{n}" for n in range(3_000)]


def drawn(rng: random.Random, length: int) -> list[str]:
    return [rng.choice(WORDS) for _ in range(length)]


def test_case_marks_and_spaces_make_no_difference():
    assert words("Is it  LATE?\n“\uff39es”, it is.") == ("is", "it", "late", "yes", "it", "is")
    assert text_hash("Is it late?") == text_hash("is it\nLATE")


def test_similarity_by_hand():
    # Seven words make 3 shingles each; changing the last word changes one: 2 in common of 4.
    assert similarity("a b c d e f g", "a b c d e f h") == 0.5
    assert similarity("a b", "A, b!") == 1
    assert similarity("", "") == 0
    assert shingles("a b c") == {"a b c"}


def test_planted_copies_are_found_with_their_exact_similarity_and_nothing_else():
    rng = random.Random(7)  # noqa: S311
    index, planted = Index(), {}
    for number in range(500):
        text = drawn(rng, rng.randint(30, 300))
        index.add(number, " ".join(text))
        if number % 5 == 0:
            changed = [*text]
            changed[rng.randrange(len(text))] = "changed"
            planted[number] = (" ".join(text), " ".join(changed))
    found = {number: index.near(copy) for number, (_text, copy) in planted.items()}
    expected = {number for number, pair in planted.items() if similarity(*pair) >= 0.8}
    assert len(expected) > 80
    assert {number for number, near in found.items() if near} == expected
    for number in expected:
        (near,) = found[number]
        assert near.key == number
        assert near.similarity == pytest.approx(similarity(*planted[number]))
    assert not any(index.near(" ".join(drawn(rng, 100))) for _ in range(200))


@given(st.text())
def test_a_text_is_near_itself(text):
    index = Index()
    assert index.add_and_near("one", text) == []
    again = index.add_and_near("two", text)
    assert [near.key for near in again] == (["one"] if words(text) else [])


@given(st.lists(st.sampled_from(WORDS[:6]), max_size=30), st.lists(st.sampled_from(WORDS[:6]), max_size=30))
def test_what_is_told_is_what_comparing_in_full_gives(one, other):
    first, second = " ".join(one), " ".join(other)
    index = Index()
    index.add("one", first)
    near = index.near(second)
    assert similarity(first, second) == similarity(second, first)
    assert bool(near) == (similarity(first, second) >= 0.8)
