"""Graders: who registers them, what a version fixes for good, and what of it may be set later."""

import pytest
from django.db import DatabaseError, transaction

from goldsets.actions.graders import add_version, register_grader, set_version
from goldsets.models import GraderScore, GraderVersion
from reviews.errors import Conflict, Forbidden, Invalid, NotFound
from reviews.models import Event
from tests import factories as make
from tests.factories import graders

pytestmark = pytest.mark.django_db


def test_an_engineer_registers_a_grader_and_its_versions_are_counted(project):
    eve = make.person("Eve")
    make.member(project, eve, "engineer")
    grader = register_grader(actor=eve, project=project, name=" State check ", kind="deterministic")
    first = add_version(actor=eve, grader=grader, fingerprint="abc", environment="desk 3.2")
    second = add_version(actor=eve, grader=grader, fingerprint="def", parameters={"strict": True})
    assert (grader.name, first.number, second.number) == ("State check", 1, 2)
    assert second.parameters == {"strict": True}
    assert list(Event.objects.filter(verb__startswith="grader.").order_by("pk").values_list("verb", flat=True)) == [
        "grader.registered",
        "grader.version_added",
        "grader.version_added",
    ]


def test_raters_register_nothing_and_strangers_know_nothing(project):
    with pytest.raises(Forbidden):
        register_grader(actor=make.expert(project), project=project, name="Mine", kind="model")
    with pytest.raises(NotFound):
        register_grader(actor=make.person("Mallory"), project=project, name="Mine", kind="model")


def test_every_field_at_fault_is_named(project, lead):
    with pytest.raises(Invalid) as refused:
        register_grader(actor=lead, project=project, name=" ", kind="oracle", criterion="taste", note="x" * 5001)
    assert refused.value.errors.keys() == {"name", "kind", "criterion", "note"}
    grader = register_grader(actor=lead, project=project, name="Judge", kind="model")
    with pytest.raises(Invalid) as refused:
        add_version(
            actor=lead,
            grader=grader,
            scale="colour",
            lowest=0,
            highest=10,
            threshold=11,
            attempts_cap=0,
            parameters={"prompt": "x" * 20_000},
        )
    assert refused.value.errors.keys() == {"scale", "threshold", "attempts_cap", "parameters"}
    with pytest.raises(Invalid, match="above the lowest"):
        add_version(actor=lead, grader=grader, lowest=1, highest=float("inf"))


def test_a_name_is_taken_once_and_a_criterion_must_be_of_a_rubric(project, lead):
    make.queue(project)
    register_grader(actor=lead, project=project, name="Consent judge", kind="model", criterion="consent")
    with pytest.raises(Conflict, match="already"):
        register_grader(actor=lead, project=project, name="Consent judge", kind="model")
    with pytest.raises(Invalid, match="authorised, consent, process, success"):
        register_grader(actor=lead, project=project, name="Consents", kind="model", criterion="consents")


def test_a_version_stays_what_it_was_but_for_threshold_and_cap(project, lead):
    version = graders.version(project, scale="real", highest=10)
    assert version.passes_from is None
    set_version(actor=lead, version=version, threshold=7, attempts_cap=2)
    assert (version.passes_from, version.attempts_cap) == (7, 2)
    changes = {"before": {"threshold": None, "attempts_cap": None}, "after": {"threshold": 7, "attempts_cap": 2}}
    assert Event.objects.get(verb="grader.version_set").data | changes == Event.objects.latest("pk").data
    stale = GraderVersion.objects.get(pk=version.pk)
    set_version(actor=lead, version=version, threshold=8, attempts_cap=2)
    with pytest.raises(Conflict, match="meanwhile"):
        set_version(actor=lead, version=stale, threshold=6, attempts_cap=2)
    with pytest.raises(Invalid, match="0 to 10"):
        set_version(actor=lead, version=version, threshold=11, attempts_cap=2)
    for change in ({"model": "another"}, {"highest": 20}, {"number": 9}):
        with pytest.raises(DatabaseError), transaction.atomic():
            GraderVersion.objects.filter(pk=version.pk).update(**change)
    with pytest.raises(DatabaseError), transaction.atomic():
        version.delete()


def test_a_binary_grader_passes_at_its_highest_value(project):
    assert graders.version(project).passes_from == 1


def test_a_score_is_kept_once_and_for_good(project):
    version, item = graders.version(project), make.item(project)
    graders.scored(version, (item, 1))
    with pytest.raises(DatabaseError, match="one_score_per_attempt"), transaction.atomic():
        graders.scored(version, (item, 0))
    graders.scored(version, (item, 0), attempt=2)
    with pytest.raises(DatabaseError, match="Cannot update or delete"), transaction.atomic():
        GraderScore.objects.filter(version=version).update(value=1)
