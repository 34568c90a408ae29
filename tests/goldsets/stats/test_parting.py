"""The alarm when what a policy is trained on rises while what experts say falls."""

import numpy as np

from goldsets.stats.parting import Part, watched


def part(name, passes, truth, n=100):
    said, right = (tuple(bool(x) for x in np.arange(n) < share * n) for share in (passes, truth))
    return Part(name, said, right)


def test_it_rings_when_they_part_and_says_where_to_stop():
    found = watched([part("step 0", 0.5, 0.5), part("step 100", 0.7, 0.65), part("step 200", 0.9, 0.4)])
    assert found.alarm.rang
    assert found.alarm.since == "step 100"
    assert found.alarm.words.startswith("From step 100 to step 200 the grader moves by +0.20 and the experts by -0.25")
    assert [round(each.gap.value, 2) for each in found.parts] == [0.0, 0.05, 0.5]


def test_it_is_silent_while_both_rise_or_the_fall_may_be_chance():
    assert not watched([part("a", 0.5, 0.5), part("b", 0.8, 0.75)]).alarm.rang
    chance = watched([part("a", 0.5, 0.5, 12), part("b", 0.5, 0.4, 12)]).alarm
    assert (chance.rang, chance.words.endswith("may be chance yet.")) == (False, True)


def test_few_runs_raise_no_alarm():
    found = watched([part("a", 0.2, 0.9, 5), part("b", 0.9, 0.1, 5)])
    assert not found.alarm.rang
    assert found.alarm.words.startswith("It takes two parts")
