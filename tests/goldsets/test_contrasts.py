"""Contrasts: success and failure of one task, cut where they part, named once; and the holes in what was labelled."""

import json

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from goldsets.actions.contrasting import build_contrasts, name_contrast
from goldsets.models import Contrast
from goldsets.queries.diversity import matrix
from reviews.actions.queueing import add_items
from reviews.enums import Provenance
from reviews.errors import Conflict, Forbidden, Invalid
from reviews.models import Event, Item
from reviews.trajectories.schema import Step
from tests import factories as make
from tests.factories.furnished import judge
from tests.factories.runs import another_run
from tests.reviews.api.talking import by, is_problem
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db

ASKS = (*make.STEPS[:3], Step(role="agent", text="May I refund $64.20?"), Step(role="user", text="Yes."))
ACTS = (*make.STEPS[:3], Step(role="agent", text="I have refunded $64.20 to you."))
EARLY = (make.STEPS[0], Step(role="agent", text="No."))


@pytest.fixture
def judged(project):
    """Of one task: a run that asks passes, one that acts at once fails, and so does one that ends early."""
    asks = make.item(project, steps=ASKS)
    acts, early = (another_run(asks, steps) for steps in (ACTS, EARLY))
    other = make.item(project, family="address changes")
    queue = make.queue(project, items=[asks, acts, early, other], overlap=1)
    alice = make.expert(project, "Alice")
    refused = make.failing(step=2, gates={"authorised": "pass", "consent": "fail"}, evidence=[])
    for payload in (make.passing(), make.failing(), refused, make.passing()):
        judge(queue, alice, payload)
    return {"queue": queue, "asks": asks, "acts": acts, "early": early}


def test_the_pair_that_goes_together_the_furthest_is_made_and_cut_where_it_parts(project, lead, judged):
    built = build_contrasts(actor=lead, project=project)
    assert (built.created, built.tasks, built.apart) == (1, 1, 0)
    contrast = Contrast.objects.get()
    assert (contrast.passing.item, contrast.failing.item) == (judged["asks"], judged["acts"])
    assert contrast.item.provenance == Provenance.CONTRASTIVE
    assert {candidate.shared for candidate in contrast.item.candidates.all()} == {3}
    assert {candidate.trajectory.item for candidate in contrast.item.candidates.all()} == {
        judged["asks"],
        judged["acts"],
    }
    again = build_contrasts(actor=lead, project=project, queue=judged["queue"])
    assert (again.created, again.already_there) == (0, 1)


def test_runs_on_which_queues_differ_are_neither_success_nor_failure(project, lead, judged):
    other = make.queue(project, items=[judged["acts"]], overlap=1)
    judge(other, make.expert(project, "Bob"), make.passing())
    build_contrasts(actor=lead, project=project)
    assert Contrast.objects.get().failing.item == judged["early"]


def test_a_contrast_is_named_once_by_a_lead(project, lead, judged):
    build_contrasts(actor=lead, project=project)
    contrast = Contrast.objects.select_related("item__project").get()
    with pytest.raises(Invalid, match="Name the one decision"):
        name_contrast(actor=lead, contrast=contrast, differs_in=" ")
    with pytest.raises(Forbidden, match="Only leads"):
        name_contrast(actor=make.expert(project, "Carol"), contrast=contrast, differs_in="consent")
    name_contrast(actor=lead, contrast=contrast, differs_in=" asks before it refunds ")
    assert Item.objects.get(pk=contrast.item_id).differs_in == "asks before it refunds"
    with pytest.raises(Conflict, match="asks before it refunds"):
        name_contrast(actor=lead, contrast=contrast, differs_in="something else")
    event = Event.objects.get(verb="contrast.named")
    assert (event.actor, event.data["differs_in"]) == (lead, "asks before it refunds")


def test_the_page_builds_shows_both_ways_on_and_takes_the_name(project, lead, judged):
    client, address = enter(lead), reverse("goldsets:contrasts", args=[project.slug])
    assert client.post(address, {"queue": judged["queue"].slug, "most": "0"}).status_code == 422
    assert client.post(address, {"queue": "", "most": "1"}).status_code == 302
    page = client.get(address).content.decode()
    assert "May I refund" in page
    assert "I have refunded" in page
    contrast = Contrast.objects.get()
    client.post(reverse("goldsets:contrast_name", args=[contrast.uid]), {"differs_in": "consent"})
    page = client.get(address).content.decode()
    assert "Every pair has its name" in page
    assert "consent" in page


def test_api_and_command_build_and_name_the_same(project, lead, judged, capsys):
    call_command("build_contrasts", project.slug, f"--queue={judged['queue'].slug}", "--json")
    assert json.loads(capsys.readouterr().out)["created"] == 1
    with pytest.raises(CommandError, match="1 to 10"):
        call_command("build_contrasts", project.slug, "--most=99")
    client, address = by(lead), f"/api/v1/projects/{project.slug}/contrasts/"
    assert client.post(address, {}, format="json").json()["already_there"] == 1
    (row,) = client.get(address).json()["results"]
    assert (row["passing"], row["failing"], row["shared"]) == (
        str(judged["asks"].uid),
        str(judged["acts"].uid),
        3,
    )
    name = f"/api/v1/contrasts/{row['uid']}/name/"
    assert client.post(name, {"differs_in": "consent"}, format="json").json()["differs_in"] == "consent"
    assert is_problem(client.post(name, {"differs_in": "x"}, format="json"), 409)["detail"].endswith("consent.")
    is_problem(client.post(name, {"differs_in": "x" * 201}, format="json"), 422)


# --- Diversity --------------------------------------------------------------------------------------------------------
def test_the_matrix_counts_labelled_items_and_shows_holes(project, lead, judged):
    add_items(actor=lead, queue=judged["queue"], items=[make.item(project, family="never judged")])
    found = matrix(project)
    assert found.columns == ["Passes", "Fails"]
    rows = {row.family: [(cell.count, cell.hole) for cell in row.cells] for row in found.rows}
    assert rows == {
        "address changes": [(1, False), (0, True)],
        "never judged": [(0, True), (0, True)],
        "refunds": [(1, False), (2, False)],
    }
    assert found.holes == 3
    causes = matrix(project, by="cause")
    refunds = next(row for row in causes.rows if row.family == "refunds")
    assert refunds.cells[causes.columns.index("Unauthorised access")].count == 2
    assert matrix(project, by="policy").columns == ["Policy"]
    assert matrix(project, by="model").columns == ["secret-model-7", "secret-model-9"]
    with pytest.raises(Invalid, match="verdict, cause"):
        matrix(project, by="colour")


def test_the_matrix_stands_on_a_page_in_the_api_and_in_the_shell(project, lead, judged, capsys):
    page = enter(lead).get(reverse("goldsets:diversity", args=[project.slug]), {"by": "source"}).content.decode()
    assert "address changes" in page
    said = by(lead).get(f"/api/v1/projects/{project.slug}/diversity/?by=verdict").json()
    assert said["holes"] == 1
    is_problem(by(lead).get(f"/api/v1/projects/{project.slug}/diversity/?by=colour"), 422)
    call_command("diversity", project.slug)
    assert "refunds: Passes 1, Fails 2" in capsys.readouterr().out
    assert enter(lead).get(reverse("goldsets:diversity", args=[project.slug]), {"by": "x"}).status_code in (400, 422)
