"""Who may do what over HTTP, every address by every role: expert, lead, engineer, admin, stranger, nobody."""

from contextlib import contextmanager
from decimal import Decimal

import pytest
from django.db import transaction
from django.urls import get_resolver

from goldsets.actions.defining import define_dataset
from goldsets.actions.exporting import run_export, start_export
from goldsets.actions.gold import propose_gold
from goldsets.actions.judges import cancel_judge
from goldsets.actions.probe_work import start_probes
from goldsets.actions.probes import make_probes
from goldsets.models import Contrast, GoldChallenge, GoldPlacement, RationaleFlag, Standing, StandingMove
from reviews.actions.adjudicating import adjudicate
from reviews.actions.guideline_changes import draft_change
from reviews.actions.norming import open_session, reveal
from reviews.actions.referring import refer
from reviews.actions.routing import create_rule
from reviews.actions.rubrics import write_guideline, write_rubric
from reviews.actions.webhooks import create_webhook
from reviews.enums import Role
from reviews.models import Assignment, Delivery, Event, QueueItem
from reviews.queries.norming import fit_to_norm
from reviews.queries.training import fit_to_train
from tests import factories as make
from tests.factories import graders, judges, stages
from tests.factories.reviewers import reviewer
from tests.factories.runs import another_run
from tests.factories.training import judge, practice, qualification, settled_queue
from tests.reviews.api.talking import by, nobody

pytestmark = pytest.mark.django_db

KINDS = (
    "{queue}",
    "{rubric}",
    "{item}",
    "{dataset}",
    "{settled}",
    "{rule}",
    "{proposed}",
    "{move}",
    "{challenge}",
    "{question}",
    "{contrast}",
    "{flag}",
)
KINDS += (
    "{grader}",
    "{reviewer}",
    "{scored}",
    "{guideline}",
    "{change}",
    "{waits}",
    "{apart}",
    "{decided}",
    "{label}",
    "{webhook}",
    "{delivery}",
    "{judge}",
    "{judged}",
    "{judge_grader}",
    "{other_grader}",
    "{to_check}",
    "{probe_run}",
    "{stopped}",
    "{practice}",
    "{exam}",
    "{voting}",
    "{revealed}",
    "{stage}",
)
PEOPLE = ("expert", "lead", "engineer", "admin", "stranger", "nobody")
MEMBERS = ("expert", "lead", "engineer", "admin")
LEAD = ("lead",)
LEAD_ENGINEER = ("lead", "engineer")
LEAD_ADMIN = ("lead", "admin")
JUDGES = ("expert", "lead")

DECISION = {name: make.passing()[name] for name in ("gates", "criteria")}

