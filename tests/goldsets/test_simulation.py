"""Raters whose quality is known, put to the same rules as everybody: how many of each kind are found, and how soon.

The bounds here are what docs/statistics.md says. SIMULATED_RATERS=5000 in the environment makes the figures finer.
"""

import os
import random
from dataclasses import dataclass
from statistics import median

import pytest

from goldsets.actions.dealing import draw_first_gap, draw_gap
from goldsets.stats.following import chart, trial
from goldsets.stats.items import leak_test
from goldsets.stats.sequential import Verdict

RATERS = int(os.environ.get("SIMULATED_RATERS", "400"))
ANSWERS = 100
P0, P1, ALPHA, BETA, RUN_LENGTH = 0.10, 0.30, 0.05, 0.10, 200


@dataclass(frozen=True)
class Course:
    """How it went with one rater: after how many answers on gold they were trusted, first watched, and paused."""

    trusted: int | None
    watched: int | None
    paused: int | None


def course_of(outcomes):
    """The rule of `next_step`, phase by phase, with every proposal confirmed at once."""
    at, trusted, watched, testing = 0, None, None, True
    while at < len(outcomes):
        if testing:
            tested = trial(outcomes[at:], P0, P1, ALPHA, BETA)
            if tested.verdict == Verdict.UNDECIDED:
                break
            at += tested.at
            if tested.verdict == Verdict.FAIL:
                return Course(trusted, watched, at)
            trusted = trusted or at
        else:
            followed = chart(outcomes[at:], P0, P1, RUN_LENGTH)
            if not followed.rang:
                break
            at += followed.at
            watched = watched or at
        testing = not testing
    return Course(trusted, watched, None)


def simulated(seed, error_rate, *, raters=RATERS, answers=ANSWERS):
    """The courses of raters whose error rate at each answer is `error_rate(number)`."""
    rng = random.Random(seed)  # noqa: S311
    return [course_of([rng.random() >= error_rate(n) for n in range(answers)]) for _ in range(raters)]


def share(courses, what):
    return sum(getattr(course, what) is not None for course in courses) / len(courses)


def at_most(rate):
    """The rate, and three standard errors of a share of so many raters on top."""
    return rate + 3 * (rate * (1 - rate) / RATERS) ** 0.5


# --- Detection and false suspension -----------------------------------------------------------------------------------
@pytest.mark.parametrize(("error_rate", "paused"), [(0.02, 0.001), (0.05, 0.008), (0.10, 0.075)])
def test_good_raters_are_hardly_ever_paused(error_rate, paused):
    """Over 100 gold answers, which is some 1,000 items at a rate of 10%."""
    assert share(simulated(1, lambda n: error_rate), "paused") <= at_most(paused)


@pytest.mark.parametrize(("error_rate", "found", "within"), [(0.30, 0.90, 17), (0.40, 0.98, 11), (0.50, 0.99, 8)])
def test_bad_raters_are_found(error_rate, found, within):
    courses = simulated(2, lambda n: error_rate)
    assert share(courses, "paused") >= found - 3 * (found * (1 - found) / RATERS) ** 0.5
    assert median(course.paused for course in courses if course.paused) <= within


def test_who_always_passes_every_gate_is_found_where_the_gold_is_balanced():
    """Half of the gold has a gate that fails, and "pass" is wrong on it. On lopsided gold it is hardly seen."""
    assert share(simulated(3, lambda n: 0.5), "paused") >= 0.97
    assert share(simulated(3, lambda n: 0.08), "paused") <= 0.08


def test_who_drifts_is_watched_and_then_paused():
    """Errors rise from 5% to 35% after 50 answers."""
    courses = simulated(4, lambda n: 0.05 if n < 50 else 0.35, answers=150)
    early = [course for course in courses if course.trusted and (course.watched or 999) <= 50]
    drifted = [course for course in courses if course.trusted and course not in early]
    assert len(early) / len(courses) <= at_most(0.06), "false alarms while they were good"
    assert sum(course.watched is not None for course in drifted) / len(drifted) >= 0.97
    assert median(course.watched - 50 for course in drifted if course.watched) <= 16
    assert sum(course.paused is not None for course in drifted) / len(drifted) >= 0.93


