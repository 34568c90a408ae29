"""A judge of one axis of tasks under review: it reads the parts of a task, and stands beside the guards."""

import pytest

from goldsets.models import GraderScore, JudgedItem
from goldsets.queries.guards import axes
from goldsets.queries.judges import document_of
from reviews.errors import Invalid
from reviews.models import QueueItem
from reviews.task_review import task_review
from tests import factories as make
from tests.factories import judges
from tests.factories.furnished import judge as submit
from tests.factories.tasks import task
from tests.goldsets.judging.endpoint import parts_of, saying
from tests.goldsets.judging.test_judges import model  # noqa: F401  a fixture
from tests.goldsets.test_guards import HINT, PLAIN, review

pytestmark = pytest.mark.django_db


@pytest.fixture
def queue(project, alice):
    """Three tasks whose prompts experts settled: two as in real use, one that gives the solution away."""
    given = task_review()
    prompts = [(PLAIN, 3), (HINT, 0), (PLAIN, 2)]
    items = [task(project, key=f"T-{n}", prompt=f"{prompt} ({n})") for n, (prompt, _fit) in enumerate(prompts)]
    rubric = {"item_kind": "task", "marks": given["marks"]}
    made = make.queue(project, items=items, overlap=1, criteria=given["criteria"], rubric=rubric)
    for prompt, fit in prompts:
        submit(made, alice, review(fit, prompt[:4]))
    return made


def by_its_hint(prompt):
    """Finds a prompt that names a function of the verifier unlike real use, and quotes it."""
    (text,) = [text for head, text in parts_of(prompt) if head == "step 1, prompt"]
    answer = {"criterion": "prompt_intent", "answer": 0 if "restore_right" in text else 3, "reason": "So it is asked."}
    return {"answers": [{**answer, "evidence": [{"step": 1, "quote": text[:20]}]}]}


def test_a_task_is_read_by_its_parts_and_the_verifier_s_results(queue):
    item = QueueItem.objects.filter(queue=queue).order_by("pk").first().item
    rows = document_of(item)["steps"]["rows"]
    assert [row["role"] for row in rows] == [
        "prompt",
        "world",
        "verifier",
        "intent",
        "prompt of real use",
        "run, Solver",
        "run, Hacker",
    ]
    assert rows[3]["fields"][0]["text"] == "Asks the owner before a right is given back."
    assert '"passed": true' in rows[5]["fields"][0]["text"]


def test_a_judge_of_an_axis_is_held_against_experts_beside_the_guards(project, queue, model):  # noqa: F811
    model.usual = saying(by_its_hint)
    setup = judges.judge(queue, criterion="prompt_intent")
    assert (setup.version.scale, setup.version.lowest, setup.version.highest, setup.version.passes_from) == (
        "ordinal",
        0,
        3,
        2,
    )
    run = judges.work_off(judges.start(setup, queue))
    assert run.state == "finished"
    system, user = (message["content"] for message in model.heard[0]["messages"])
    assert "You review tasks for AI agents" in system
    assert "secret-model-9" not in system + user
    score = GraderScore.objects.filter(version=run.version).order_by("item").first()
    assert (score.value, score.evidence[0]["part"]) == (3, "prompt")
    assert "step" not in score.evidence[0]
    axis = next(axis for axis in axes(project, None) if axis.criterion == "prompt_intent")
    table = axis.guards[0].errors
    assert (table.true_passes, table.true_fails, table.n) == (2, 1, 3)


def test_a_quote_that_stands_in_no_part_of_the_task_shows_nothing(queue, model):  # noqa: F811
    said = {"criterion": "prompt_intent", "answer": 3, "evidence": [{"step": 2, "quote": "restore_right"}]}
    model.usual = saying(lambda _prompt: {"answers": [said]})
    run = judges.work_off(judges.start(judges.judge(queue, criterion="prompt_intent"), queue))
    row = JudgedItem.objects.filter(run=run).first()
    assert (row.state, row.why) == ("unproven", "prompt_intent: What it quotes does not stand in step 2.")


@pytest.mark.parametrize("criterion", ["", "decision", "artificial", "why_failed"])
def test_of_a_task_a_judge_scores_levels_and_nothing_else(queue, criterion):
    with pytest.raises(Invalid, match="answered by levels"):
        judges.judge(queue, criterion=criterion)
