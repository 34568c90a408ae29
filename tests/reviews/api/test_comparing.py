"""Two runs side by side over the API: rows, the point where they part, spans that hold, and refusals."""

import uuid

import pytest

from reviews.trajectories.schema import Step
from tests import factories as make
from tests.factories.runs import another_run
from tests.reviews.api.talking import by, is_problem

pytestmark = pytest.mark.django_db

HASTY = (make.STEPS[0], Step(role="agent", text="I am sorry. I will pay it back now."), make.STEPS[2])


@pytest.fixture
def left():
    return make.item(make.project())


@pytest.fixture
def client(left):
    return by(make.lead_of(left.project))


def alignment(client, left, right, **asked):
    return client.get(f"/api/v1/items/{left.uid}/alignment/", {"with": str(right.uid), **asked})


def test_rows_say_which_steps_answer_each_other_and_where_the_runs_part(client, left):
    right = another_run(left, HASTY)
    body = alignment(client, left, right).json()
    assert body["left"] == {"uid": str(left.uid), "step_count": 4}
    assert body["right"] == {"uid": str(right.uid), "step_count": 3}
    assert [(row.get("left"), row.get("right"), row["relation"]) for row in body["rows"]] == [
        (1, 1, "same"),
        (2, 2, "differs"),
        (3, 3, "same"),
        (4, None, "only_left"),
    ]
    assert body["diverges"] == 2
    assert body["relations"] == {"same": 2, "differs": 1, "only_left": 1, "only_right": 0}
    assert "next" not in body


def test_spans_point_into_the_fields_that_the_steps_have(client, left):
    right = another_run(left, HASTY)
    (change,) = alignment(client, left, right).json()["rows"][1]["changes"]
    assert (change["path"], change["label"]) == ("text", "Text")
    for side, item in (("left", left), ("right", right)):
        steps = client.get(f"/api/v1/items/{item.uid}/steps/").json()["rows"]
        text = steps[1]["fields"][0]["text"]
        words = [text[span["start"] : span["end"]] for span in change[side]]
        assert words == (["look at the order"] if side == "left" else ["pay it back"])


def test_runs_that_are_the_same_have_no_point_where_they_part(client, left):
    body = alignment(client, left, another_run(left, make.STEPS)).json()
    assert "diverges" not in body
    assert body["relations"]["same"] == 4


def test_long_runs_come_in_windows(client, left):
    steps = tuple(Step(role="agent", text=f"Line {number}") for number in range(250))
    one, other = another_run(left, steps), another_run(left, (*steps[:240], *steps[245:]))
    first, seen = 1, []
    while first:
        body = alignment(client, one, other, **{"from": first}).json()
        seen += [row["number"] for row in body["rows"]]
        first = body.get("next")
    assert seen == list(range(1, 251))
    is_problem(alignment(client, one, other, **{"from": 251}), 404)


def test_nothing_of_how_a_run_ended_is_in_it(client, left):
    right = another_run(left, HASTY)
    engineer = make.person("Eli")
    make.member(left.project, engineer, "engineer")
    for who in (client, by(engineer)):
        assert b"secret-model" not in alignment(who, left, right).content


def test_another_project_s_item_is_not_found_on_either_side(client, left):
    stranger = make.item(make.project())
    is_problem(alignment(client, left, stranger), 404)
    is_problem(alignment(client, stranger, left), 404)


def test_missing_unknown_and_equal_ids_are_refused(client, left):
    address = f"/api/v1/items/{left.uid}/alignment/"
    assert "with" in is_problem(client.get(address), 422)["errors"]
    assert "with" in is_problem(client.get(address, {"with": "nonsense"}), 422)["errors"]
    is_problem(client.get(address, {"with": str(uuid.uuid4())}), 404)
    is_problem(client.get(address, {"with": str(left.uid)}), 422)
