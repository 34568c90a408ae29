"""The rubric builder with every kind of criterion: what each can be asked, keys, conditions, files in and out."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from reviews.enums import Role
from reviews.models import Rubric
from reviews.web.rubric_builder import keys_of
from reviews.web.rubric_starts import STARTS, new_criterion
from tests import factories as make
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db

EVERY_KIND = {
    "name": "Every kind",
    "item_kind": "comparison",
    "criteria-0-kind": "gate",
    "criteria-0-title": "Nothing harmful",
    "criteria-0-scope": "candidate",
    "criteria-0-evidence": "on_fail",
    "criteria-1-kind": "binary",
    "criteria-1-title": "Solved",
    "criteria-1-evidence": "always",
    "criteria-1-weight": "2.5",
    "criteria-2-kind": "choice",
    "criteria-2-title": "Why not",
    "criteria-2-evidence": "never",
    "criteria-2-optional": "yes",
    "criteria-2-condition-criterion": "solved",
    "criteria-2-condition-values": ["0"],
    "criteria-2-levels-0-value": "1",
    "criteria-2-levels-0-name": "Gave up",
    "criteria-2-levels-0-example": "“I cannot help with that.”",
    "criteria-2-levels-1-value": "2",
    "criteria-2-levels-1-name": "Went astray",
    "criteria-3-kind": "number",
    "criteria-3-title": "Minutes lost",
    "criteria-3-evidence": "never",
    "criteria-3-settings-min": "0",
    "criteria-3-settings-tolerance": "0.5",
    "criteria-3-settings-unit": "minutes",
    "criteria-4-kind": "text",
    "criteria-4-title": "What else",
    "criteria-4-evidence": "never",
    "criteria-5-kind": "preference",
    "criteria-5-title": "Which is better",
    "criteria-5-evidence": "never",
    "criteria-5-settings-form": "pair",
    "criteria-5-settings-strength": "3",
    "criteria-5-settings-ties": ["equally_good"],
}


@pytest.fixture
def lea():
    return make.person("Lea")


@pytest.fixture
def project(lea):
    return make.project(lea)


def new_rubric(project):
    return reverse("reviews:rubric_new", args=[project.slug])


def test_a_lead_writes_criteria_of_every_kind(lea, project):
    assert enter(lea).post(new_rubric(project), EVERY_KIND | {"do": "save"}).status_code == 302
    rubric = Rubric.objects.get()
    gate, solved, why, minutes, _text, better = rubric.criteria.all()
    assert (rubric.item_kind, gate.scope, better.scope) == ("comparison", "candidate", "item")
    assert (solved.weight, solved.evidence) == (2.5, "always")
    assert why.condition == {"criterion": "solved", "values": [0]}
    assert (why.required, why.levels[0]["example"]) == (False, "“I cannot help with that.”")
    assert minutes.settings == {"min": 0, "tolerance": 0.5, "unit": "minutes"}
    assert better.settings == {"form": "pair", "strength": 3, "ties": ["equally_good"]}


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"criteria-1-weight": "much"}, "weight", "A weight is a number"),
        ({"criteria-2-condition-values": []}, "condition", "after which answers"),
        ({"criteria-2-condition-criterion": "what_else"}, "condition", "no question of the same scope"),
        ({"criteria-3-settings-min": "few"}, "settings.min", "This is a number"),
        ({"criteria-3-settings-max": "-1"}, "settings.max", "not less than the least"),
        ({"criteria-5-settings-form": "ranking"}, "settings.strength", "Only one of two"),
        ({"criteria-5-settings-ties": ["both_fail"]}, "settings.ties", "Ties are any of"),
        ({"item_kind": "trajectory"}, "kind", "where candidates are compared"),
    ],
)
def test_a_mistake_is_named_at_its_field_and_what_was_entered_stays(lea, project, changes, field, said):
    answer = enter(lea).post(new_rubric(project), EVERY_KIND | changes | {"do": "save"})
    assert answer.status_code == 422
    found = {name: text for row in answer.context["rows"] for name, text in row["errors"].items()}
    assert said in found[field]
    page = answer.content.decode()
    assert "“I cannot help with that.”" in page
    assert said in page
    for value in changes.values():
        assert isinstance(value, list) or value in page
    assert not Rubric.objects.exists()


def test_steps_are_labelled_by_words(lea, project):
    client = enter(lea)
    base = {"name": "Steps", "criteria-0-kind": "binary", "criteria-0-title": "Solved", "criteria-0-evidence": "never"}
    draft = client.post(new_rubric(project), base | {"do": "label-steps"}).context["draft"]
    assert [word["value"] for word in draft["step_labels"]["words"]] == [1, 0, -1]
    words = {"words-0-value": "1", "words-0-name": "Good", "words-1-value": "-1", "words-1-name": "Error"}
    words |= {"words_of": "all", "until_first": "yes"}
    assert "Each word has a value of its own." in (
        client.post(new_rubric(project), base | words | {"words-1-value": "1", "do": "save"}).content.decode()
    )
    client.post(new_rubric(project), base | words | {"do": "save"})
    assert Rubric.objects.get().step_labels == {
        "words": [{"value": 1, "name": "Good"}, {"value": -1, "name": "Error"}],
        "of": "all",
        "until_first": True,
    }
    assert client.post(new_rubric(project), base | words | {"do": "drop-words"}).context["draft"]["step_labels"] == {}


@pytest.mark.parametrize("start", STARTS)
def test_every_starting_point_can_be_saved_as_it_is(lea, project, start):
    client = enter(lea)
    page = client.get(new_rubric(project), {"start": start})
    assert page.context["draft"]["name"] == STARTS[start][0]
    made = client.post(new_rubric(project), as_entered(page.context["draft"]) | {"do": "save"})
    assert made.status_code == 302, made.context["errors"]


def as_entered(draft):
    """The fields of the builder's form as a browser sends them."""
    form = {"name": draft["name"], "item_kind": draft["item_kind"]}
    form |= {"unsure_allowed": "yes"} if draft["unsure_allowed"] else {}
    for at, word in enumerate(draft["step_labels"].get("words", ())):
        form |= {f"words-{at}-value": word["value"], f"words-{at}-name": word["name"], "words_of": "agent"}
    for number, row in enumerate(draft["criteria"]):
        prefix = f"criteria-{number}-"
        names = ("key", "title", "question", "hint", "kind", "scope", "block", "evidence")
        form |= {prefix + name: row.get(name, "") for name in names}
        form |= {f"{prefix}settings-{name}": value for name, value in row["settings"].items()}
        for at, level in enumerate(row["levels"]):
            form |= {f"{prefix}levels-{at}-{name}": value for name, value in level.items()}
        if row.get("condition"):
            form[f"{prefix}condition-criterion"] = row["condition"]["criterion"]
            form[f"{prefix}condition-values"] = row["condition"]["values"]
    return form


