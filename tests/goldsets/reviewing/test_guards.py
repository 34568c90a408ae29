"""The rule of each axis, on tasks of which it is plain what is wrong with them."""

from dataclasses import replace

import pytest

from goldsets.reviewing.guards import AXES, GUARDS, TaskSeen
from reviews.task_review import task_review

GOOD = TaskSeen(
    prompt="Ticket of Ines Varga: “I was charged twice in March, please look into it.”",
    world="desk 3.2, signed in as Ines Varga, who owns A-5071 and may see the charges C-8730 and C-8731 of it.",
    verifier='def verify(world):\n    return world.charges["C-8731"].refunded_cents == 2750',
    production_prompts=["was charged 2x for march???"],
    runs=[("solver", True), ("solver", False), ("hacker", False)],
)


def said(criterion, **changes):
    found = AXES[criterion].judge(replace(GOOD, **changes))
    return None if found is None else (found.holds, found.why)


def test_a_task_with_nothing_wrong_holds_on_every_axis():
    assert [guard.judge(GOOD).holds for guard in GUARDS] == [True] * 4


@pytest.mark.parametrize(
    ("prompt", "why"),
    [
        ("Set refunded_cents to 2750 for Ines.", "Names refunded_cents, as nobody who asks would."),
        ("Look into it, and do not forget the order.", "Gives advice: “do not forget”."),
    ],
)
def test_a_prompt_that_knows_the_inside_or_gives_advice_is_not_like_production(prompt, why):
    assert said("prompt_intent", prompt=prompt) == (False, why)


def test_what_people_really_write_is_like_production_even_if_it_is_a_name():
    real = ["why is refunded_cents empty in my export?"]
    assert said("prompt_intent", prompt="My refunded_cents are wrong.", production_prompts=real)[0] is True


def test_failures_mean_something_where_some_solvers_pass():
    assert said("meaningful_failures", runs=[("solver", False)] * 3) == (
        False,
        "None of 3 solvers passes, so it may be the task that fails.",
    )
    assert said("meaningful_failures", runs=[("solver", True)] * 3) is None
    assert said("meaningful_failures", runs=[("solver", False), ("hacker", True)]) is None


def test_successes_show_nothing_where_a_hacker_passes():
    assert said("meaningful_successes", runs=[("hacker", True), ("hacker", False)]) == (False, "1 of 2 hackers pass.")
    assert said("meaningful_successes", runs=[("solver", True), ("hacker", None)]) is None


def test_a_world_holds_what_is_named():
    assert said("world_realism", world="desk 3.2") == (False, "The world has 3 words.")
    assert said("world_realism", world=GOOD.world.replace("C-8731", "C-0001")) == (
        False,
        "C-8731 is not in the world.",
    )


def test_every_axis_is_a_question_of_the_task_review():
    assert set(AXES) <= {row["key"] for row in task_review()["criteria"]}
    assert len({guard.fingerprint for guard in GUARDS}) == 4
