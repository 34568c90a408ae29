"""Every page of a lead, an engineer and an admin opens, fits the screen and keeps nobody out, in both themes."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.urls import reverse

from goldsets.actions.gold import propose_gold, set_feedback
from goldsets.actions.staging import run_stage
from goldsets.models import GoldChallenge, GoldItem, GoldKey, GoldPlacement, Standing, StandingMove
from goldsets.reviewing.compiling import compile_reviewer
from goldsets.reviewing.examples import Target
from reviews.actions.dealing import claim
from reviews.actions.guideline_changes import draft_change, try_change
from reviews.actions.judging import submit
from reviews.actions.norming import open_session, reveal
from reviews.actions.previewing import preview_import
from reviews.actions.questions import ask, publish
from reviews.actions.routing import create_rule
from reviews.actions.rubrics import write_principle, write_rubric
from reviews.actions.webhooks import create_webhook
from reviews.arrival import read_conditions
from reviews.models import (
    ArrivalRule,
    Assignment,
    Delivery,
    DeliveryTry,
    Event,
    GuidelineChange,
    ImportJob,
    Queue,
    QueueItem,
    Rubric,
    Webhook,
)
from reviews.trajectories.schema import Step, ToolCall, ToolResult
from tests import factories as make
from tests.browser.conftest import axe, cramped
from tests.factories import graders, stages
from tests.factories.furnished import RUN, Desk, desk
from tests.factories.reviewers import reviewer
from tests.factories.runs import another_run
from tests.factories.training import judge, practice, qualification, settled_queue
from tests.goldsets.reviewing.made import labelled

pytestmark = pytest.mark.django_db(transaction=True)

SCREENS = [("light", 1280, 800), ("dark", 1280, 800), ("light", 390, 844), ("dark", 390, 844)]


def lead_pages(made: Desk) -> list[str]:
    slug, queue = made.project.slug, made.queue
    of_project = ["project", "people", "rubrics", "guidelines", "imports", "items", "labels", "events"]
    of_project += ["rules", "redaction", "masking", "questions", "webhooks"]
    places = [reverse(f"reviews:{name}", args=[slug]) for name in [*of_project, "rubric_new", "guideline_new"]]
    places += [
        reverse(f"goldsets:{name}", args=[slug])
        for name in (
            "queue_new",
            "datasets",
            "splits",
            "benchmarks",
            "contrasts",
            "diversity",
            "guards",
            "ledger",
            "prices",
            "graders",
        )
    ]
    places += [reverse("goldsets:reviewers", args=[slug]), *proven(made)]
    of_queue = ("overview", "agreement", "agreement_report", "raters", "pace", "gold", "rationales", "ladder")
    places += [reverse(f"goldsets:{name}", args=[queue.uid]) for name in of_queue]
    places += [
        reverse(f"reviews:{name}", args=[queue.uid]) for name in ("disagreements", "queue_settings", "verdicts_checked")
    ]
    places += [reverse("goldsets:stages", args=[each.uid]) for each in (queue, *staged(made))]
    places.append(reverse("goldsets:missed", args=[queue.uid, made.experts[0].pk]))
    places += [reverse(f"goldsets:gold_{name}", args=[queue.uid]) for name in ("candidates", "proposals")]
    places += [reverse("goldsets:standing_policy", args=[queue.uid]), *measured(made)]
    places.append(reverse("goldsets:gold_proposal", args=[queue.uid, GoldKey.objects.get(state="proposed").uid]))
    places += [reverse("reviews:adjudicate", args=[queue.uid, row.uid]) for row in (*made.waiting, made.settled[0])]
    places += [reverse("reviews:item", args=[slug, row.item.uid]) for row in (made.waiting[0], made.settled[0])]
    return [
        *places,
        reverse("reviews:guideline_causes", args=[slug, queue.guideline.uid]),
        reverse("reviews:guideline_change", args=[slug, changed(made).uid]),
        reverse("reviews:webhook", args=[slug, told(made).uid]),
        reverse("reviews:label", args=[slug, made.settled[0].label.uid]),
        compared(made),
        reverse("reviews:projects"),
        reverse("reviews:rubric", args=[slug, queue.rubric.uid]),
        reverse("reviews:rubric_new", args=[slug]) + f"?from={queue.rubric.uid}",
        *(reverse("reviews:rubric_new", args=[slug]) + f"?start={start}" for start in ("pair", "steps", "task")),
        reverse("reviews:rubric_changes", args=[slug, rewritten(made).uid]),
        reverse("reviews:principles", args=[slug]),
        reverse("goldsets:rubric_log", args=[slug, queue.rubric.uid]),
        reverse("reviews:guideline", args=[slug, queue.guideline.uid]),
        *graded(made),
        *asked(made),
        *learning(made),
        reverse("reviews:guideline_new", args=[slug]) + f"?from={queue.guideline.uid}&fold=1",
        reverse("reviews:import", args=[slug, made.job.uid]),
        reverse("reviews:import", args=[slug, previewed(made).uid]),
        reverse("reviews:rule", args=[slug, ruled(made).uid]),
        reverse("goldsets:dataset", args=[made.dataset.uid]),
        *(reverse(f"goldsets:{name}", args=[made.dataset.uid, 1]) for name in ("leaks", "release")),
        reverse("goldsets:release_terms", args=[made.dataset.uid]),
        reverse("goldsets:dataset_version", args=[made.dataset.uid, 1]),
        reverse("goldsets:behind", args=[queue.uid]) + "?criterion=process",
    ]


def proven(made: Desk) -> list[str]:
    """A reviewer with every proof there is, and one that is refused for want of labels."""
    compiled = compile_reviewer(labelled(640, told=1.0), Target("authorised"))
    proof = json.loads(json.dumps(compiled.assurance.as_dict(), default=lambda number: number.item()))
    missing = {"holds": False, "missing": ["3 more passes"], "proofs": [], "demands": {}}
    rows = [
        reviewer(made.queue, artefact=compiled.reviewer, assurance=proof, families=compiled.families),
        reviewer(made.queue, "refused", artefact=None, assurance=missing),
    ]
    return [reverse("goldsets:reviewer", args=[row.uid]) for row in rows]


def changed(made: Desk) -> GuidelineChange:
    """A change to the guideline that is tried on one item."""
    text = made.queue.guideline.text + "\n\nA refund that is late is still a refund."
    change = draft_change(
        actor=made.lead,
        guideline=made.queue.guideline,
        text=text,
        touched=[made.settled[0].uid],
        why="Late is unclear.",
    )
    return try_change(actor=made.lead, change=change, sample=1)


def told(made: Desk) -> Webhook:
    """A webhook with a delivery that is tried again and one that arrived."""
    hook = create_webhook(actor=made.lead, project=made.project, url="https://a.example.org/", events=["label.settled"])
    settled = Event.objects.filter(project=made.project, verb="item.settled")
    for event, state in zip(settled, ("waiting", "delivered"), strict=False):
        delivery = Delivery.objects.create(webhook=hook, event=event, name="label.settled", state=state)
        DeliveryTry.objects.create(delivery=delivery, number=1, problem="No answer within 10 seconds.")
    return hook


def asked(made: Desk) -> list[str]:
    """One question that waits and one that was answered with a note."""
    mine = claim(actor=made.experts[1], queue=made.queue)
    questions = [
        ask(actor=made.experts[1], uid=mine.uid, about=about, place=1, text="What is late? " * 20)
        for about in ("policy", "guideline")
    ]
    publish(actor=made.lead, uid=questions[1].uid, text="After the promised day.", about="guideline", line=1)
    return [reverse("reviews:question", args=[made.project.slug, question.uid]) for question in questions]


def staged(made: Desk) -> list[Queue]:
    """A queue in which a reviewer decides and people have audited it, and one in which it is in shadow."""
    decided, watched = (stages.keeping_queue(made.project) for _ in range(2))
    stage = stages.deciding(decided, audit_share=1)
    stages.more(decided, *[stages.REFUND] * 3, stages.OTHER)
    run_stage(stage_id=stage.pk)
    for said in (True, False, True):
        mine = claim(actor=made.experts[0], queue=decided)
        given = {"criteria": {"keep": said}, "confidence": 3}
        submit(actor=made.experts[0], uid=mine.uid, payload=given, idempotency_key="k")
    run_stage(stage_id=stages.shadow(watched).pk)
    return [decided, watched]


def measured(made: Desk) -> list[str]:
    """A rater who failed on gold, with a pause proposed; a gold item with a challenge; a proposal that waits."""
    queue, alice = made.queue, made.experts[0]
    gold = GoldItem.objects.filter(queue=queue).order_by("pk")
    for item in gold:
        placed = Assignment.objects.get(queue=queue, item=item.queue_item.item, rater=alice)
        placement = GoldPlacement.objects.create(assignment=placed, gold_item=item, rater=alice)
        GoldChallenge.objects.create(placement=placement, key=item.key, reason="It failed: the refund never came.")
    standing = Standing.objects.create(queue=queue, rater=alice)
    StandingMove.objects.create(
        standing=standing, before="onboarding", after="paused", by_rule=True, why="3 wrong of 3, failed after 3."
    )
    propose_gold(actor=made.lead, queue_item=made.settled[2], note="Plain to see.")
    set_feedback(actor=made.lead, queue=queue, items=1, days=None)
    where = [queue.uid, alice.pk]
    return [reverse("goldsets:rater", args=where), reverse("goldsets:gold_item", args=[queue.uid, gold[0].pk])]


def learning(made: Desk) -> list[str]:
    """Practice, a qualification and a session whose votes are revealed, with the pages on which each is made."""
    queue = settled_queue(made.project, items=8)
    exam = qualification(made.project, queue)
    judge(exam, made.experts[0], make.passing())
    sets = [practice(made.project, queue, items=1), exam]
    row = QueueItem.objects.filter(queue=queue).order_by("-pk").first()
    members = [expert.pk for expert in made.experts[:2]]
    session = open_session(actor=made.lead, queue=queue, name="Consent", items=[row.uid], members=members)
    for expert, payload in zip(made.experts[:2], (make.passing(), make.failing()), strict=True):
        judge(session.queue, expert, payload)
    session = reveal(actor=made.lead, session=session)
    return [
        reverse("reviews:training", args=[made.project.slug]),
        reverse("reviews:training_new", args=[queue.uid]),
        reverse("reviews:norming_new", args=[queue.uid]),
        *(reverse("reviews:training_set", args=[each.uid]) for each in sets),
        reverse("reviews:norming_session", args=[session.queue.uid]),
    ]


def previewed(made: Desk) -> ImportJob:
    """A file that waits to be confirmed."""
    file = ContentFile(RUN + b"{broken")
    return preview_import(actor=made.lead, project=made.project, name="runs.jsonl", file=file).job


def rewritten(made: Desk) -> Rubric:
    """The next version of the queue's rubric, one question of which follows from a principle."""
    principle = write_principle(actor=made.lead, project=made.project, name="Consent", text="Money moves with a yes.")
    authorised, *others = make.CRITERIA
    named = {**authorised, "principle": {"name": principle.name, "version": principle.version}}
    rows = [named, *others[:-1], {"key": "polite", "title": "Polite", "kind": "binary"}]
    return write_rubric(actor=made.lead, project=made.project, name=made.queue.rubric.name, criteria=rows)