# Method, address, body, who may, and what others are told: strangers always hear 404, nobody 401.
TABLE = [
    ("get", "me/keys/", None, (*MEMBERS, "stranger")),
    ("put", "me/keys/", {"keys": {"cite": "%"}}, (*MEMBERS, "stranger")),
    ("delete", "me/keys/", None, (*MEMBERS, "stranger")),
    ("get", "projects/", None, (*MEMBERS, "stranger")),
    ("post", "projects/", {"name": "{new}"}, LEAD_ADMIN),
    ("get", "projects/{slug}/", None, MEMBERS),
    ("get", "projects/{slug}/members/", None, LEAD_ADMIN),
    ("patch", "projects/{slug}/members/{member}/", {"tier": "crowd"}, LEAD_ADMIN),
    ("get", "projects/{slug}/invitations/", None, LEAD_ADMIN),
    ("post", "projects/{slug}/invitations/", {"role": "expert"}, LEAD_ADMIN),
    ("get", "projects/{slug}/guidelines/", None, MEMBERS),
    ("post", "projects/{slug}/guidelines/", {"name": "G", "text": "Read."}, LEAD),
    ("get", "projects/{slug}/guidelines/{guideline}/causes/", None, LEAD),
    (
        "post",
        "projects/{slug}/guidelines/{guideline}/draft/",
        {"text": "Judge what was done, and when.", "queue_items": ["{settled}"]},
        LEAD,
    ),
    ("get", "projects/{slug}/guideline-changes/", None, LEAD),
    ("get", "guideline-changes/{change}/", None, LEAD),
    ("post", "guideline-changes/{change}/try/", {"sample": 1}, LEAD),
    ("get", "projects/{slug}/principles/", None, MEMBERS),
    ("post", "projects/{slug}/principles/", {"name": "P", "text": "Money moves only with a yes."}, LEAD),
    ("get", "projects/{slug}/rubrics/", None, MEMBERS),
    ("post", "projects/{slug}/rubrics/", {"name": "R", "criteria": make.CRITERIA}, LEAD),
    ("get", "projects/{slug}/rubrics/{rubric}/", None, LEAD_ENGINEER),
    ("get", "projects/{slug}/rubrics/{rubric}/changes/?since={rubric}", None, LEAD_ENGINEER),
    ("post", "queues/{queue}/take-over/", {"rubric": "{later_rubric}", "how": "succeed"}, LEAD),
    ("post", "queues/{queue}/take-over/", {"guideline": "{later_guideline}", "how": "succeed"}, LEAD),
    ("get", "projects/{slug}/queues/", None, MEMBERS),
    ("post", "projects/{slug}/queues/", {"name": "{new}", "rubric": "{rubric}", "guideline": "{guideline}"}, LEAD),
    ("get", "projects/{slug}/imports/", None, LEAD_ENGINEER),
    ("post", "projects/{slug}/runs/", [{"messages": [{"role": "user", "content": "Hello"}]}], LEAD_ENGINEER),
    ("get", "projects/{slug}/tasks/", None, LEAD_ENGINEER),
    (
        "post",
        "projects/{slug}/tasks/",
        {"task": {"prompt": "P", "intent": "I"}, "runs": [{"item": "{item}", "role": "solver"}]},
        LEAD_ENGINEER,
    ),
    ("post", "projects/{slug}/comparisons/", {"items": ["{item}", "{beside}"]}, LEAD_ENGINEER),
    ("post", "projects/{slug}/comparisons/bulk/", {"per_task": 1}, LEAD_ENGINEER),
    (
        "post",
        "projects/{slug}/scores/",
        {"scores": [{"item": "{item}", "grader": "helpful", "value": 1}]},
        LEAD_ENGINEER,
    ),
    ("get", "projects/{slug}/arrival-rules/", None, LEAD),
    ("post", "projects/{slug}/arrival-rules/", {"name": "{new}", "queue": "{queue}"}, LEAD),
    ("post", "projects/{slug}/arrival-rules/try/", {"queue": "{queue}"}, LEAD),
    ("patch", "projects/{slug}/arrival-rules/{rule}/", {"priority": 3}, LEAD),
    ("delete", "projects/{slug}/arrival-rules/{rule}/", None, LEAD),
    ("get", "projects/{slug}/redaction/", None, LEAD_ADMIN),
    ("put", "projects/{slug}/redaction/", {"kinds": ["e-mail"]}, LEAD_ADMIN),
    ("get", "projects/{slug}/masking/", None, LEAD),
    ("put", "projects/{slug}/masking/", {"words": ["secret-model"]}, LEAD),
    ("post", "projects/{slug}/masking/try/", {"own_model": True}, LEAD),
    ("get", "projects/{slug}/redacted/", None, ("admin",)),
    ("get", "projects/{slug}/training/", None, LEAD),
    (
        "post",
        "projects/{slug}/training/",
        {"queue": "{learned}", "purpose": "practice", "name": "{new}", "picks": [{"label": "{label}"}]},
        LEAD,
    ),
    ("get", "training/{practice}/", None, LEAD),
    ("post", "training/{practice}/again/", None, JUDGES),
    ("post", "training/{exam}/waive/", {"rater": "{rater}", "why": "A colleague."}, LEAD),
    ("put", "queues/{queue}/requires/", {"qualification": "{exam}"}, LEAD),
    ("post", "queues/{queue}/norming/", {"name": "{new}", "items": ["{settled}"], "members": "{two}"}, LEAD),
    ("get", "norming/{voting}/", None, LEAD),
    ("post", "norming/{voting}/reveal/", None, LEAD),
    ("post", "norming/{revealed}/close/", {"change": "None."}, LEAD),
    ("post", "norming/{revealed}/discuss/", {"item": "{looked_at}", "text": "Hm."}, LEAD),
    ("get", "items/?project={slug}", None, LEAD_ENGINEER),
    ("get", "items/{item}/", None, LEAD_ENGINEER),
    ("get", "items/{item}/steps/", None, LEAD_ENGINEER),
    ("get", "items/{item}/alignment/?with={other}", None, LEAD_ENGINEER),
    ("get", "items/{item}/original/", None, LEAD_ENGINEER),
    ("get", "queues/", None, (*MEMBERS, "stranger")),
    ("get", "queues/{queue}/", None, MEMBERS),
    ("get", "queues/{queue}/disagreements/alike/", None, LEAD),
    ("patch", "queues/{queue}/", {"lease_minutes": 20}, LEAD),
    ("post", "queues/{queue}/items/", {"all": True}, LEAD_ENGINEER),
    ("post", "queues/{queue}/claim/", None, JUDGES),
    ("get", "queues/{queue}/disagreements/", None, LEAD),
    ("get", "queues/{queue}/agreement/", None, LEAD),
    ("get", "queues/{queue}/agreement/report/", None, LEAD),
    ("get", "queues/{queue}/agreement/consensus/?criterion=success", None, LEAD),
    ("get", "queues/{queue}/verdicts/", None, LEAD),
    ("get", "queues/{queue}/standing/", None, LEAD),
    ("get", "queues/{queue}/pace/", None, LEAD),
    ("get", "queues/{queue}/gold/", None, LEAD),
    ("put", "queues/{queue}/gold/", {"rate": 0.1}, LEAD),
    ("get", "gold/?queue={queue}", None, LEAD),
    ("get", "queues/{queue}/gold/measured/", None, LEAD),
    ("post", "queues/{queue}/gold/import/", {"rows": [{"item": "none"}]}, LEAD),
    ("get", "queues/{queue}/gold/challenges/", None, LEAD),
    ("post", "gold/", {"queue_item": "{candidate}"}, LEAD),
    ("post", "gold/{proposed}/approve/", None, LEAD),
    ("post", "gold/{proposed}/decline/", {"reason": "Ambiguous."}, LEAD),
    ("post", "gold/{settled}/change/", {"note": "It holds."}, LEAD),
    ("post", "gold/{settled}/retire/", None, LEAD),
    ("post", "challenges/{challenge}/answer/", {"uphold": False, "answer": "It stands."}, LEAD),
    ("get", "checked/", None, (*MEMBERS, "stranger")),
    ("get", "queues/{queue}/stages/", None, LEAD),
    ("post", "queues/{empty}/stages/", {"reviewer": "{signed}"}, LEAD),
    ("get", "stages/{stage}/", None, LEAD),
    ("patch", "stages/{stage}/", {"audit_share": 0.2}, LEAD),
    ("get", "stages/{stage}/verdicts/", None, LEAD),
    ("post", "stages/{stage}/roll-back/", {"why": "Experts complain."}, LEAD),
    ("post", "stages/{stage}/retire/", {"why": "Another will do."}, LEAD),
    ("get", "queues/{queue}/standing/policy/", None, LEAD),
    ("put", "queues/{queue}/standing/policy/", {"p1": 0.4}, LEAD),
    ("post", "queues/{queue}/standing/review/", None, LEAD),
    ("get", "queues/{queue}/standing/moves/", None, LEAD),
    ("post", "queues/{queue}/standing/{rater}/", {"state": "watched", "why": "A second look."}, LEAD),
    ("post", "standing-moves/{move}/confirm/", None, LEAD),
    ("post", "standing-moves/{move}/decline/", {"why": "Too early."}, LEAD),
    (
        "post",
        "adjudications/",
        {
            "queue_item": "{settled}",
            "gates": {"authorised": "pass", "consent": "pass"},
            "criteria": {"success": 1, "process": 1},
        },
        LEAD,
    ),
    ("get", "projects/{slug}/questions/", None, LEAD),
    ("put", "projects/{slug}/digest/", {"shown": False}, LEAD),
    ("post", "questions/{question}/answer/", {"text": "Yes."}, LEAD),
    ("post", "questions/{question}/note/", {"text": "Yes.", "about": "guideline", "line": 1}, LEAD),
    ("get", "questions/", None, (*MEMBERS, "stranger")),
    ("get", "judgments/", None, (*MEMBERS, "stranger")),
    ("get", "digest/?project={slug}", None, JUDGES),
    ("get", "labels/?project={slug}", None, LEAD_ENGINEER),
    ("get", "labels/{label}/history/", None, LEAD_ENGINEER),
    ("get", "queue-items/{waits}/referrals/", None, LEAD),
    ("post", "queue-items/{waits}/referrals/", {"kind": "raters", "text": "Sure?"}, LEAD),
    ("delete", "queue-items/{apart}/referrals/", None, LEAD),
    ("put", "queue-items/{waits}/first/", {"first": True}, LEAD),
    ("post", "queue-items/{waits}/names/", None, LEAD),
    ("post", "queue-items/{waits}/first-answer/", DECISION, LEAD),
    ("put", "queue-items/{waits}/draft/", {"given": {"note": "Hm"}}, LEAD),
    ("post", "queue-items/{decided}/undo/", {}, LEAD),
    ("get", "referrals/", None, (*MEMBERS, "stranger")),
    ("get", "events/?project={slug}", None, LEAD_ADMIN),
    ("get", "projects/{slug}/webhooks/", None, LEAD_ENGINEER),
    (
        "post",
        "projects/{slug}/webhooks/",
        {"url": "https://pipeline.example.org/assay", "events": ["label.settled"]},
        LEAD_ENGINEER,
    ),
    ("patch", "webhooks/{webhook}/", {"active": False}, LEAD_ENGINEER),
    ("get", "webhooks/{webhook}/deliveries/", None, LEAD_ENGINEER),
    ("post", "deliveries/{delivery}/replay/", None, LEAD_ENGINEER),
    ("get", "queues/{queue}/rationales/", None, LEAD),
    ("post", "rationales/{flag}/look/", {"parts": True}, LEAD),
    ("get", "projects/{slug}/guards/", None, LEAD_ENGINEER),
    ("get", "projects/{slug}/ledger/", None, ("lead", "engineer", "admin")),
    ("get", "projects/{slug}/prices/", None, ("lead", "engineer", "admin")),
    ("post", "projects/{slug}/prices/", {"prices": {"expert": 90}}, LEAD),
    ("get", "graders/?project={slug}", None, LEAD_ENGINEER),
    ("post", "graders/", {"project": "{slug}", "name": "{new}", "kind": "model"}, LEAD_ENGINEER),
    ("get", "graders/{grader}/", None, LEAD_ENGINEER),
    ("get", "graders/{grader}/versions/", None, LEAD_ENGINEER),
    ("post", "graders/{grader}/versions/", {"model": "harrier-2"}, LEAD_ENGINEER),
    ("get", "graders/{grader}/versions/1/", None, LEAD_ENGINEER),
    ("patch", "graders/{grader}/versions/1/", {"attempts_cap": 3}, LEAD_ENGINEER),
    ("post", "graders/{grader}/versions/1/adopt/", None, LEAD_ENGINEER),
    ("get", "graders/{grader}/versions/1/again/", None, LEAD_ENGINEER),
    ("get", "graders/{grader}/versions/1/biases/", None, LEAD_ENGINEER),
    ("get", "graders/{grader}/versions/1/reasons/", None, LEAD),
    (
        "post",
        "graders/{scored}/versions/1/reasons/",
        {"name": "{new}", "rubric": "{rubric}", "guideline": "{guideline}", "which": "all"},
        LEAD,
    ),
    ("get", "graders/{grader}/scores/", None, LEAD_ENGINEER),
    ("get", "graders/{grader}/calibration/", None, LEAD_ENGINEER),
    ("get", "graders/{grader}/watch/", None, LEAD_ENGINEER),
    ("get", "graders/{grader}/instrument/", None, LEAD_ENGINEER),
    ("post", "graders/{grader}/scores/", {"scores": [{"item": "{item}", "value": 1}]}, LEAD_ENGINEER),
    ("get", "projects/{slug}/splits/", None, LEAD_ENGINEER),
    ("post", "projects/{slug}/splits/", {"train": 60, "calibration": 20, "held_out": 20}, LEAD),
    ("post", "projects/{slug}/splits/deal/", None, LEAD_ENGINEER),
    ("get", "projects/{slug}/benchmarks/", None, LEAD_ENGINEER),
    (
        "post",
        "projects/{slug}/benchmarks/",
        {"name": "{new}", "source": "s", "licence": "MIT", "texts": ["What is it?"]},
        LEAD_ENGINEER,
    ),
    ("get", "datasets/{dataset}/versions/1/leaks/", None, ("lead", "engineer", "admin")),
    ("get", "projects/{slug}/licences/", None, LEAD_ENGINEER),
    ("post", "projects/{slug}/licences/", {"source": "runs.jsonl", "licence": "MIT"}, LEAD_ENGINEER),
    ("get", "datasets/{dataset}/terms/", None, ("lead", "engineer", "admin")),
    ("post", "datasets/{dataset}/terms/", {"terms": {"min_rows": 1}}, LEAD_ADMIN),
    ("get", "datasets/{dataset}/versions/1/release/", None, ("lead", "engineer", "admin")),
    ("post", "datasets/{dataset}/versions/1/withdraw/", {"reason": "Wrong runs."}, LEAD_ADMIN),
    ("get", "projects/{slug}/contrasts/", None, LEAD_ENGINEER),
    ("post", "projects/{slug}/contrasts/", {"most": 1}, LEAD_ENGINEER),
    ("post", "contrasts/{contrast}/name/", {"differs_in": "A yes before the refund"}, LEAD),
    ("get", "projects/{slug}/diversity/?by=cause", None, LEAD_ENGINEER),
    ("get", "reviewers/?project={slug}", None, ("lead", "engineer", "admin")),
    ("post", "reviewers/", {"queue": "{queue}", "criterion": "authorised"}, LEAD_ENGINEER),
    ("get", "reviewers/{reviewer}/", None, ("lead", "engineer", "admin")),
    ("post", "reviewers/{reviewer}/sign/", None, LEAD_ADMIN),
    ("get", "judges/?project={slug}", None, LEAD_ENGINEER),
    (
        "post",
        "judges/",
        {
            "project": "{slug}",
            "name": "{new}",
            "rubric": "{rubric}",
            "guideline": "{guideline}",
            "model": "judge-1",
            "price_in": 3,
            "price_out": 15,
        },
        LEAD_ENGINEER,
    ),
    ("post", "judges/{judge}/runs/", {"queue": "{learned}", "budget": 1, "scope": "all"}, LEAD_ENGINEER),
    ("get", "graders/{judge_grader}/probes/", None, LEAD_ENGINEER),
    ("post", "graders/{other_grader}/probes/", {"queue": "{queue}", "most": 1}, LEAD_ENGINEER),
    ("get", "graders/{judge_grader}/probes/matrix/", None, LEAD_ENGINEER),
    ("post", "graders/{judge_grader}/hook/", {"url": "https://a.example.org/"}, LEAD_ENGINEER),
    ("get", "graders/{judge_grader}/versions/1/probes/", None, LEAD_ENGINEER),
    ("post", "graders/{judge_grader}/versions/1/probes/", {"budget": 1}, LEAD_ENGINEER),
    ("get", "graders/{judge_grader}/versions/1/probes/export/", None, LEAD_ENGINEER),
    (
        "post",
        "graders/{judge_grader}/versions/1/probes/scores/",
        {"scores": [{"probe": "{approved}", "value": 1}]},
        LEAD_ENGINEER,
    ),
    ("post", "graders/{judge_grader}/versions/1/promote/", {"reason": "For a trial."}, LEAD),
    ("get", "projects/{slug}/probes/next/", None, JUDGES),
    ("post", "probes/{to_check}/check/", {"passes": None}, JUDGES),
    ("get", "probe-runs/{probe_run}/answers/", None, LEAD_ENGINEER),
    ("get", "judge-runs/?project={slug}", None, LEAD_ENGINEER),
    ("get", "judge-runs/{judged}/", None, LEAD_ENGINEER),
    ("get", "judge-runs/{judged}/items/", None, LEAD_ENGINEER),
    ("post", "judge-runs/{judged}/cancel/", None, LEAD_ENGINEER),
    ("post", "judge-runs/{stopped}/resume/", {"budget": 5}, LEAD_ENGINEER),
    ("get", "datasets/?project={slug}", None, LEAD_ENGINEER),
    ("post", "datasets/", {"project": "{slug}", "name": "{new}", "format": "jsonl"}, LEAD_ENGINEER),
    ("get", "datasets/{dataset}/", None, LEAD_ENGINEER),
    ("get", "datasets/{dataset}/versions/", None, LEAD_ENGINEER),
    ("post", "datasets/{dataset}/versions/", None, LEAD_ENGINEER),
    ("get", "datasets/{dataset}/versions/1/", None, LEAD_ENGINEER),
    ("get", "datasets/{dataset}/versions/1/difference/", None, LEAD_ENGINEER),
    ("get", "datasets/{dataset}/versions/1/files/labels.jsonl", None, LEAD_ENGINEER),
]
# What others than the rater are told of an assignment stands in test_judging, of their checked answers in
# tests/goldsets/test_challenging; who signs in tests/goldsets/test_leaks and test_releases; who stops a compile and who
# takes a reviewer along in tests/goldsets/web/test_reviewers; imports by file in test_setting_up; the evidence that
# lets a stage decide in tests/goldsets/api/test_stages.
ELSEWHERE = {
    "goldsets_api:version_cancel",
    "goldsets_api:stage_decide",
    "reviews_api:schema",
    "reviews_api:docs",
    "reviews_api:import",
    "reviews_api:import_cancel",
    "reviews_api:import_preview",
    "reviews_api:import_confirm",
    "reviews_api:assignment",
    "reviews_api:steps",
    "reviews_api:draft",
    "reviews_api:judgment",
    "reviews_api:assignment_questions",
    "reviews_api:feedback",
    "reviews_api:verdicts",
    "reviews_api:skip",
    "reviews_api:release",
    "reviews_api:renew",
    "reviews_api:answer_referral",
    "goldsets_api:checked_challenge",
    "goldsets_api:leaks_sign",
    "goldsets_api:reviewer_cancel",
    "goldsets_api:reviewer_bundle",
}


