"""Data sets from the page: defined, written, downloaded; refused with the reason."""

import json

import pytest
from django.urls import reverse

from goldsets.actions.exporting import run_export
from goldsets.enums import GoldVerb
from goldsets.models import Dataset, DatasetVersion
from goldsets.queries.datasets import formats_held
from reviews.actions.adjudicating import adjudicate
from reviews.models import Event, Task
from tests import factories as make
from tests.factories.furnished import desk
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db

TRAIN = {"purpose": "train", "ties": "leave_out", "neutral": "good", "duplicates": "all", "raters": "within"}


@pytest.fixture
def made():
    return desk()


def datasets(made):
    return reverse("goldsets:datasets", args=[made.project.slug])


def file_of(made, name, number=1):
    return reverse("goldsets:dataset_file", args=[made.dataset.uid, number, name])


def test_an_engineer_defines_a_data_set_and_its_first_version_is_written(made):
    client = enter(made.engineer)
    answer = client.post(
        datasets(made), {"name": "For training", **TRAIN, "formats": ["parquet"], "queue": made.queue.slug}
    )
    dataset = Dataset.objects.get(name="For training")
    version = dataset.versions.get()
    assert answer.url == reverse("goldsets:dataset", args=[dataset.uid])
    assert "hx-get" in client.get(answer.url).content.decode()
    run_export(version_id=version.pk)
    page = client.get(answer.url).content.decode()
    assert "hx-get" not in page
    assert ".parquet" in page


def test_the_form_says_what_a_format_is_made_from_and_what_a_queue_holds(made):
    page = enter(made.engineer).get(datasets(made)).content.decode()
    assert "From labels of steps" in page
    assert f"{made.queue.name}: single runs with gates" in page


def test_files_and_manifest_are_downloaded_and_it_is_noted(made):
    client = enter(made.engineer)
    manifest = json.loads(b"".join(client.get(file_of(made, "manifest.json")).streaming_content))
    name = manifest["files"][0]["name"]
    rows = b"".join(client.get(file_of(made, name)).streaming_content).splitlines()
    assert len(rows) == 5
    read = Event.objects.filter(verb=GoldVerb.DATASET_READ, actor=made.engineer)
    assert [event.data["file"] for event in read.order_by("pk")] == ["manifest.json", name]


@pytest.mark.parametrize("name", ["nothing.jsonl", "..%2Fmanifest.json", "manifest.json%00"])
def test_no_other_file_is_given_out(made, name):
    answer = enter(made.engineer).get(reverse("goldsets:dataset", args=[made.dataset.uid]) + f"1/{name}")
    assert answer.status_code in (400, 404)


def test_the_log_says_it_in_words_and_can_be_narrowed_to_data_sets(made):
    list(enter(made.engineer).get(file_of(made, "manifest.json")).streaming_content)
    client, place = enter(made.lead), reverse("reviews:events", args=[made.project.slug])
    assert "<option>Data sets and releases</option>" in client.get(place).content.decode()
    page = client.get(place, {"about": "Data sets and releases"}).content.decode()
    assert "downloaded an export" in page
    assert "finished an export" in page
    assert "labels.jsonl " in page
    assert "{" not in page.partition("<tbody>")[2]


def test_a_version_that_is_not_there_is_not_found(made):
    assert enter(made.engineer).get(file_of(made, "manifest.json", number=9)).status_code == 404


def test_the_next_version_is_written_on_request(made):
    enter(made.lead).post(reverse("goldsets:dataset_run", args=[made.dataset.uid]))
    assert list(made.dataset.versions.order_by("number").values_list("number", flat=True)) == [1, 2]


def test_the_page_of_a_version_says_what_differs_and_why(made):
    client = enter(made.lead)
    waiting = made.waiting[0]
    decision = {"gates": {"authorised": "pass", "consent": "pass"}, "criteria": {"success": 3, "process": 1}}
    adjudicate(actor=made.lead, queue_item=waiting, payload=decision | {"reasons": {"process": "rater_error"}})
    client.post(reverse("goldsets:dataset_run", args=[made.dataset.uid]))
    version = run_export(version_id=made.dataset.versions.first().pk)
    assert (version.number, version.state) == (2, "finished")
    assert version.manifest["difference"] == {
        "since": 1,
        "added": 1,
        "removed": 0,
        "changed": 0,
        "why": {"added": {"labelled since": 1}},
    }
    page = client.get(reverse("goldsets:dataset_version", args=[made.dataset.uid, 2])).content.decode()
    assert "labelled since" in page
    assert str(waiting.item.uid) in page
    assert (
        "1 added, 0 removed, 0 changed"
        in client.get(reverse("goldsets:dataset", args=[made.dataset.uid])).content.decode()
    )


