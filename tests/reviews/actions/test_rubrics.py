"""Rubrics: every change a new version, gates without weight, and each mistake named at its field."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviews.actions.rubrics import write_guideline, write_rubric
from reviews.errors import Forbidden, Invalid
from reviews.models import Rubric
from tests import factories as make

pytestmark = pytest.mark.django_db


def errors_of(lead, project, criteria, name="Runs"):
    with pytest.raises(Invalid) as refused:
        write_rubric(actor=lead, project=project, name=name, criteria=criteria)
    return refused.value.errors


def test_a_change_is_a_new_version_and_the_old_one_stays(project, lead):
    first = write_rubric(actor=lead, project=project, name="Runs", criteria=make.CRITERIA)
    second = write_rubric(actor=lead, project=project, name="Runs", criteria=make.CRITERIA[:3])
    assert (first.version, second.version) == (1, 2)
    assert (first.criteria.count(), second.criteria.count()) == (4, 3)


def test_gates_come_first_whatever_their_order(project, lead):
    rubric = write_rubric(actor=lead, project=project, name="Runs", criteria=make.CRITERIA[::-1])
    assert [criterion.kind for criterion in rubric.criteria.all()] == ["gate", "gate", "ordinal", "ordinal"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"key": "Two words"}, "key"),
        ({"key": ""}, "key"),
        ({"title": ""}, "title"),
        ({"kind": "mood"}, "kind"),
        ({"evidence": "maybe"}, "evidence"),
        ({"levels": make.LEVELS}, "levels"),
        ({"weight": 2}, "weight"),
        ({"question": "x" * 301}, "question"),
    ],
)
def test_a_mistake_in_a_gate_is_named(project, lead, change, field):
    assert f"criteria.0.{field}" in errors_of(lead, project, [{**make.CRITERIA[0], **change}])


@pytest.mark.parametrize(
    "levels",
    [
        None,
        [],
        "0123",
        make.LEVELS[:1],
        make.LEVELS[::-1],
        [make.LEVELS[0], make.LEVELS[0]],
        [{"value": 0.5, "name": "Half"}, {"value": 1, "name": "Whole"}],
        [{"value": 0, "name": ""}, {"value": 1, "name": "Whole"}],
        [7, 8],
    ],
)
def test_levels_that_are_no_scale_are_refused(project, lead, levels):
    assert "criteria.0.levels" in errors_of(lead, project, [{**make.CRITERIA[2], "levels": levels}])


def test_a_key_used_twice_is_named_where_it_comes_again(project, lead):
    assert "criteria.1.key" in errors_of(lead, project, [make.CRITERIA[0], make.CRITERIA[0]])


def test_a_rubric_needs_a_criterion(project, lead):
    assert "criteria" in errors_of(lead, project, [])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(
    row=st.dictionaries(
        st.sampled_from(["key", "title", "kind", "block", "levels", "evidence", "hint"]),
        st.none() | st.integers() | st.text(max_size=8) | st.lists(st.integers() | st.text(max_size=3), max_size=3),
    )
)
def test_whatever_a_criterion_holds_the_answer_is_a_sentence_per_field(project, lead, row):
    assert errors_of(lead, project, [row, 5])


def test_only_leads_write(project):
    with pytest.raises(Forbidden):
        write_rubric(actor=make.expert(project), project=project, name="Runs", criteria=make.CRITERIA)
    assert not Rubric.objects.exists()


def test_guidelines_count_their_versions(project, lead):
    first = write_guideline(actor=lead, project=project, name="Main", text="Be fair.")
    second = write_guideline(actor=lead, project=project, name="Main", text="Be fair and quick.")
    assert (first.version, second.version) == (1, 2)
    with pytest.raises(Invalid):
        write_guideline(actor=lead, project=project, name="Main", text="  ")