@pytest.fixture
def desk(settings):
    """A project with one person per role, gold in use and proposed, an item that waits, and a finished export."""
    settings.JUDGE_BASE_URL = "http://127.0.0.1:9/v1"
    project = make.project()
    people = {"lead": make.lead_of(project), "expert": make.expert(project, "Alice"), "stranger": make.person("Sam")}
    for role in (Role.ENGINEER, Role.ADMIN):
        people[role] = make.person(role.label)
        make.member(project, people[role], role)
    queue = make.queue(project, items=5, overlap=1)
    bobs = make.expert(project, "Bob")
    bob = by(bobs)
    for _ in range(3):
        uid = bob.post(f"/api/v1/queues/{queue.uid}/claim/").json()["uid"]
        asking = {"about": "item", "text": "Is late late?"}
        asked = bob.post(f"/api/v1/assignments/{uid}/questions/", asking, format="json")
        made = f"/api/v1/assignments/{uid}/judgment/"
        bob.post(made, make.passing(), format="json", headers={"Idempotency-Key": "k"})
    settled, candidate, proposed = QueueItem.objects.filter(queue=queue, state="settled").order_by("pk")
    gold = make.gold(settled)
    second = make.person("Lena")
    make.member(project, second, Role.LEAD)
    propose_gold(actor=second, queue_item=proposed)
    standing = Standing.objects.create(queue=queue, rater=bobs, state="active")
    move = StandingMove.objects.create(standing=standing, before="active", after="watched", by_rule=True, why="Drift.")
    placed = Assignment.objects.filter(item=settled.item).get()
    placement = GoldPlacement.objects.create(assignment=placed, gold_item=gold, rater=bobs)
    challenge = GoldChallenge.objects.create(placement=placement, key=gold.key, reason="It failed.")
    dataset = define_dataset(actor=people["lead"], project=project, name="labels", formats=["jsonl"])
    run_export(version_id=start_export(actor=people["lead"], dataset=dataset).pk)
    later = write_rubric(
        actor=people["lead"], project=project, name=queue.rubric.name, criteria=make.CRITERIA, unsure_allowed=True
    )
    later_guideline = write_guideline(
        actor=people["lead"], project=project, name="Support desk, anew", text="Money moves with a yes."
    )
    hook = create_webhook(actor=people["lead"], project=project, url="https://a.example.org/", events=["label.settled"])
    told = Event.objects.filter(project=project, verb="item.settled").first()
    delivery = Delivery.objects.create(webhook=hook, event=told, name="label.settled", state="delivered")
    change = draft_change(
        actor=people["lead"], guideline=queue.guideline, text="Judge what was done, and how.", touched=[settled.uid]
    )
    names = {
        "change": change.uid,
        **waiting(project, people["lead"]),
        "webhook": hook.uid,
        "delivery": delivery.uid,
        "slug": project.slug,
        "member": project.memberships.get(user__name="Bob").pk,
        "queue": queue.uid,
        "rubric": queue.rubric.uid,
        "later_rubric": later.uid,
        "guideline": queue.guideline.uid,
        "later_guideline": later_guideline.uid,
        "item": settled.item.uid,
        "other": queue.queue_items.exclude(pk=settled.pk).first().item.uid,
        "beside": another_run(settled.item, make.STEPS[:3]).uid,
        "settled": settled.uid,
        "candidate": candidate.uid,
        "proposed": proposed.uid,
        "challenge": challenge.uid,
        "move": move.uid,
        "rater": bobs.pk,
        "dataset": dataset.uid,
        "reviewer": reviewer(queue).uid,
        "scored": scored_by(project, settled.item).grader.uid,
        "grader": graders.version(project, source="reward").grader.uid,
        "contrast": contrasted(settled, candidate).uid,
        "flag": RationaleFlag.objects.create(
            judgment=placed.judgments.get(), probability=0.9, fitted=70, families=7
        ).uid,
        "rule": create_rule(actor=people["lead"], project=project, name="All", queue=queue).uid,
        "question": asked.json()["uid"],
        "new": "Something new",
        **staged(project),
        **judging(queue),
        **learning(project, people["lead"], bobs, second),
    }
    return people, names


