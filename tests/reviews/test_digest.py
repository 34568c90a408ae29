"""The digest's rule: groups of ten, opened as a whole, days after the rater's own judgments, half of it shown."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviews.digest import GROUP, STEP, Judged, drawn, opens_at, readable, speaks_of_raters

NOON = datetime(2030, 5, 6, 12, tzinfo=UTC)
KEY = b"a key that no rater knows"
YEAR = timedelta(days=365)


def group(settled, first=0, queue=1):
    """Judgments an hour apart; `settled` gives for each the hours from the first to when its item was settled."""
    return [
        Judged(
            first + place,
            queue,
            NOON + timedelta(hours=first + place),
            None if hours is None else NOON + timedelta(hours=hours),
        )
        for place, hours in enumerate(settled)
    ]


def shown(judged, days, secret=KEY):
    return set(readable(judged, secret=secret, now=NOON + timedelta(days=days)))


def test_a_group_opens_one_to_four_days_after_its_last_judgment():
    opens = [opens_at(group([9] * GROUP), secret=str(n).encode()) for n in range(200)]
    last = NOON + timedelta(hours=9)
    assert all(timedelta(days=1) <= moment - last <= timedelta(days=4) for moment in opens)
    assert max(opens) - min(opens) > timedelta(days=2)


def test_nothing_is_read_while_one_item_of_the_group_is_open():
    assert opens_at(group([9] * 9 + [None]), secret=KEY) is None
    assert opens_at(group([9] * 9), secret=KEY) is None
    assert shown(group([9] * 9 + [None]), days=400) == set()


@given(st.lists(st.integers(-5000, 24), min_size=GROUP, max_size=GROUP))
def test_when_an_item_was_settled_before_the_group_opens_makes_no_difference(hours):
    # Settled long before the rater judged it, as an item shown again is, or just after: the same in every way.
    assert opens_at(group(hours), secret=KEY) == opens_at(group([9] * GROUP), secret=KEY)
    assert shown(group(hours), days=5) == shown(group([9] * GROUP), days=5)


@given(st.lists(st.integers(24, 5000), min_size=GROUP, max_size=GROUP), st.integers(0, GROUP - 1))
def test_a_late_decision_opens_the_group_in_whole_steps_and_does_not_say_which_item_was_late(hours, place):
    late = max(hours)
    opens = opens_at(group(hours), secret=KEY)
    soonest = opens_at(group([0] * GROUP), secret=KEY)
    assert (opens - soonest) % STEP == timedelta()
    assert NOON + timedelta(hours=late) <= opens or late <= 24 * 4
    another = [0] * GROUP
    another[place] = late
    assert opens_at(group(another), secret=KEY) == opens


def test_about_half_is_shown_and_the_same_half_every_time():
    judged = [one for n in range(100) for one in group([9] * GROUP, first=n * GROUP)]
    first = shown(judged, days=365)
    assert 430 < len(first) < 570
    assert shown(judged, days=366) == first
    assert shown(judged, days=365, secret=b"another") != first


def test_queues_are_cut_apart_and_the_last_few_of_a_queue_wait():
    judged = group([9] * 15) + group([9] * 9, first=100, queue=2)
    assert shown(judged, days=365) <= set(range(10))


def test_a_draw_is_between_nought_and_one_and_even():
    draws = [drawn(KEY, "shown", n) for n in range(2000)]
    assert all(0 <= one < 1 for one in draws)
    assert 0.46 < sum(draws) / len(draws) < 0.54


@pytest.mark.parametrize(
    "note",
    [
        "A and C missed the second account.",
        "B is right.",
        "Rater A overlooked step 4.",
        "Both raters were hasty.",
        "As Alice says, it is hers.",
        "B, C or D",
    ],
)
def test_a_note_about_those_who_judged_is_known(note):
    assert speaks_of_raters(note, ["Alice", "Bob"])


@pytest.mark.parametrize(
    "note",
    [
        "",
        "A refund needs a yes first.",
        "The account is the requester's own.",
        "I was told that plan B and the first plan are the same.",
        "Malice is not proven.",
    ],
)
def test_a_note_about_the_item_is_no_such_note(note):
    assert not speaks_of_raters(note, ["Alice", "Bob"])
