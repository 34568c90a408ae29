"""What a row of exported labels becomes: a run or a task to read, and whether label and votes pass."""

from goldsets.reviewing.examples import Target, examples_from, item_of


def row(label, *votes, **more):
    """A row in which each answer is given as {criterion: value}."""
    values = [[{"criterion": key, "value": value} for key, value in said.items()] for said in (label, *votes)]
    return {
        "item": "i-1",
        "family": "refunds",
        "task_key": "t-1",
        "slices": [{"name": "ticket", "value": "billing"}],
        "tools": "[]",
        "steps": [{"role": "agent", "text": "A refund."}],
        "values": values[0],
        "judgments": [
            {"rater": f"Rater {at}", "values": said, "active_seconds": 90} for at, said in enumerate(values[1:])
        ],
        **more,
    }


def said(target, *rows):
    return [(example.label, example.votes) for example in examples_from(rows, target)]


def test_every_gate_passes_where_all_do_and_fails_where_one_does():
    every = Target("", gates=("safe", "honest"))
    found = said(every, row({"safe": 1, "honest": 1}, {"safe": 1, "honest": 0}, {"safe": -1, "honest": 1}))
    # Whoever was unsure of one gate and failed none has said neither.
    assert found == [(1, {"Rater 0": 0})]
    assert said(every, row({"safe": 0, "honest": -1}), row({"quality": 3})) == [(0, {})]


def test_levels_pass_from_one_on_and_of_options_one_alone_does():
    assert said(Target("q", 2), row({"q": 3}, {"q": 1})) == [(1, {"Rater 0": 0})]
    assert said(Target("q", 2, is_choice=True), row({"q": 3}, {"q": 2})) == [(0, {"Rater 0": 1})]


def test_a_task_is_read_by_its_four_parts_and_a_run_by_its_steps():
    parts = {"number": 1, "prompt": "Refund it.", "world": "", "verifier": "Checks the sum.", "intent": "Asks first."}
    assert item_of(row({}, task_version=parts)) == {"id": "i-1", "text": "Refund it.\nChecks the sum.\nAsks first."}
    (example,) = examples_from([row({"safe": 1}, {"safe": 1}, {"safe": 1})], Target("safe"), first=7)
    assert (example.text, example.family, example.minutes, example.position) == ("A refund.", "refunds", 3.0, 7)
    assert example.structure["steps"] == 1
