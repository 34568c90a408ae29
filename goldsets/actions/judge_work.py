"""The work of a judge's run: asks about item after item, keeps what counts, and never goes over the budget.

1. Items stand in rows of their own from the start. Whoever takes up a run that was killed asks about those that wait;
   what was being asked at that moment is asked again, and what the model had answered by then is paid again.
2. A lock of the database, which ends with its connection, keeps a second worker away.
3. Requests go out from threads, which never touch the database; each item's end is one transaction.
4. Nothing is asked that could take the run over its budget, whatever the answer costs: `judging.most_cost`.
5. After `SLICE` seconds a task hands over to another, so that a long run does not keep a worker for itself.
"""

import time
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from decimal import ROUND_UP, Decimal
from threading import Event as Flag
from typing import Any

from django.conf import settings
from django.db import OperationalError, connection, transaction
from django.db.models import F
from django.utils import timezone

from goldsets.actions.judges import moved, record_of
from goldsets.enums import GoldVerb, JudgedState, JudgeRunState, ScoreOrder
from goldsets.models import GraderScore, JudgeAnswer, JudgedItem, JudgeRun
from goldsets.queries.judges import MOST_CHARACTERS, cannot_ask, document_of, endpoint, judge_of, prices_of, setup_of
from goldsets.reviewing.chat import Endpoint, NoAnswer
from goldsets.reviewing.judge_answer import Said
from goldsets.reviewing.judge_prompt import Document, Prompt
from goldsets.reviewing.judge_scores import Scored, scores_from
from goldsets.reviewing.judging import Ending, Verdict, ask_judge, cost_of, most_cost, of_both, orders_for, remembered
from reviews.enums import ItemKind

SLICE = 300.0
# The name space of the lock: one number for all runs of judges.
LOCKS = 0x6A756467
STATE_OF = {Ending.REFUSED: JudgedState.REFUSED, Ending.UNREADABLE: JudgedState.UNREADABLE}


def run_judge(*, run_id: int, seconds: float = SLICE) -> bool:
    """Ask about the items of a run for so long; whether there is more to do. Nothing happens to one that is over.

    An error of the database that may pass is raised, so that the task is tried again.
    """
    run = JudgeRun.objects.select_related("version__grader__project", "queue", "created_by").get(pk=run_id)
    with alone_in(LOCKS, run.pk) as alone:
        if not alone or (run.state == JudgeRunState.WAITING and not moved(run, JudgeRunState.RUNNING)):
            return False
        if run.state != JudgeRunState.RUNNING:
            return False
        work = _Work(run, seconds)
        try:
            return work.go_on()
        except OperationalError:
            raise
        except Exception:
            work.end(JudgeRunState.FAILED, "It stopped because of an error inside Assay. The log has it.")
            raise


@contextmanager
def alone_in(space: int, number: int) -> Iterator[bool]:
    """Whether nobody else is at work on this. A killed process lets go of the lock with its connection."""
    key = [space, number % 2**31]
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", key)
        alone = bool(cursor.fetchone()[0])
    try:
        yield alone
    finally:
        if alone and connection.is_usable():
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s, %s)", key)


@dataclass(frozen=True)
class _Question:
    """An item in one order; `known` is the answer where it was given before."""

    order: tuple[int, ...]
    prompt: Prompt
    key: str
    known: str | None
    most: float


@dataclass(frozen=True)
class _Asked:
    """An item that is asked about, in each order."""

    row: JudgedItem
    document: Document
    questions: list[_Question]

    @property
    def most(self) -> float:
        """US dollars that it can cost at most."""
        return sum(question.most for question in self.questions)


@dataclass
class _Come:
    """What came of asking: the verdicts, question by question as far as it got, and why it got no further."""

    verdicts: list[tuple[_Question, Verdict]] = field(default_factory=list)
    problem: str = ""
    hopeless: bool = False
    lost: int = 0

    @property
    def said(self) -> list[Said]:
        return [one for _question, verdict in self.verdicts for one in verdict.said]


