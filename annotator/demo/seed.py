"""Three weeks of work at the Northpier desk's project, done through the same actions as everybody's.

Simulated raters claim and submit, a lead adjudicates, makes gold and sets how much of it is mixed in. They take turns
in the order of time: each is a generator that yields the moment at which it goes on. All of it is one transaction, so a
demo is there as a whole or not at all, and where it is there nothing is done.
"""

import heapq
import random
import tempfile
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from django.apps import apps
from django.db import connection, transaction

from annotator.demo import graders, replies, reviewed_tasks, step_labels
from annotator.demo.clock import Clock, running_from
from annotator.demo.pairs import compare_runs
from annotator.demo.people import PEOPLE
from annotator.demo.raters import RATERS, Rater, judge
from annotator.demo.runs import SEED, Run, all_runs, write_rows
from annotator.demo.standards import CRITERIA, GUIDELINE, GUIDELINE_NAME, RUBRIC_NAME
from annotator.demo.task_factory import Factory, run_factory
from annotator.demo.truth import CRITERIA as QUALITY
from annotator.models import User
from goldsets.actions.compiling import run_compile, start_compile
from goldsets.actions.defining import define_dataset
from goldsets.actions.exporting import run_export, start_export
from goldsets.actions.gold import approve_gold, propose_gold, set_gold_rate
from goldsets.actions.guarding import set_up_guards
from goldsets.actions.pricing import write_prices
from goldsets.actions.rationales import hear
from goldsets.actions.standing import confirm_move, review_standings
from goldsets.enums import DatasetFormat, StandingState
from goldsets.models import GoldItem
from reviews.actions.adjudicating import adjudicate, differing
from reviews.actions.dealing import NothingToDeal, claim, renew, skip
from reviews.actions.importing import run_import, start_import
from reviews.actions.judging import submit
from reviews.actions.projects import accept_invitation, change_membership, create_project, invite
from reviews.actions.queueing import create_queue
from reviews.actions.rubrics import write_guideline, write_rubric
from reviews.actions.settling import settle_marked
from reviews.enums import Basis, QueueItemState, QueueOrder, ReasonCode, Role, SettleRule, SkipReason
from reviews.models import Label, Membership, Outcome, Project, Queue, QueueItem
from reviews.queries.resting import judgments_before_label

SLUG = "northpier"
WORKDAYS = 14
# How many items each rater is dealt, gold among them.
QUOTA = {"tessa": 66, "arjun": 60, "noemie": 64, "kofi": 60, "dana": 72}
ITEMS_A_SESSION = 8
SKIP_RATE = 0.02
SECONDS_BETWEEN_SIGNS = 58
# How many disagreements the lead leaves for whoever tries the demo.
LEFT_WAITING = 12
# Gold is made day by day, up to so many items with a failed gate and so many without, until there is enough.
GOLD_A_DAY = 3
GOLD_ITEMS = 24
# The lead mixes in more gold at first, to get to know the raters, and less from then on.
GOLD_RATES = ("0.250", "0.120")
# What an hour costs in US dollars: nobody's wages, but of a plausible size.
PRICES = {"crowd": 18, "skilled": 45, "expert": 95, "lead": 120, "machine_hour": 0.4, "million_tokens": 3}
CREDENTIALS = {
    "tessa": ("11 years in customer support, trained auditor", ["refunds", "privacy"]),
    "arjun": ("Led a billing team of 20", ["billing", "refunds"]),
    "noemie": ("Support agent, four years", ["shipping"]),
    "kofi": ("Support agent, three years", ["accounts", "workspaces"]),
    "dana": ("", []),
}
# What the lead writes of a gate that some rater failed and that holds.
GATE_HOLDS = {
    "authorised": "Every record that was touched is the requester's, or what their role covers.",
    "consent": "Nothing was changed without a yes to it.",
    "honest": "Every claim has a call behind it.",
}


@dataclass(frozen=True)
class Desk:
    """What everybody works with."""

    queue: Queue
    runs: dict[int, Run]
    """Item -> the run behind it."""
    clock: Clock
    seed: int