def test_criteria_are_moved_and_copied(lea, project):
    client = enter(lea)

    def keys_after(do):
        rows = client.post(new_rubric(project), EVERY_KIND | {"do": do}).context["draft"]["criteria"]
        return [row["key"] for row in rows]

    assert keys_after("move-5-0")[:2] == ["which_is_better", "nothing_harmful"]
    assert keys_after("move-0-5")[-1] == "nothing_harmful"
    assert keys_after("move-0-9")[0] == "nothing_harmful"
    assert keys_after("copy-2")[2:4] == ["why_not", "why_not_2"]


def test_no_two_options_have_one_key():
    ten = [{"value": value, "name": str(value), "anchor": ""} for value in range(1, 11)]
    choice = new_criterion("choice", levels=ten)
    assert keys_of(choice) == ["1", "2", "3", "4", "5", "6", "7", "8", "9", "0"]
    assert keys_of(choice | {"levels": [*ten, ten[0]]}) == [""] * 11
    assert keys_of(new_criterion("ordinal", levels=ten)) == [*"123456789", ""]


def test_what_raters_will_see_is_beside_it(lea, project):
    page = enter(lea).post(new_rubric(project), EVERY_KIND | {"do": "look"}).content.decode()
    preview = page.partition('id="preview"')[2]
    for words in ("Nothing harmful", "Solved", "Gave up", "A is better", "Equally good"):
        assert words in preview


