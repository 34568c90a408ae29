"""A licence comes in with its file or is stated later, and releases know the latest word of each source."""

import io
import json
from io import StringIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from goldsets.actions.defining import define_dataset
from goldsets.actions.releasing import state_licence
from goldsets.queries.releases import licences_of
from reviews.actions.importing import start_import
from reviews.actions.ingesting import ingest_runs
from reviews.errors import Invalid
from reviews.models import ImportJob
from tests import factories as make
from tests.factories.furnished import RUN
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db


def bring(project, licence, name="runs.jsonl"):
    return start_import(
        actor=make.lead_of(project), project=project, name=name, file=io.BytesIO(RUN), settings={"licence": licence}
    )


def run(*arguments):
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def test_the_latest_word_of_a_source_holds_wherever_it_was_said():
    project = make.project()
    bring(project, " CC-BY-4.0 ")
    bring(project, "MIT", name="other.jsonl")
    assert licences_of(project) == {"runs.jsonl": "CC-BY-4.0", "other.jsonl": "MIT"}
    state_licence(actor=make.lead_of(project), project=project, source="runs.jsonl", licence="CC0-1.0")
    assert licences_of(project)["runs.jsonl"] == "CC0-1.0"
    bring(project, "CC-BY-SA-4.0")
    assert licences_of(project)["runs.jsonl"] == "CC-BY-SA-4.0"
    assert licences_of(make.project()) == {}


def test_what_is_no_licence_is_refused_and_runs_that_are_posted_have_one_source():
    project = make.project()
    for licence in (" ", "x" * 121):
        with pytest.raises(Invalid) as refused:
            bring(project, licence)
        assert refused.value.errors == {"settings": "A licence has 1 to 120 characters."}
    with pytest.raises(Invalid):
        ingest_runs(actor=make.lead_of(project), project=project, body=RUN, settings={"licence": "MIT"})


def test_the_upload_form_takes_it():
    project = make.project()
    file = SimpleUploadedFile("runs.jsonl", RUN)
    given = {"file": file, "format": "auto", "licence": "CC-BY-4.0", "preview": "1"}
    answer = enter(make.lead_of(project)).post(reverse("reviews:imports", args=[project.slug]), given)
    assert answer.status_code == 302
    assert ImportJob.objects.get().options["licence"] == "CC-BY-4.0"
    # It is only looked at so far.
    assert licences_of(project) == {}


def test_licences_on_the_server():
    project = make.project()
    assert run("licences", project.slug) == "No licence is stated of any source.\n"
    assert run("licences", project.slug, "--source", "a.jsonl", "--licence", "MIT") == "a.jsonl: MIT\n"
    assert json.loads(run("licences", project.slug, "--json")) == {"a.jsonl": "MIT"}
    for wrong in (["--source", "a"], ["--source", " ", "--licence", "MIT"]):
        with pytest.raises(CommandError):
            run("licences", project.slug, *wrong)


def test_release_terms_on_the_server():
    project = make.project()
    define_dataset(actor=make.lead_of(project), project=project, name="Labels", formats=["jsonl"])
    assert "No terms are written" in run("release_terms", project.slug, "Labels")
    lines = run("release_terms", project.slug, "Labels", "--set", "min_rows=500").splitlines()
    assert lines[0].startswith("Terms 1, by ")
    assert "  Labels, at least: 500" in lines
    assert json.loads(run("release_terms", project.slug, "Labels", "--json"))[0]["terms"]["min_rows"] == 500
    for wrong in (["None"], ["Labels", "--set", "min_rows"], ["Labels", "--set", "least=3"]):
        with pytest.raises(CommandError):
            run("release_terms", project.slug, *wrong)