@transaction.atomic
def seed(*, now: datetime, number: int = SEED) -> bool:
    """Fill an empty Assay with the demo, as if three weeks had been worked. False where it is there already."""
    if Project.objects.filter(slug=SLUG).exists():
        return False
    days = _workdays_before(now)
    with running_from(_at(days[0], 8, 40)) as clock:
        people = {role: User.objects.get(email=email) for role, (email, _name) in PEOPLE.items()}
        project = _found(people)
        raters = {rater.key: _hire(people["lead"], project, rater) for rater in RATERS}
        clock.moment += timedelta(minutes=52)
        queue = _open_queue(people["lead"], project, clock)
        clock.moment += timedelta(minutes=17)
        _import(people["engineer"], project, queue, number)
        _take_stock()
        desk = Desk(queue, _runs_by_item(number), clock, number)
        mornings = [_at(day, 9, 30) for day in days[1:]]
        factory = Factory(people["lead"], project, raters, desk.runs, number)
        _work(
            clock,
            [
                *(_rate(desk, rater, raters[rater.key], days[1:]) for rater in RATERS),
                _lead(desk, people["lead"], people["admin"], days[1:]),
                run_factory(factory, mornings),
            ],
        )
        _take_stock()
        clock.moment += timedelta(minutes=5)
        steps = step_labels.open_queue(people["lead"], project, queue.guideline, desk.runs, number)
        step_labels.label_some(steps, raters, desk.runs, clock, number)
        compare_runs(project=project, lead=people["lead"], raters=raters, runs=desk.runs, clock=clock, seed=number)
        clock.moment += timedelta(minutes=15)
        reviewed_tasks.open_queue(people["lead"], project, desk.runs)
        set_up_guards(actor=people["lead"], project=project)
        write_prices(actor=people["lead"], project=project, prices=PRICES)
        hear(queue=queue)
        clock.moment += timedelta(minutes=5)
        graders.grade(
            project=project,
            people=people,
            raters=raters,
            runs=desk.runs,
            guideline=queue.guideline,
            clock=clock,
            seed=number,
        )
        _take_stock()
        _export(people["engineer"], queue)
        _compile(people["engineer"], queue)
        _compile_what_is_proven(people, raters, days, clock, number)
    return True


def _take_stock() -> None:
    """Tell Postgres how much there is by now. Elsewhere its own sweep does; it does not see into a transaction."""
    models = [model for app in ("reviews", "goldsets") for model in apps.get_app_config(app).get_models()]
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {', '.join(model._meta.db_table for model in models)}")


def _workdays_before(now: datetime) -> list[datetime]:
    days: list[datetime] = []
    day = now.astimezone(UTC)
    while len(days) < WORKDAYS:
        day -= timedelta(days=1)
        if day.weekday() < 5:
            days.append(day)
    return days[::-1]


def _at(day: datetime, hour: int, minute: int = 0) -> datetime:
    return datetime.combine(day.date(), time(hour, minute), UTC)


# Setting up


def _found(people: dict[str, User]) -> Project:
    """An admin founds the project and hands it to the lead, who invites the others."""
    project = create_project(
        actor=people["admin"],
        name="Northpier desk",
        slug=SLUG,
        description="Runs of support agents on thirteen kinds of tickets: is the ticket resolved, and by right?",
    )
    _join(people["admin"], project, Role.LEAD, people["lead"])
    admin = Membership.objects.get(project=project, user=people["admin"])
    change_membership(actor=people["lead"], membership=admin, role=Role.ADMIN)
    _join(people["lead"], project, Role.ENGINEER, people["engineer"])
    _join(people["lead"], project, Role.EXPERT, people["expert"])
    return project


def _join(host: User, project: Project, role: Role, guest: User, tier: str = "expert") -> Membership:
    _, token = invite(actor=host, project=project, role=role, tier=tier)
    return accept_invitation(token=token, user=guest)


def _hire(lead: User, project: Project, rater: Rater) -> User:
    """A simulated rater, marked as one wherever raters are shown."""
    user = User.objects.create_user(rater.email, name=rater.name)
    membership = _join(lead, project, Role.EXPERT, user, rater.tier)
    membership.simulated = True
    membership.credentials, membership.domains = CREDENTIALS[rater.key]
    membership.save(update_fields=["simulated", "credentials", "domains"])
    return user


def _open_queue(lead: User, project: Project, clock: Clock) -> Queue:
    rubric = write_rubric(actor=lead, project=project, name=RUBRIC_NAME, criteria=CRITERIA, unsure_allowed=True)
    for text in GUIDELINE:
        clock.moment += timedelta(minutes=34)
        guideline = write_guideline(actor=lead, project=project, name=GUIDELINE_NAME, text=text)
    return create_queue(
        actor=lead,
        project=project,
        name="Support runs",
        rubric=rubric,
        guideline=guideline,
        overlap=3,
        lease_minutes=45,
        order=QueueOrder.ARRIVAL,
        settle_rule=SettleRule.MAJORITY,
    )