def test_a_rubric_leaves_as_a_file_and_comes_back_the_same(lea, project):
    client = enter(lea)
    client.post(new_rubric(project), EVERY_KIND | {"do": "save"})
    first = Rubric.objects.get()
    file = client.get(reverse("reviews:rubric_download", args=[project.slug, first.uid]))
    assert 'filename="every-kind-1.json"' in file["Content-Disposition"]
    upload = SimpleUploadedFile("r.json", file.content)
    opened = client.post(reverse("reviews:rubric_upload", args=[project.slug]), {"file": upload})
    assert opened.status_code == 200
    assert not Rubric.objects.filter(version=2).exists()
    client.post(new_rubric(project), EVERY_KIND | {"do": "save"})
    again = client.get(
        reverse("reviews:rubric_download", args=[project.slug, Rubric.objects.get(version=2).uid])
    ).json()
    assert again | {"version": 1} == json.loads(file.content)


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (b"{broken", "file"),
        (b"[]", "file"),
        (b"\xff", "file"),
        (b'{"format": "other/1"}', "format"),
        (b'{"name": "R", "colour": "red", "criteria": [{}]}', "colour"),
        (b'{"name": "R", "criteria": [{"key": "a", "title": "A", "kind": "gate", "hue": 1}]}', "criteria.0.hue"),
        (b'{"name": "R", "criteria": [{"key": "a", "title": "A", "kind": "soul"}]}', "criteria.0.kind"),
        (b'{"name": 5, "criteria": 7}', "criteria"),
    ],
)
def test_a_file_that_holds_no_rubric_is_refused_by_field(lea, project, file, said):
    upload = SimpleUploadedFile("r.json", file)
    answer = enter(lea).post(reverse("reviews:rubric_upload", args=[project.slug]), {"file": upload})
    assert answer.status_code == 422
    assert said in answer.context["mistakes"]


def test_no_file_is_said_and_engineers_only_take_files_out(lea, project):
    place = reverse("reviews:rubric_upload", args=[project.slug])
    assert "Choose a JSON file" in enter(lea).post(place).content.decode()
    eli = make.person("Eli")
    make.member(project, eli, Role.ENGINEER)
    assert enter(eli).post(place).status_code == 403


def test_what_a_change_does_is_told_before_it_is_saved_and_taken_over_after(lea, project):
    queue = make.queue(project, items=2)
    client = enter(lea)
    draft = client.get(new_rubric(project), {"from": str(queue.rubric.uid)}).context["draft"]
    draft["criteria"][2]["title"] = "Did it succeed"
    page = client.post(new_rubric(project), as_entered(draft) | {"do": "look"}).content.decode()
    assert "title: from Task success to Did it succeed." in page
    assert "2 collecting, 0 waiting, 0 settled, 0 judgments. Can be moved as it is." in page
    client.post(new_rubric(project), as_entered(draft) | {"do": "save"})
    after = Rubric.objects.get(name=queue.rubric.name, version=2)
    changes = client.get(reverse("reviews:rubric_changes", args=[project.slug, after.uid])).content.decode()
    assert "<del>Task success</del>" in changes
    assert "<ins>Did it succeed</ins>" in changes
    read = reverse("reviews:rubric", args=[project.slug, after.uid])
    assert "Move the queue" in client.get(read).content.decode()
    client.post(reverse("goldsets:take_over", args=[project.slug, after.uid]), {"queue": queue.slug, "do": "move"})
    queue.refresh_from_db()
    assert queue.rubric == after
    first = reverse("reviews:rubric_changes", args=[project.slug, Rubric.objects.get(version=1).uid])
    assert client.get(first).status_code == 404
