"""Finding words in a run: the database rules steps out, and what is found is what reading every step finds."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviews.queries import judging
from reviews.queries.judging import find
from reviews.trajectories.schema import Step, ToolCall, ToolResult
from tests import factories as make

pytestmark = pytest.mark.django_db

STEPS = (
    Step(role="user", text='He said "No refunds", twice:\nNo refunds. Straße, office, \ufb01nal.'),
    Step(role="agent", text="I will **look** at A-5017 now; 50% off_season \\path"),
    Step(
        role="tool",
        call=ToolCall(id="c", name="read_account", arguments_text='{"id": "\\u0041-5017"}', arguments={"id": "A-5017"}),
        result=ToolResult(text='{"name": "D\\u0061niel", "plan": "basic", "n": 1.50}'),
    ),
    Step(role="tool", result=ToolResult(text="plain RESULT"), reasoning="thought of it"),
)
WORDS = [
    "refunds",
    "no refunds",
    "STRASSE",
    "office",
    "final",
    "look",
    "a-5017",
    "Daniel",
    "daniel",
    "50%",
    "off_season",
]
WORDS += ["path", "read_account", "1.50", "result", "plain result", "thought", "nothing of it", "\\", '"', "_", "%", ""]


def every(run, text, monkeypatch):
    """The hits by reading each step."""
    with monkeypatch.context() as patched:
        patched.setattr(judging, "_steps_that_may_hold", lambda run, wanted: judging._every_step(run))
        return find(run, text)


@pytest.mark.parametrize("text", WORDS)
def test_what_is_found_is_what_reading_every_step_finds(text, monkeypatch):
    run = make.item(make.project(), steps=STEPS).run
    assert find(run, text) == every(run, text, monkeypatch)


def test_hits_say_the_step_and_how_often(monkeypatch):
    run = make.item(make.project(), steps=STEPS).run
    assert [(hit.number, hit.count) for hit in find(run, "refunds")] == [(1, 2)]
    assert [(hit.number, hit.label) for hit in find(run, "A-5017")] == [(2, "Agent"), (3, "read_account")]
    assert [hit.number for hit in find(run, "final")] == [1]
    assert [hit.number for hit in find(run, "daniel")] == [3]


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_words_of_a_run_are_found_where_they_stand(data, monkeypatch):
    text = data.draw(st.text(st.sampled_from('aAbß\ufb01kK\u212a \n\\"{}u0061'), min_size=1, max_size=20))
    run = make.item(make.project(), steps=(Step(role="user", text=text), Step(role="agent", text="other"))).run
    start = data.draw(st.integers(0, len(text) - 1))
    wanted = text[start : start + data.draw(st.integers(1, 6))]
    assert find(run, wanted) == every(run, wanted, monkeypatch)


def test_steps_that_cannot_hold_the_words_are_not_read(django_assert_num_queries):
    steps = tuple(Step(role="agent", text=f"word {number}") for number in range(200))
    run = make.item(make.project(), steps=steps).run
    with django_assert_num_queries(3):
        assert [hit.number for hit in find(run, "150")] == [151]