def test_nobody_is_ever_judged_on_fewer_answers_than_the_test_allows():
    courses = [course for rate in (0.1, 0.5, 0.9) for course in simulated(5, lambda n, rate=rate: rate)]
    assert min(course.paused for course in courses if course.paused) >= 3
    assert min(course.trusted for course in courses if course.trusted) >= 9


# --- Colluders who share gold -----------------------------------------------------------------------------------------
def test_colluders_pass_the_test_of_raters_and_give_themselves_away_on_the_items():
    """40 raters, 12 gold items. From the 21st on raters know 4 of the items: right on 97%, in a third of the time.

    The rater's own test must not see them (they are right); the item's test finds the leaked items and hardly another.
    """
    rng = random.Random(6)  # noqa: S311
    runs = max(20, RATERS // 8)
    found = false = 0
    for _ in range(runs):
        for item in range(12):
            leaked = item < 4
            order = [(leaked and met >= 20) for met in range(40)]
            right = [rng.random() < (0.97 if knows else 0.80) for knows in order]
            pace = [rng.lognormvariate(-1.1 if knows else 0.0, 0.45) for knows in order]
            suspected = leak_test(right, pace).suspected(12)
            found += suspected and leaked
            false += suspected and not leaked
    assert found / (4 * runs) >= 0.95
    assert false / (8 * runs) <= 0.01
    assert share(simulated(7, lambda n: 0.05), "trusted") >= 0.95, "their own test sees nothing"


# --- Who guesses gold by its place ------------------------------------------------------------------------------------
def places_of_gold(rate, items):
    """Whether each item that one rater is dealt is gold, as the dealer draws it."""
    dealt = [False] * draw_first_gap(rate)
    while len(dealt) < items:
        dealt += [True, *[False] * draw_gap(rate)]
    return dealt[:items]


@pytest.mark.parametrize("rate", [0.05, 0.12, 0.3])
def test_every_place_but_the_first_is_as_likely_to_be_gold(rate):
    raters, items = 10 * RATERS, 60
    dealt = [places_of_gold(rate, items) for _ in range(raters)]
    at = [sum(one[place] for one in dealt) / raters for place in range(items)]
    assert at[0] == 0
    settled = at[1:]
    overall = sum(settled) / len(settled)
    assert overall == pytest.approx(rate, rel=0.06)
    deviation = max(abs(share - overall) for share in settled)
    assert deviation <= 5 * (overall * (1 - overall) / raters) ** 0.5


@pytest.mark.parametrize("period", [3, 7, 8, 10])
def test_a_rater_who_is_careful_at_every_nth_item_gains_nothing(period):
    """At 12%, about every 8th item is gold. Whoever works well at every nth item only meets 1/n of the gold so."""
    dealt = [place for _ in range(RATERS) for place in enumerate(places_of_gold(0.12, 200)) if place[1]]
    hits = sum(number % period == 0 for number, _gold in dealt) / len(dealt)
    assert hits == pytest.approx(1 / period, abs=0.02)
    # So they err on the rest as they do on plain items: 40% of n-1 in n, and are found.
    courses = simulated(8, lambda n: 0.40 * (1 - 1 / period))
    assert share(courses, "paused") >= (0.90 if period > 3 else 0.80)


def test_places_are_the_same_at_all_hours():
    """Sessions of 25 items: the first, second and last third of a session hold gold alike."""
    thirds = [0, 0, 0]
    for _ in range(RATERS):
        for number, gold in enumerate(places_of_gold(0.12, 200)):
            thirds[min(2, number % 25 // 9)] += gold
    sizes = [9, 9, 7]
    rates = [count / (size * 8 * RATERS) for count, size in zip(thirds, sizes, strict=True)]
    assert max(rates) - min(rates) <= 0.02