def judging(queue):
    """A judge with a run that waits and one that was stopped."""
    setup = judges.judge(queue)
    stopped = cancel_judge(actor=make.lead_of(queue.project), run=judges.start(setup, queue))
    other = judges.start(judges.judge(queue, name="Other judge"), queue)
    lead, version = make.lead_of(queue.project), setup.version
    # Whoever has them made does not check them.
    second = make.person("Grace")
    make.member(queue.project, second, "lead")
    make_probes(actor=second, grader=version.grader, queue=queue, most=1)
    to_check, approved = (version.grader.probes.filter(state=state).first() for state in ("proposed", "approved"))
    return {
        "judge": version.uid,
        "judged": other.uid,
        "stopped": stopped.uid,
        "judge_grader": version.grader.uid,
        "other_grader": other.version.grader.uid,
        "to_check": to_check.uid,
        "approved": approved.uid,
        "probe_run": start_probes(actor=lead, version=version, budget=Decimal(1)).uid,
    }


def scored_by(project, item):
    """A version that said something of the item."""
    version = graders.version(project)
    graders.scored(version, (item, 1))
    return version


def contrasted(passing, failing):
    """Two labels as a contrast, whatever they say."""
    item = make.comparison(passing.queue.project, [passing.item, failing.item])
    return Contrast.objects.create(item=item, passing=passing.label, failing=failing.label, shared=2)