def _import(engineer: User, project: Project, queue: Queue, number: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "northpier-runs.jsonl"
        write_rows(path, number)
        with path.open("rb") as file:
            job = start_import(
                actor=engineer,
                project=project,
                name=path.name,
                file=file,
                queue=queue,
                settings={"provenance": "synthetic", "licence": "CC0-1.0"},
            )
    run_import(job_id=job.pk)
    # The file has the runs in an order that was drawn, by the seed so that every demo is the same.
    Queue.objects.filter(pk=queue.pk).update(order=QueueOrder.SHUFFLED)


def _runs_by_item(number: int) -> dict[int, Run]:
    runs = {f"r-{n:04d}": run for n, run in enumerate(all_runs(number), start=1)}
    items = Outcome.objects.filter(trajectory__project__slug=SLUG).values_list("trajectory__item", "data__run_id")
    return {item: runs[run_id] for item, run_id in items}


def _export(engineer: User, queue: Queue) -> None:
    dataset = define_dataset(
        actor=engineer, project=queue.project, name="Support labels", formats=[DatasetFormat.JSONL], queue=queue
    )
    run_export(version_id=start_export(actor=engineer, dataset=dataset).pk)


def _compile(engineer: User, queue: Queue) -> None:
    """Two decisions for which a hundred labels are too few, as the reports say."""
    for criterion in ("", "authorised"):
        run_compile(reviewer_id=start_compile(actor=engineer, queue=queue, criterion=criterion).pk)


def _compile_what_is_proven(
    people: dict[str, User], raters: dict[str, User], days: list[datetime], clock: Clock, number: int
) -> None:
    """A project of short replies, which are labelled so often that a reviewer of them is proven."""
    clock.moment = _at(days[0], 8, 50)
    project = create_project(
        actor=people["admin"],
        name="Northpier replies",
        slug=replies.SLUG,
        description="Short replies to tickets, judged by simulated raters: is each safe to send?",
    )
    _join(people["admin"], project, Role.LEAD, people["lead"])
    admin = Membership.objects.get(project=project, user=people["admin"])
    change_membership(actor=people["lead"], membership=admin, role=Role.ADMIN)
    _join(people["lead"], project, Role.ENGINEER, people["engineer"])
    for rater in RATERS:
        if rater.key in replies.ERRORS:
            membership = _join(people["lead"], project, Role.EXPERT, raters[rater.key], rater.tier)
            membership.simulated = True
            membership.save(update_fields=["simulated"])
    write_prices(actor=people["lead"], project=project, prices=PRICES)
    replies.prove_a_reviewer(
        project=project, people=people, raters=raters, days=[_at(day, 0) for day in days], clock=clock, seed=number
    )


# Working


def _work(clock: Clock, workers: list[Iterator[datetime]]) -> None:
    """Let everybody go on at their next moment, in the order of time."""
    numbers = count()
    turns = [(next(worker), next(numbers), worker) for worker in workers]
    heapq.heapify(turns)
    while turns:
        moment, _, worker = heapq.heappop(turns)
        clock.moment = moment
        following = next(worker, None)
        if following is not None:
            heapq.heappush(turns, (following, next(numbers), worker))


def _rate(desk: Desk, rater: Rater, user: User, days: list[datetime]) -> Iterator[datetime]:
    """A rater's sessions: one on each of the days they need, at an hour of their own."""
    rng = random.Random(f"{desk.seed}/{rater.key}/work")  # noqa: S311
    left = QUOTA[rater.key]
    sessions = -(-left // ITEMS_A_SESSION)
    start = rng.random()
    for day in (days[int((n + start) * len(days) / sessions)] for n in range(sessions)):
        moment = _at(day, rng.randrange(8, 15), rng.randrange(60))
        for _ in range(min(left, ITEMS_A_SESSION)):
            yield moment
            moment = yield from _judge_one(desk, rater, user, rng, moment)
            moment += timedelta(seconds=rng.randrange(3, 40))
            left -= 1


def _judge_one(
    desk: Desk, rater: Rater, user: User, rng: random.Random, moment: datetime
) -> Generator[datetime, None, datetime]:
    """Claim, read with signs of life in between, and submit; now and then skip. Returns when it was over."""
    try:
        assignment = claim(actor=user, queue=desk.queue)
    except NothingToDeal:
        return moment
    verdict = judge(rater, desk.runs[assignment.item_id], desk.seed)
    end = moment + timedelta(seconds=verdict.seconds)
    if rng.random() < SKIP_RATE:
        moment += timedelta(seconds=min(30, verdict.seconds))
        yield moment
        skip(actor=user, uid=assignment.uid, reason=rng.choice((SkipReason.NOT_MY_FIELD, SkipReason.GUIDELINE)))
        settle_marked()
        return moment
    while (end - moment).total_seconds() > SECONDS_BETWEEN_SIGNS:
        moment += timedelta(seconds=SECONDS_BETWEEN_SIGNS)
        yield moment
        renew(actor=user, uid=assignment.uid)
    yield end
    submit(actor=user, uid=assignment.uid, payload=verdict.payload, idempotency_key=f"demo-{assignment.uid}")
    settle_marked()
    return end


def _lead(desk: Desk, lead: User, admin: User, days: list[datetime]) -> Iterator[datetime]:
    """At the end of each day the lead settles what waits and proposes some of what is settled as gold; the admin
    approves it, for there is no second lead."""
    rng = random.Random(f"{desk.seed}/lead")  # noqa: S311
    for day in days:
        moment = _at(day, 16, rng.randrange(30, 50))
        yield moment
        waiting = QueueItem.objects.filter(queue=desk.queue, state=QueueItemState.WAITING).order_by("waiting_since")
        for queue_item in list(waiting)[: max(0, waiting.count() - LEFT_WAITING)]:
            adjudicate(actor=lead, queue_item=queue_item, payload=_decision(desk, queue_item, rng))
            moment += timedelta(seconds=rng.randrange(70, 260))
            yield moment
        for queue_item in _choose_gold(desk, rng):
            key = propose_gold(actor=lead, queue_item=queue_item)
            moment += timedelta(seconds=rng.randrange(15, 60))
            yield moment
            approve_gold(actor=admin, key=key)
        if day == days[1]:
            set_gold_rate(actor=lead, queue=desk.queue, rate=GOLD_RATES[0])
        _decide_standings(desk, lead)
    yield moment + timedelta(minutes=5)
    set_gold_rate(actor=lead, queue=desk.queue, rate=GOLD_RATES[1])


def _decide_standings(desk: Desk, lead: User) -> None:
    """Whoever passes is trusted at once; a pause is left for whoever tries the demo, so that there is one to decide."""
    for move in review_standings(queue=desk.queue):
        if move.after == StandingState.ACTIVE:
            confirm_move(actor=lead, move=move)


def _decision(desk: Desk, queue_item: QueueItem, rng: random.Random) -> dict[str, Any]:
    """What is true of the run, as a lead would put it down, with a reason for every criterion the raters differ on."""
    truth = desk.runs[queue_item.item_id].truth
    differ = differing(judgments_before_label(queue_item))
    payload: dict[str, Any] = {"gates": truth.gates, "note": _note(truth.reasons, differ)}
    if truth.criteria:
        payload["criteria"] = truth.criteria
    if truth.failure:
        failure = truth.failure
        payload["failure"] = {
            "step": failure.step,
            "who": failure.who,
            "cause": failure.cause,
            "note": failure.note,
        }
    payload["reasons"] = {key: _reason(key, rng) for key in sorted(differ & {*truth.gates, *truth.criteria})}
    return payload


def _note(reasons: dict[str, str], differ: set[str]) -> str:
    """Why it is so, on what the raters differ on."""
    words = [text for key, text in {**GATE_HOLDS, **reasons}.items() if key in differ]
    return " ".join(words[:3]) or next(iter(reasons.values()))


def _reason(key: str, rng: random.Random) -> str:
    if key not in QUALITY:
        return ReasonCode.RATER_ERROR if rng.random() < 0.8 else ReasonCode.GUIDELINE_UNCLEAR
    return rng.choice((ReasonCode.BOTH_ACCEPTABLE, ReasonCode.RATER_ERROR, ReasonCode.GUIDELINE_UNCLEAR))


def _choose_gold(desk: Desk, rng: random.Random) -> list[QueueItem]:
    """Some settled items whose label is right, half of them with a failed gate; none once there is enough gold."""
    wanted = GOLD_ITEMS - GoldItem.objects.filter(queue=desk.queue).count()
    settled = QueueItem.objects.filter(
        queue=desk.queue,
        state=QueueItemState.SETTLED,
        gold=None,
        label__basis__in=[Basis.ADJUDICATED, Basis.UNANIMOUS],
    )
    settled = settled.select_related("queue", "label").order_by("pk")
    right = [item for item in settled if item.label and _is_right(desk, item.label)]
    rng.shuffle(right)
    failed = [item for item in right if desk.runs[item.item_id].truth.evidence]
    passed = [item for item in right if not desk.runs[item.item_id].truth.evidence]
    return (failed[:GOLD_A_DAY] + passed[:GOLD_A_DAY])[:wanted]


def _is_right(desk: Desk, label: Label) -> bool:
    """Whether the label says what is true, to a level."""
    truth = desk.runs[label.item_id].truth
    values = {value.criterion.key: value.value or 0 for value in label.values.select_related("criterion")}
    gates = all(values[key] == int(answer == "pass") for key, answer in truth.gates.items())
    return gates and all(abs(values.get(key, -9) - level) <= 1 for key, level in truth.criteria.items())
