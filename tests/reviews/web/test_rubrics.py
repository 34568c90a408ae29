"""The rubric builder and the guideline editor: every button keeps what was entered, a mistake is named at its field."""

import pytest
from django.urls import reverse

from reviews.actions.rubrics import write_guideline
from reviews.enums import Role
from reviews.models import Guideline, Rubric
from tests import factories as make
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db


@pytest.fixture
def lea():
    return make.person("Lea")


@pytest.fixture
def project(lea):
    return make.project(lea)


def new_rubric(project):
    return reverse("reviews:rubric_new", args=[project.slug])


def entered(**changes):
    """A rubric of one gate and one ordered criterion, as the form sends it."""
    levels = {
        f"criteria-1-levels-{value}-{field}": text
        for value, name in enumerate(("Poor", "Sound", "Strong"))
        for field, text in (("value", str(value)), ("name", name), ("anchor", f"What {name} looks like."))
    }
    return {
        "name": "Refunds",
        "unsure_allowed": "yes",
        "criteria-0-kind": "gate",
        "criteria-0-title": "Consent before action",
        "criteria-0-key": "",
        "criteria-0-evidence": "on_fail",
        "criteria-1-kind": "ordinal",
        "criteria-1-title": "Task success",
        "criteria-1-key": "success",
        "criteria-1-block": "task_success",
        "criteria-1-evidence": "never",
        **levels,
        "do": "save",
        **changes,
    }


def test_a_lead_writes_a_rubric(lea, project):
    answer = enter(lea).post(new_rubric(project), entered())
    rubric = Rubric.objects.get(project=project)
    assert answer.url == reverse("reviews:rubric", args=[project.slug, rubric.uid])
    gate, success = rubric.criteria.all()
    assert (gate.key, gate.kind, gate.evidence) == ("consent_before_action", "gate", "on_fail")
    assert [level["name"] for level in success.levels] == ["Poor", "Sound", "Strong"]
    assert rubric.unsure_allowed
    page = enter(lea).get(answer.url).content.decode()
    assert "What Sound looks like." in page


@pytest.mark.parametrize(
    ("do", "expected"),
    [
        ("add-gate", ["Consent before action", "Task success", ""]),
        ("add-ordinal", ["Consent before action", "Task success", ""]),
        ("down-0", ["Task success", "Consent before action"]),
        ("up-1", ["Task success", "Consent before action"]),
        ("up-0", ["Consent before action", "Task success"]),
        ("drop-1", ["Consent before action"]),
        ("drop-9", ["Consent before action", "Task success"]),
        ("nonsense", ["Consent before action", "Task success"]),
    ],
)
def test_the_buttons_change_the_form_and_save_nothing(lea, project, do, expected):
    answer = enter(lea).post(new_rubric(project), entered(do=do))
    assert answer.status_code == 200
    assert [row.get("title", "") for row in answer.context["draft"]["criteria"]] == expected
    assert "What Sound looks like." in answer.content.decode() or "Task success" not in expected
    assert Rubric.objects.count() == 0


def test_a_level_is_added_and_taken_out(lea, project):
    client = enter(lea)
    levels = client.post(new_rubric(project), entered(do="add-level-1")).context["draft"]["criteria"][1]["levels"]
    assert [level["value"] for level in levels] == [0, 1, 2, 3]
    levels = client.post(new_rubric(project), entered(do="drop-level-1-0")).context["draft"]["criteria"][1]["levels"]
    assert [level["name"] for level in levels] == ["Sound", "Strong"]


def test_without_a_title_nothing_is_said_of_the_key_that_is_made_from_it(lea, project):
    answer = enter(lea).post(new_rubric(project), entered(**{"criteria-1-title": "", "criteria-1-key": ""}))
    assert list(answer.context["errors"]) == ["criteria.1.title"]