def staged(project):
    """A reviewer that decides in one queue, and one that could begin in another."""
    empty = stages.keeping_queue(project)
    return {
        "stage": stages.deciding(stages.keeping_queue(project)).uid,
        "empty": empty.uid,
        "signed": stages.signed(empty).uid,
    }


def waiting(project, lead):
    """An item that waits, one that is set apart, and one that is decided."""
    queue = make.queue(project, items=3, overlap=1, settle_rule="lead")
    for _ in range(3):
        judge(queue, make.expert(project, "Carol"), make.passing())
    waits, apart, decided = queue.queue_items.order_by("pk")
    refer(actor=lead, queue_item=apart, kind="apart", text="Broken.")
    adjudicate(actor=lead, queue_item=decided, payload=DECISION)
    return {"waits": waits.uid, "apart": apart.uid, "decided": decided.uid}


def learning(project, lead, bob, second):
    """A practice set, a qualification, a session that votes and one that is revealed, none with the expert in it."""
    queue = settled_queue(project, items=4)
    made = {
        "practice": practice(project, queue, items=1).uid,
        "exam": qualification(project, queue, items=1, mark=0.1).uid,
    }
    rows = fit_to_norm(queue)
    for name in ("voting", "revealed"):
        session = open_session(actor=lead, queue=queue, name=name, items=[rows[0].uid], members=[bob.pk, second.pk])
        judge(session.queue, bob, make.passing())
        judge(session.queue, second, make.passing())
        made[name] = session.queue.uid
    made["looked_at"] = reveal(actor=lead, session=session).queue.queue_items.get().uid
    return made | {"learned": queue.uid, "label": fit_to_train(queue).first().uid, "two": [bob.pk, second.pk]}


