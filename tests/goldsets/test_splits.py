"""Splits: stated once, sealed by the database, and kept to by everything that leaves."""

import json

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, transaction
from django.urls import reverse

from goldsets.actions.defining import define_dataset
from goldsets.actions.exporting import run_export, start_export
from goldsets.actions.splitting import deal_families, deal_new_families, seal_splits
from goldsets.enums import GoldVerb
from goldsets.models import FamilySplit, SplitPlan
from goldsets.queries.datasets import folder_of
from goldsets.queries.splits import family_rows, plan_of
from goldsets.stats.splits import deal
from reviews.errors import Conflict, Forbidden, Invalid
from reviews.models import Event, Task
from tests import factories as make
from tests.factories.furnished import judge
from tests.reviews.api.talking import by, is_problem
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db

HALVES = {"train": 50, "calibration": 0, "held_out": 50}
FAMILIES = [f"family {n}" for n in range(8)]


def run_of(project, family):
    """A run of the family in words of its own, near no other family's."""
    return make.item(project, family=family, steps=make.saying(f"This is about {family} and what I want of {family}."))


@pytest.fixture
def labelled(project):
    """A settled item of each of eight families."""
    queue = make.queue(project, items=[run_of(project, family) for family in FAMILIES], overlap=1)
    alice = make.expert(project, "Alice")
    for _ in FAMILIES:
        judge(queue, alice, make.passing())
    return queue


def split_of(project):
    return dict(FamilySplit.objects.filter(plan__project=project).values_list("family", "split"))


def test_every_family_goes_where_the_rule_says_and_new_ones_follow_it(project, lead):
    make.item(project, family="refunds")
    seal_splits(actor=lead, project=project, seed="autumn", **HALVES)
    for family in FAMILIES:
        make.item(project, family=family)
    deal_new_families()
    expected = {family: deal(family, seed="autumn", shares=HALVES) for family in ["refunds", *FAMILIES]}
    assert split_of(project) == expected
    assert set(expected.values()) == {"train", "held_out"}
    verbs = Event.objects.filter(project=project).order_by("pk").values_list("verb", flat=True)
    assert list(verbs)[-3:] == [GoldVerb.SPLITS_SEALED, GoldVerb.FAMILIES_DEALT, GoldVerb.FAMILIES_DEALT]
    assert deal_families(project=project) == 0


def test_what_was_held_out_at_import_stays_so(project, lead):
    task = make.item(project, family="sealed before").subject
    Task.objects.filter(pk=task.pk).update(split="held_out")
    seal_splits(actor=lead, project=project, train=100, calibration=0, held_out=0)
    row = FamilySplit.objects.get(family="sealed before")
    assert (row.split, row.by_plan) == ("held_out", False)


def test_a_task_of_no_family_stands_for_itself(project, lead):
    one, other = (make.item(project, family="").subject for _ in range(2))
    seal_splits(actor=lead, project=project, **HALVES)
    assert set(split_of(project)) == {f"task:{one.key}", f"task:{other.key}"}


def test_nothing_of_it_can_be_changed(project, lead):
    task = make.item(project, family="refunds").subject
    plan = seal_splits(actor=lead, project=project, **HALVES)
    with pytest.raises(Conflict, match="sealed already"):
        seal_splits(actor=lead, project=project, train=100, calibration=0, held_out=0)
    for rows, change in (
        (SplitPlan.objects.filter(pk=plan.pk), {"seed": "another"}),
        (FamilySplit.objects.filter(plan=plan), {"split": "train"}),
        (Task.objects.filter(pk=task.pk), {"family": "another"}),
        (Task.objects.filter(pk=task.pk), {"key": "another"}),
    ):
        with pytest.raises(DatabaseError), transaction.atomic():
            rows.update(**change)
    with pytest.raises(DatabaseError), transaction.atomic():
        FamilySplit.objects.filter(plan=plan).delete()
    Task.objects.filter(pk=task.pk).update(title="Another title")


@pytest.mark.parametrize(
    ("shares", "field"),
    [
        ({"train": 50, "calibration": 20, "held_out": 20}, "held_out"),
        ({"train": 101, "calibration": 0, "held_out": -1}, "train"),
        ({"train": 100, "calibration": 0, "held_out": 0, "seed": "x" * 65}, "seed"),
    ],
)
def test_shares_that_cannot_be_are_refused_with_the_field(project, lead, shares, field):
    with pytest.raises(Invalid) as refused:
        seal_splits(actor=lead, project=project, **shares)
    assert field in refused.value.errors


