"""Whatever rubric can be written comes back the same from its file."""

import json

from hypothesis import given
from hypothesis import strategies as st

from reviews.actions.rubrics import read_rubric, read_rubric_file

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30).map(str.strip)
NAMED = TEXT.filter(bool)


@st.composite
def levels(draw):
    values = sorted(draw(st.sets(st.integers(0, 100), min_size=2, max_size=10)))
    return [
        {"value": value, "name": draw(NAMED), "anchor": draw(TEXT)}
        | ({"example": draw(NAMED)} if draw(st.booleans()) else {})
        for value in values
    ]


@st.composite
def criterion(draw, number):
    kind = draw(st.sampled_from(["gate", "ordinal", "binary", "choice", "multi_choice", "number", "text"]))
    row = {"key": f"k{number}", "title": draw(NAMED), "question": draw(TEXT), "hint": draw(TEXT), "kind": kind}
    row["evidence"] = draw(st.sampled_from(["never", "on_fail", "always"]))
    if kind == "gate":
        return row
    if kind in ("ordinal", "choice", "multi_choice"):
        row["levels"] = draw(levels())
    if kind == "number":
        row["settings"] = {"min": draw(st.integers(-9, 0)), "max": draw(st.floats(0, 9)), "unit": draw(TEXT)}
    row["block"] = draw(st.sampled_from(["", "process"]))
    return row | {"required": draw(st.booleans()), "weight": draw(st.none() | st.integers(0, 1000))}


@st.composite
def rubric(draw):
    rows = [draw(criterion(number)) for number in range(draw(st.integers(1, 4)))]
    return {"name": draw(NAMED), "unsure_allowed": draw(st.booleans()), "criteria": rows}


@given(rubric())
def test_a_file_gives_back_what_was_written(written):
    fields, rows, errors = read_rubric(written)
    assert errors == {}
    whole = {**fields, "criteria": rows}
    assert read_rubric_file(json.dumps(whole)) == whole