def test_the_page_says_what_is_right_without_reading_with_its_interval(made):
    version = made.dataset.versions.get()
    counts = {"pairs people decided": 4, "the longer one is better": 3, "the first one is better": 0}
    told = {"rows": 4, "left_out": {"ties": 2}, "counts": counts}
    version.manifest = {"formats": {"trl_reward": told, "jsonl": {"rows": 5, "left_out": {}, "counts": {}}}}
    labels, rewards = formats_held(version)
    assert (labels.title, labels.rows, labels.longer) == ("Labels as JSON lines", 5, None)
    assert (rewards.longer.value, rewards.longer.n_units, rewards.first.value) == (0.75, 4, 0.0)
    assert (round(rewards.longer.low, 2), round(rewards.longer.high, 2)) == (0.3, 0.95)
    page = enter(made.lead).get(reverse("goldsets:dataset_version", args=[made.dataset.uid, 1])).content.decode()
    assert "Labels as JSON lines" in page


def test_a_definition_narrowed_on_the_page_is_kept_and_read_in_words(made):
    client = enter(made.lead)
    asked = {"name": "Chosen", "queue": "", **TRAIN, "formats": ["trl_sft"], "basis": ["unanimous"]}
    client.post(datasets(made), asked | {"families": "refunds, orders", "ties": "both_ways"})
    dataset = Dataset.objects.get(name="Chosen")
    assert dataset.filter == {"basis": ["unanimous"], "families": ["refunds", "orders"]}
    assert dataset.policies["ties"] == "both_ways"
    page = client.get(reverse("goldsets:dataset", args=[dataset.uid])).content.decode()
    for words in ("Unanimous", "refunds, orders", "TRL SFT", "each way once"):
        assert words in page


def test_what_is_held_out_is_never_defined_to_train_with(made):
    asked = {"name": "Leak", "queue": "", **TRAIN, "purpose": "held_out", "formats": ["jsonl", "trl_sft"]}
    answer = enter(made.lead).post(datasets(made), asked)
    assert answer.status_code == 422
    assert answer.context["form"].errors["formats"] == [
        "Formats to train with leave for the purpose “train” alone, not trl_sft."
    ]


def test_a_name_that_is_taken_is_said_at_its_field(made):
    answer = enter(made.lead).post(
        datasets(made), {"name": "Settled labels", **TRAIN, "formats": ["jsonl"], "queue": ""}
    )
    assert answer.status_code == 422
    assert answer.context["form"].errors["name"]


def test_where_nothing_may_leave_the_page_says_why(made):
    queue = make.queue(made.project, items=1)
    answer = enter(made.lead).post(
        datasets(made), {"name": "Empty", **TRAIN, "formats": ["jsonl"], "queue": queue.slug}, follow=True
    )
    assert "There is nothing to export" in answer.content.decode()
    assert DatasetVersion.objects.filter(dataset__name="Empty").count() == 0


def test_experts_and_strangers_export_nothing(made):
    for person, status in ((made.experts[0], 403), (make.person("Mallory"), 404)):
        client = enter(person)
        assert client.get(datasets(made)).status_code == status
        assert client.get(file_of(made, "manifest.json")).status_code == status
        assert client.post(reverse("goldsets:dataset_run", args=[made.dataset.uid])).status_code == status


def test_no_more_of_a_source_than_the_page_says(made):
    given = {"name": "Balanced", "formats": ["jsonl"], "purpose": "train", "queue": made.queue.slug}
    policies = {"ties": "leave_out", "neutral": "good", "duplicates": "all", "raters": "within"}
    client = enter(made.engineer)
    for wrong in ("synthetic", "synthetic much", "luck 0.3", "synthetic 7"):
        assert client.post(datasets(made), {**given, **policies, "quotas": wrong}).status_code == 422, wrong
    answer = client.post(datasets(made), {**given, **policies, "quotas": "synthetic 0.3, failure 0.2"})
    assert Dataset.objects.get(name="Balanced").filter == {"quotas": {"synthetic": 0.3, "failure": 0.2}}
    assert "Synthetic at most 30%" in client.get(answer.url).content.decode()


def test_slices_and_how_often_a_model_solves_the_task_narrow_it_down(made):
    given = {"name": "Deep", **TRAIN, "formats": ["jsonl"], "queue": made.queue.slug}
    client = enter(made.engineer)
    for field, wrong in (
        ("slices", {"slices": "depth"}),
        ("slices", {"slices": ": deep"}),
        ("pass_model", {"pass_low": "0.2"}),
        ("__all__", {"pass_model": "secret-model-9", "pass_low": "0.8", "pass_high": "0.2"}),
        ("pass_low", {"pass_model": "secret-model-9", "pass_low": "20"}),
    ):
        answer = client.post(datasets(made), {**given, **wrong})
        assert (answer.status_code, list(answer.context["form"].errors)) == (422, [field])
    Task.objects.filter(project=made.project).update(slices={"depth": "deep"})
    asked = {"slices": "depth: deep, shallow", "pass_model": "secret-model-9", "pass_low": "0.5"}
    answer = client.post(datasets(made), {**given, **asked})
    assert Dataset.objects.get(name="Deep").filter == {
        "slices": {"depth": ["deep", "shallow"]},
        "pass_rate": {"model": "secret-model-9", "low": 0.5, "high": 1},
    }
    page = client.get(answer.url).content.decode()
    assert "secret-model-9 solves the task in 50% to 100% of runs" in page