def test_only_a_lead_seals(project):
    erin = make.person("Erin")
    make.member(project, erin, "engineer")
    with pytest.raises(Forbidden, match="Only leads"):
        seal_splits(actor=erin, project=project, **HALVES)


def test_training_gets_its_own_families_and_no_other(project, lead, labelled):
    seal_splits(actor=lead, project=project, seed="autumn", **HALVES)
    train = {family for family, split in split_of(project).items() if split == "train"}
    assert 0 < len(train) < len(FAMILIES)
    dataset = define_dataset(actor=lead, project=project, name="labels", formats=["jsonl"])
    version = run_export(version_id=start_export(actor=lead, dataset=dataset).pk)
    lines = (folder_of(version) / "labels.jsonl").read_text().splitlines()
    assert {json.loads(line)["family"] for line in lines} == train
    assert version.manifest["left_out"]["other_split_rows"] == len(FAMILIES) - len(train)


def test_nothing_leaves_where_no_family_is_for_training(project, lead, labelled):
    seal_splits(actor=lead, project=project, train=0, calibration=0, held_out=100)
    dataset = define_dataset(actor=lead, project=project, name="labels", formats=["jsonl"])
    with pytest.raises(Conflict, match="one not for training"):
        start_export(actor=lead, dataset=dataset)


def test_the_page_shows_where_families_would_go_before_it_seals(project, lead, labelled):
    client, address = enter(lead), reverse("goldsets:splits", args=[project.slug])
    shown = client.post(address, {**HALVES, "seed": "autumn", "look": "1"}).content.decode()
    assert "Seal for good" in shown
    assert plan_of(project) is None
    assert client.post(address, {**HALVES, "train": 70, "seed": "autumn", "seal": "1"}).status_code == 422
    assert client.post(address, {**HALVES, "seed": "autumn", "seal": "1"}).status_code == 302
    assert "Seal for good" not in client.get(address).content.decode()
    make.item(project, family="new")
    assert "Deal 1 that came in since" in client.get(address).content.decode()
    client.post(reverse("goldsets:splits_deal", args=[project.slug]))
    assert "new" in split_of(project)


def test_the_api_and_the_command_say_the_same(project, lead, labelled, capsys):
    address = f"/api/v1/projects/{project.slug}/splits/"
    is_problem(by(lead).post(address, {"train": 50, "calibration": 0, "held_out": 40}, format="json"), 422)
    assert by(lead).get(address).json() == {"plan": None, "families": []}
    call_command("splits", project.slug, "--train=50", "--calibration=0", "--held-out=50", "--seed=autumn", "--seal")
    said = by(lead).get(address).json()
    assert said["plan"]["seed"] == "autumn"
    assert {row["family"]: row["split"] for row in said["families"]} == split_of(project)
    assert {row["labels"] for row in said["families"]} == {1}
    is_problem(by(lead).post(address, HALVES, format="json"), 409)
    capsys.readouterr()
    call_command("splits", project.slug, "--json")
    told = json.loads(capsys.readouterr().out)
    assert {row["family"]: row["split"] for row in told["families"]} == split_of(project)
    with pytest.raises(CommandError, match="sealed already"):
        call_command("splits", project.slug, "--seal")


def test_a_family_that_was_dealt_and_is_then_held_out_leaves_for_nothing(project, lead, labelled):
    seal_splits(actor=lead, project=project, train=100, calibration=0, held_out=0)
    item = make.item(project, family=FAMILIES[0], steps=make.saying("None of the others says this."))
    Task.objects.filter(pk=item.subject.pk).update(split="held_out")
    plan = plan_of(project)
    rows = {row.family: row for row in family_rows(project, seed=plan.seed, shares=plan.shares)}
    assert rows[FAMILIES[0]].contradicts
    dataset = define_dataset(actor=lead, project=project, name="labels", formats=["jsonl"])
    version = run_export(version_id=start_export(actor=lead, dataset=dataset).pk)
    assert version.manifest["left_out"]["held_out_family_rows"] == 1