class _Work:
    """One worker's time with a run."""

    def __init__(self, run: JudgeRun, seconds: float):
        self.run = run
        self.until = time.monotonic() + seconds
        self.setup = setup = setup_of(run.version)
        self.judge, self.prices = judge_of(setup), prices_of(setup)
        self.endpoint = endpoint(setup.protocol)
        self.over = Flag()
        self.reserved = 0.0
        self.under_way: dict[Future[_Come], _Asked] = {}
        self.hopeless = ""

    def go_on(self) -> bool:
        """Go through the items that wait; whether some are left for another time."""
        why = cannot_ask(self.setup)
        if why or self.endpoint is None:
            return self.end(JudgeRunState.FAILED, why)
        waiting = self._waiting()
        following = next(waiting, None)
        with ThreadPoolExecutor(max(1, settings.JUDGE_CONCURRENCY)) as threads:
            try:
                while following or self.under_way:
                    while following and self._may_ask(following):
                        self.reserved += following.most
                        self.under_way[threads.submit(self._ask, following, self.endpoint)] = following
                        following = next(waiting, None)
                    if not self.under_way:
                        break
                    self._take_what_came()
            finally:
                self.over.set()
        if not self._still_wanted():
            return False
        if self.hopeless:
            return self.end(JudgeRunState.FAILED, self.hopeless)
        if following and following.most > self._free():
            words = f"The next item could take it over its budget: it can cost {following.most:.4f} US dollars at most."
            return self.end(JudgeRunState.STOPPED, words)
        return following is not None or self.end(JudgeRunState.FINISHED)

    @transaction.atomic
    def end(self, state: JudgeRunState, error: str = "") -> bool:
        """Bring the run to its end; False, for there is no more to do."""
        if moved(self.run, state, error=error, finished_at=timezone.now()):
            record_of(self.run, self.run.created_by, GoldVerb.JUDGE_ENDED, state=state, items=self.run.items_total)
        return False

    # --- What is asked ------------------------------------------------------------------------------------------------
    def _may_ask(self, asked: _Asked) -> bool:
        room = len(self.under_way) < settings.JUDGE_CONCURRENCY
        wanted = not self.over.is_set() and not self.hopeless and time.monotonic() < self.until
        return room and wanted and asked.most <= self._free()

    def _free(self) -> float:
        """US dollars that are neither spent nor kept for items under way."""
        return float(self.run.budget - self.run.spent) - self.reserved

    def _still_wanted(self) -> bool:
        self.run.refresh_from_db(fields=["state", "spent", "budget"])
        return self.run.state == JudgeRunState.RUNNING

    def _waiting(self) -> Iterator[_Asked]:
        """The items that wait; those that are too long are put aside on the way."""
        rows = JudgedItem.objects.filter(run=self.run, state=JudgedState.WAITING).order_by("pk")
        about = ("project", "trajectory__task", "trajectory__policy", "task", "task_version")
        rows = rows.select_related(*(f"item__{name}" for name in about))
        for row in rows.iterator(chunk_size=20):
            document = document_of(row.item)
            asked = _Asked(row, document, [self._question(document, order) for order in orders_for(document)])
            longest = max(question.prompt.characters for question in asked.questions)
            if longest <= MOST_CHARACTERS:
                yield asked
                continue
            why = f"It takes {longest:,} characters to ask; at most {MOST_CHARACTERS:,} are sent, and never a part."
            _keep(row, JudgedState.TOO_LONG, why=why)

    def _question(self, document: Document, order: tuple[int, ...]) -> _Question:
        prompt = self.judge.prompt(document, order)
        key = self.judge.key(prompt, self.run.attempt)
        known = JudgeAnswer.objects.filter(key=key).values_list("content", flat=True).first()
        most = most_cost(self.judge, prompt, self.prices) if known is None else 0.0
        return _Question(order, prompt, key, known, most)

    def _ask(self, asked: _Asked, server: Endpoint) -> _Come:
        """In a thread: the verdicts on all questions. Touches no database."""
        come = _Come()
        for question in asked.questions:
            try:
                verdict = self._verdict(asked.document, question, server)
            except NoAnswer as error:
                come.problem, come.hopeless, come.lost = str(error), error.hopeless, error.lost
                break
            come.verdicts.append((question, verdict))
            if verdict.ending != Ending.SAID:
                break
        return come

    def _verdict(self, document: Document, question: _Question, server: Endpoint) -> Verdict:
        if question.known is not None:
            return remembered(self.judge, document, question.known, order=question.order)
        return ask_judge(self.judge, document, server, wait=self._pause, order=question.order)

    def _pause(self, seconds: float) -> None:
        """Wait between two tries, unless nobody wants the answer any more: then the item is left as it was."""
        if self.over.wait(seconds):
            raise NoAnswer("The run was stopped.", tries=0, lost=0, hopeless=True)

    # --- What is kept of it -------------------------------------------------------------------------------------------
    def _take_what_came(self) -> None:
        for future in wait(self.under_way, return_when=FIRST_COMPLETED).done:
            asked = self.under_way.pop(future)
            self.reserved -= asked.most
            come = future.result()
            self._settle(asked, come)
            if come.hopeless:
                self.hopeless = self.hopeless or come.problem
        if not self._still_wanted():
            self.over.set()

    @transaction.atomic
    def _settle(self, asked: _Asked, come: _Come) -> None:
        """The end of one item: its row, its scores, the answers, and what they took."""
        cost = sum(self._cost(question, verdict) for question, verdict in come.verdicts)
        lost = sum(self._lost(question, verdict.lost) for question, verdict in come.verdicts)
        if come.lost:
            lost += self._lost(asked.questions[len(come.verdicts)], come.lost)
        if cost or lost:
            JudgeRun.objects.filter(pk=self.run.pk).update(
                spent=F("spent") + dollars(cost) + dollars(lost), lost=F("lost") + dollars(lost)
            )
        self._remember(come)
        if come.hopeless:
            return
        state, why = self._judged(come)
        kept = _keep(
            asked.row,
            state,
            why=why,
            said=[asdict(one) | {"order": verdict.order} for _, verdict in come.verdicts for one in verdict.said],
            inconsistent=self._inconsistent(come),
            remembered=any(question.known is not None for question, _verdict in come.verdicts),
            cost=dollars(cost),
            lost=dollars(lost),
            seconds=sum(verdict.seconds for _, verdict in come.verdicts),
            tokens_in=sum(verdict.tokens_in or 0 for _, verdict in come.verdicts),
            tokens_out=sum(verdict.tokens_out or 0 for _, verdict in come.verdicts),
        )
        if kept and state in (JudgedState.SCORED, JudgedState.PARTLY):
            GraderScore.objects.bulk_create(self._scores(asked, come), ignore_conflicts=True)

    def _cost(self, question: _Question, verdict: Verdict) -> float:
        return cost_of(replace(verdict, lost=0), self.judge, question.prompt, self.prices)

    def _lost(self, question: _Question, times: int) -> float:
        """What answers that never came can have cost at most."""
        return cost_of(Verdict(Ending.UNREADABLE, lost=times), self.judge, question.prompt, self.prices)

    def _judged(self, come: _Come) -> tuple[JudgedState, str]:
        """How the item ends, and why."""
        if come.problem:
            return JudgedState.NO_ANSWER, come.problem
        last = come.verdicts[-1][1]
        if last.ending != Ending.SAID:
            return STATE_OF[last.ending], last.problem
        why = " ".join(dict.fromkeys(_why(one) for one in come.said if not one.counts))
        if not any(self._given(verdict) for _, verdict in come.verdicts):
            return JudgedState.UNPROVEN, why
        return (JudgedState.PARTLY if why else JudgedState.SCORED), why

    def _inconsistent(self, come: _Come) -> bool:
        """Whether the judge prefers otherwise when the candidates stand the other way round."""
        if len(come.verdicts) < 2:
            return False
        preferences = {row["key"] for row in self.judge.rubric["criteria"] if row["kind"] == "preference"}
        (_, first), (_, second) = come.verdicts
        return any(one.note for one in of_both(first.said, second.said, preferences=preferences))

    def _given(self, verdict: Verdict) -> list[Scored]:
        judge = self.judge
        return scores_from(verdict.said, rubric=judge.rubric, criterion=judge.criterion, order=verdict.order)

    def _scores(self, asked: _Asked, come: _Come) -> Iterator[GraderScore]:
        """The scores of an item. What it took stands on the first of each order, so that sums are right."""
        for question, verdict in come.verdicts:
            took: dict[str, Any] = {
                "cost": dollars(self._cost(question, verdict)),
                "seconds": verdict.seconds,
                "tokens": (verdict.tokens_in or 0) + (verdict.tokens_out or 0),
            }
            for scored in self._given(verdict):
                yield GraderScore(
                    version=self.run.version,
                    item=asked.row.item,
                    criterion=scored.criterion,
                    attempt=self.run.attempt,
                    order=ScoreOrder.SWAPPED if verdict.order == (2, 1) else ScoreOrder.AS_SHOWN,
                    value=scored.value,
                    parts=dict(scored.parts),
                    explanation=scored.explanation,
                    evidence=[_in_part(cited, asked) for cited in scored.evidence],
                    meta={"judge_run": str(self.run.uid), "answered_by": verdict.model, **scored.meta},
                    **took,
                )
                took = {}

    @staticmethod
    def _remember(come: _Come) -> None:
        """Keep new readable answers under the hash of what was asked."""
        new = [
            JudgeAnswer(key=question.key, content=verdict.content, model=verdict.model)
            for question, verdict in come.verdicts
            if question.known is None and verdict.ending == Ending.SAID
        ]
        JudgeAnswer.objects.bulk_create(new, ignore_conflicts=True)


def _in_part(cited: Mapping[str, Any], asked: _Asked) -> dict[str, Any]:
    """Where a quote stands: in a step, or in the part of a task that was shown as one."""
    row = dict(cited)
    if asked.row.item.kind == ItemKind.TASK:
        step = row.pop("step")
        row["part"] = next(shown["role"] for shown in asked.document["steps"]["rows"] if shown["number"] == step)
    return row


def _keep(row: JudgedItem, state: JudgedState, **what: Any) -> bool:
    """Write down how an item ended, once."""
    waits = JudgedItem.objects.filter(pk=row.pk, state=JudgedState.WAITING)
    return bool(waits.update(state=state, done_at=timezone.now(), **what))


def _why(said: Said) -> str:
    return f"{said.criterion}: {said.problem or 'unsure.'}"


def dollars(amount: float) -> Decimal:
    """An amount as tables keep it, never less than it is."""
    return Decimal(f"{amount:.9f}").quantize(Decimal("0.000001"), rounding=ROUND_UP)