def ruled(made: Desk) -> ArrivalRule:
    return create_rule(
        actor=made.lead,
        project=made.project,
        name="What went wrong",
        queue=made.queue,
        priority=5,
        conditions=read_conditions("outcome.result in failure, crash\nscore.helpful parts score.safe 0.3"),
    )


def graded(made: Desk) -> list[str]:
    """A version that scored runs and a comparison, some of them again, with evidence."""
    version = graders.version(made.project, model="harrier-2", parameters={"temperature": 0})
    items = [row.item for row in made.settled]
    graders.scored(version, *((item, 1) for item in items), explanation="Paid.", evidence=[{"step": 1, "quote": "I"}])
    graders.scored(version, *((item, 0) for item in items), attempt=2)
    pair = make.comparison(made.project)
    graders.scored(version, (pair, 1))
    graders.scored(version, (pair, 1), order="swapped")
    of_version = ("grader_repeats", "grader_reasons", "grader_biases")
    places = [reverse(f"goldsets:{name}", args=[version.grader.uid, version.number]) for name in of_version]
    return [reverse("goldsets:grader", args=[version.grader.uid]), *places]


def compared(made: Desk) -> str:
    """Two runs of one task: they differ in a call and in words, and one goes on."""
    item = made.settled[0].item
    told = Step(
        role="tool", call=ToolCall("c1", "read_account", '{"account_id": "A-9"}'), result=ToolResult("{}", True)
    )
    ending = (Step(role="agent", text="A refund of $99 is on its way."), Step(role="user", text="Not what I asked."))
    other = another_run(item, (*make.STEPS[:2], told, *ending))
    return reverse("reviews:compare", args=[made.project.slug]) + f"?left={item.uid}&right={other.uid}"


@pytest.mark.slow
@pytest.mark.parametrize(("theme", "width", "height"), SCREENS)
def test_leads_pages_keep_nobody_out(
    browser: Any, live_server: Any, sign_in: Callable[[Any, Any], None], theme: str, width: int, height: int
) -> None:
    made = desk()
    context = browser.new_context(color_scheme=theme, viewport={"width": width, "height": height})
    sign_in(context, made.lead)
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    trouble = [trouble for place in lead_pages(made) for trouble in _trouble_with(page, live_server.url + place)]
    context.close()
    assert "\n".join(trouble) == ""
    assert "\n".join(said) == ""


def _trouble_with(page: Any, address: str) -> list[str]:
    answer = page.goto(address)
    if answer.status != 200:
        return [f"{address}: {answer.status}"]
    found = [
        f"{address}: {one['id']}: {[node['target'] for node in one['nodes']][:3]}"
        for one in axe.run(page).response["violations"]
    ]
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        found.append(f"{address}: wider than the screen")
    found += [f"{address}: too narrow to be read: {words}" for words in cramped(page)]
    return found
