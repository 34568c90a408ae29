"""Guards over tasks: graders of an axis that look at every task, held against what experts settled."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from goldsets.actions.guarding import guard_tasks, set_up_guards
from goldsets.models import Grader, GraderScore, GraderVersion
from goldsets.queries.guards import axes, guarded_projects
from reviews.enums import Role
from reviews.errors import Conflict, Forbidden
from reviews.models import Item, Task
from reviews.task_review import task_review
from tests import factories as make
from tests.factories.furnished import judge
from tests.factories.tasks import task
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db

PLAIN = "Ticket. Ines writes: “I cannot open the finance queue.”"
HINT = "Give the right back with restore_right, and do not forget the owner."
# The prompt, and how like production experts find it: the guard is right on four, too strict on one, blind on one.
PROMPTS = [(PLAIN, 3), (PLAIN, 2), (HINT, 0), (HINT, 1), (HINT, 3), (PLAIN, 1)]


def reviewed_tasks():
    """Six tasks whose prompts experts settled, and one that nobody has looked at."""
    project = make.project()
    alice = make.expert(project, "Alice")
    given = task_review()
    verifier = 'def verify(world):\n    return world.restore_right("ines")'
    items = [
        task(project, key=f"T-{n}", title=f"Task {n}", prompt=f"{prompt} ({n})", verifier=verifier)
        for n, (prompt, _fit) in enumerate(PROMPTS)
    ]
    queue = make.queue(
        project,
        items=items,
        overlap=1,
        criteria=given["criteria"],
        rubric={"item_kind": "task", "marks": given["marks"]},
    )
    for prompt, fit in PROMPTS:
        judge(queue, alice, review(fit, prompt[:4]))
    task(project, key="new", title="New", prompt=HINT, verifier=verifier)
    return project


def review(fit, quote):
    """A review that keeps the task and finds its prompt so like production; evidence where it is asked for."""
    run = {"criteria": {"why_failed": 5, "hack": False}}
    criteria = {
        "prompt_verifier": 3,
        "verifier_intent": 3,
        "prompt_intent": fit,
        "decision": 1,
        "world_realism": 3,
        "artificial": False,
    }
    cited = {"criterion": "prompt_intent", "part": "prompt", "start": 0, "end": len(quote), "quote": quote}
    return {
        "criteria": criteria,
        "candidates": [run, run],
        "evidence": [cited] if fit < 2 else [],
        "rationale": "Seen.",
        "confidence": 3,
    }


def axis_of(project, criterion):
    return next(axis for axis in axes(project, None) if axis.criterion == criterion)


def test_each_guard_is_held_against_experts_with_an_interval():
    project = reviewed_tasks()
    made = set_up_guards(actor=make.lead_of(project), project=project)
    assert sorted(grader.criterion for grader in made) == sorted(
        ["prompt_intent", "meaningful_failures", "meaningful_successes", "world_realism"]
    )
    axis = axis_of(project, "prompt_intent")
    (row,) = axis.guards
    table = row.errors
    assert (axis.settled, row.scored) == (6, 7)
    assert (table.true_passes, table.false_passes, table.false_fails, table.true_fails) == (2, 1, 1, 2)
    assert (table.accuracy.value, table.accuracy.n_units) == (4 / 6, 6)
    assert 0 < table.accuracy.low < table.accuracy.high < 1
    assert table.false_positive_rate.value == pytest.approx(1 / 3)
    assert table.false_negative_rate.value == pytest.approx(1 / 3)
    # What experts let pass stands first, then what they have not settled.
    assert [(one.title, one.experts) for one in row.flagged] == [
        ("Task 4", True),
        ("New", None),
        ("Task 2", False),
        ("Task 3", False),
    ]
    assert row.flagged[1].why == "Names restore_right, as nobody who asks would."


def test_where_experts_have_settled_nothing_it_says_so():
    project = reviewed_tasks()
    set_up_guards(actor=make.lead_of(project), project=project)
    (row,) = axis_of(project, "meaningful_successes").guards
    # A hacker passes every one of them, and nobody was asked.
    assert (row.scored, row.flagged_of, row.errors.n) == (7, 7, 0)
    assert row.errors.accuracy.words == "No settled run is scored yet."


def test_setting_up_again_changes_nothing_and_new_tasks_are_looked_at():
    project = reviewed_tasks()
    lead = make.lead_of(project)
    set_up_guards(actor=lead, project=project)
    before = (Grader.objects.count(), GraderVersion.objects.count(), GraderScore.objects.count())
    assert set_up_guards(actor=lead, project=project) == []
    assert (Grader.objects.count(), GraderVersion.objects.count(), GraderScore.objects.count()) == before
    assert list(guarded_projects()) == [project]
    task(project, key="later", prompt=PLAIN, world="A desk.")
    # Of two runs, one a solver's, nothing can be said of failures.
    assert guard_tasks(project=project) == 3
    assert guard_tasks(project=project) == 0


def test_any_grader_of_an_axis_stands_beside_the_rules():
    project = reviewed_tasks()
    lead = make.lead_of(project)
    grader = Grader.objects.create(
        project=project, name="A judge", kind="model", criterion="prompt_intent", created_by=lead
    )
    version = GraderVersion.objects.create(grader=grader, number=1, created_by=lead)
    for item in Item.objects.filter(project=project, kind="task"):
        GraderScore.objects.create(version=version, item=item, criterion="prompt_intent", value=1)
    (row,) = axis_of(project, "prompt_intent").guards
    assert (row.grader, row.kind, row.errors.true_passes, row.errors.false_passes) == ("A judge", "Judging model", 3, 3)
    assert row.errors.false_positive_rate.value == 1.0


def test_held_out_tasks_are_left_out():
    project = reviewed_tasks()
    set_up_guards(actor=make.lead_of(project), project=project)
    Task.objects.filter(project=project, key="T-4").update(split="held_out", family="apart")
    axis = axis_of(project, "prompt_intent")
    assert (axis.settled, axis.guards[0].scored, axis.guards[0].errors.false_fails) == (5, 6, 0)


def test_a_project_that_asks_about_no_axis_has_no_guards():
    project = make.project()
    lead = make.lead_of(project)
    with pytest.raises(Conflict):
        set_up_guards(actor=lead, project=project)
    with pytest.raises(Forbidden):
        set_up_guards(actor=make.expert(project), project=project)
    with pytest.raises(CommandError):
        call_command("guards", project.slug, "--set-up")


def test_page_api_and_command_say_the_same_and_experts_see_none_of_it():
    project = reviewed_tasks()
    engineer = make.person("Eli")
    make.member(project, engineer, Role.ENGINEER)
    browser = enter(engineer)
    place = reverse("goldsets:guards", args=[project.slug])
    assert "Set them up" in browser.get(place).content.decode()
    assert browser.post(place).url == place
    page = browser.get(place).content.decode()
    assert "4 tasks that Guard: Prompts like production fails" in page
    assert place in browser.get(reverse("reviews:tasks", args=[project.slug])).content.decode()
    found = browser.get(f"/api/v1/projects/{project.slug}/guards/").json()
    assert found[0]["guards"][0]["errors"]["accuracy"]["value"] == pytest.approx(4 / 6)
    out = StringIO()
    call_command("guards", project.slug, "--json", stdout=out)
    assert json.loads(out.getvalue())[0]["guards"][0]["errors"]["true_fails"] == 2
    expert = enter(make.expert(project, "Bob"))
    assert [expert.get(where).status_code for where in (place, f"/api/v1/projects/{project.slug}/guards/")] == [403] * 2