def test_ordered_levels_may_be_of_no_grade(lea, project):
    assert enter(lea).post(new_rubric(project), entered(**{"criteria-1-block": ""})).status_code == 302
    assert Rubric.objects.get().criteria.get(kind="ordinal").block == ""


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": " "}, "Give the rubric a name"),
        ({"criteria-0-key": "No Key"}, "A key has lower-case letters"),
        ({"criteria-0-key": "success"}, "is used twice"),
        ({"criteria-1-title": ""}, "Give a title"),
        ({"criteria-1-levels-1-value": "0"}, "ascending order"),
        ({"criteria-1-levels-1-value": "many"}, "whole number"),
        ({"criteria-1-levels-1-name": ""}, "Each level has a name"),
        ({"criteria-1-block": "soul"}, "The block is empty or one of"),
    ],
)
def test_a_mistake_is_said_and_nothing_is_lost(lea, project, changes, said):
    answer = enter(lea).post(new_rubric(project), entered(**changes))
    page = answer.content.decode()
    assert answer.status_code == 422
    assert said in page
    assert "What Strong looks like." in page
    assert Rubric.objects.count() == 0


def test_the_next_version_starts_from_the_last(lea, project):
    client = enter(lea)
    client.post(new_rubric(project), entered())
    first = Rubric.objects.get()
    page = client.get(new_rubric(project), {"from": str(first.uid)}).content.decode()
    assert "Consent before action" in page
    client.post(new_rubric(project), entered(**{"criteria-1-title": "Success"}))
    assert list(Rubric.objects.order_by("version").values_list("version", flat=True)) == [1, 2]
    assert first.criteria.get(key="success").title == "Task success"


def test_only_leads_write_and_engineers_read(lea, project):
    enter(lea).post(new_rubric(project), entered())
    eli = make.person("Eli")
    make.member(project, eli, Role.ENGINEER)
    read = reverse("reviews:rubric", args=[project.slug, Rubric.objects.get().uid])
    assert enter(eli).get(read).status_code == 200
    assert "Next version" not in enter(eli).get(read).content.decode()
    for person in (eli, make.expert(project, "Alice")):
        assert enter(person).post(new_rubric(project), entered()).status_code == 403
    assert Rubric.objects.count() == 1


def test_a_rubric_that_is_not_there_is_a_page_and_no_error(lea, project):
    assert enter(lea).get(new_rubric(project), {"from": "nonsense"}).status_code == 404


def test_a_guideline_is_looked_at_before_it_is_saved(lea, project):
    client, place = enter(lea), reverse("reviews:guideline_new", args=[project.slug])
    text = {"name": "Refunds", "text": "Judge **what was done**."}
    page = client.post(place, text | {"do": "preview"}).content.decode()
    assert "<strong>what was done</strong>" in page
    assert Guideline.objects.count() == 0
    answer = client.post(place, text | {"do": "save"})
    assert "<strong>what was done</strong>" in client.get(answer.url).content.decode()


def test_the_next_version_of_a_guideline_says_who_keeps_the_last_and_takes_over(lea, project):
    queue, client = make.queue(project, items=2), enter(lea)
    after = write_guideline(actor=lea, project=project, name=queue.guideline.name, text="Money moves with a yes.")
    place = reverse("reviews:guideline", args=[project.slug, after.uid])
    page = client.get(place).content.decode()
    assert "Open work under other versions" in page
    assert "Move the queue" in page
    take_over = reverse("goldsets:take_over_guideline", args=[project.slug, after.uid])
    answer = client.post(take_over, {"queue": queue.slug, "do": "move"}, follow=True)
    queue.refresh_from_db()
    assert queue.guideline == after
    assert f"{queue.name} judges by {after} from now on." in answer.content.decode()
    assert "Open work under other versions" not in client.get(place).content.decode()


def test_a_guideline_runs_no_script(lea, project):
    guideline = write_guideline(
        actor=lea, project=project, name="Bad", text="<script>alert(1)</script> [x](javascript:1)"
    )
    page = enter(lea).get(reverse("reviews:guideline", args=[project.slug, guideline.uid])).content.decode()
    assert "<script>alert" not in page
    assert 'href="javascript' not in page


def test_an_empty_guideline_is_refused_at_its_field(lea, project):
    answer = enter(lea).post(reverse("reviews:guideline_new", args=[project.slug]), {"name": "Refunds", "text": " "})
    assert answer.status_code == 422
    assert answer.context["form"].errors["text"]