def filled(value, names):
    if isinstance(value, str) and value in ("{rater}", "{two}"):
        return names[value[1:-1]]
    if isinstance(value, str):
        return value.format(**names) if value.startswith("{") else value
    if isinstance(value, dict):
        return {key: filled(inner, names) for key, inner in value.items()}
    if isinstance(value, list):
        return [filled(inner, names) for inner in value]
    return value


@pytest.mark.parametrize("who", PEOPLE)
def test_who_may(desk, who):
    people, names = desk
    client = nobody() if who == "nobody" else by(people[who])
    for method, address, body, allowed in TABLE:
        what = f"{who}: {method} {address}"
        with undone():
            response = getattr(client, method)(f"/api/v1/{address.format(**names)}", filled(body, names), format="json")
            response.getvalue()
        if who in allowed:
            assert 200 <= response.status_code < 300, what
            continue
        assert response["Content-Type"] == "application/problem+json", what
        if who == "nobody":
            assert response.status_code == 401, what
        elif who == "stranger" and address != "projects/":
            assert response.status_code == 404, what
        else:
            assert response.status_code == 403, what
            assert response.json()["detail"].startswith("Only "), what


@contextmanager
def undone():
    """What happens inside is rolled back, so that each line of the table finds the same desk."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def test_every_address_of_the_api_stands_in_the_table():
    known = {address.split("?")[0] for _method, address, _body, _allowed in TABLE}
    for name, route in routes():
        if name not in ELSEWHERE:
            example = route.replace("<slug:slug>", "{slug}").replace("<int:member>", "{member}")
            example = example.replace("<int:rater>", "{rater}")
            example = example.replace("<int:number>", "1").replace("<str:name>", "labels.jsonl")
            candidates = {example.replace("<uuid:uid>", key) for key in KINDS}
            assert candidates & known, f"{name} {route} is tried by no role"


def routes():
    for include in get_resolver().url_patterns:
        if getattr(include, "app_name", None) in ("reviews_api", "goldsets_api"):
            for pattern in include.url_patterns:
                if pattern.name:
                    yield f"{include.app_name}:{pattern.name}", str(pattern.pattern)


def test_what_an_expert_reads_names_no_gold(desk):
    people, names = desk
    client = by(people["expert"])
    for address in ("projects/", "queues/", f"queues/{names['queue']}/", f"projects/{names['slug']}/queues/"):
        assert "gold" not in client.get(f"/api/v1/{address}").content.decode().lower()
