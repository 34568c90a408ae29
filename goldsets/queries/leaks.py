"""Finds what a version would give away: texts near those of other splits, or of benchmark lists.

Of each run three kinds of text are compared: the request, a user's longer messages, and the run as a whole. Texts of
fewer than eight words are found where they are the very same; what many write in between (“Yes please, go ahead”) and a
mere greeting as the request are nobody's and not looked at. Near texts within the version are told as well, but are no
leak: runs of one task are often alike.
"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db.models import QuerySet

from goldsets.models import BenchmarkList, BenchmarkText, Dataset, LeakReport
from goldsets.queries.splits import tasks_with_split
from goldsets.stats.near import FEWEST_WORDS, THRESHOLD, Index, Near, text_hash, words
from reviews.enums import StepRole
from reviews.models import Candidate, Item, Membership, Project, QueueItem, Step, Task, Trajectory
from reviews.trajectories.schema import decode_step

# Which texts are near: one of another split, one of a benchmark list, or one within the version.
KINDS = ACROSS, BENCHMARK, WITHIN = "split", "benchmark", "within"
# From so many words on it says something of its own: a request that is no mere greeting, and a message in the middle.
REQUEST_WORDS = 3
MESSAGE_WORDS = 20
# Versions of more runs are not searched for near texts within.
MOST_WITHIN = 20_000
# So many pairs of each kind are named; all are counted.
MOST_NAMED = 200
EXCERPT = 300
SIGNATURES = 2


@dataclass(frozen=True)
class Side:
    """One text of a pair: which part of which run of which family and split, or which text of which list."""

    part: str
    name: str
    family: str
    split: str
    item: str | None
    excerpt: str


@dataclass(frozen=True)
class Pair:
    """Two near texts. `key` is made of both texts' hashes and says the same of them in every version.

    `kind` is one of KINDS; `let_pass` says that two people had signed for it before.
    """

    kind: str
    let_pass: bool
    similarity: float
    ours: Side
    theirs: Side
    key: str


@dataclass
class Findings:
    """What a search has found: how many pairs of each kind, the first of them by name."""

    runs: int = 0
    against_runs: int = 0
    against_texts: int = 0
    threshold: float = THRESHOLD
    searched_within: bool = True
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    let_pass: int = 0
    pairs: list[Pair] = field(default_factory=list)

    @property
    def leaks(self) -> int:
        return self.counts[ACROSS] + self.counts[BENCHMARK] - self.let_pass

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class _Text:
    run: int
    part: str
    text: str

    @property
    def is_short(self) -> bool:
        return len(words(self.text)) < FEWEST_WORDS


def find_leaks(
    *, project: Project, runs: QuerySet[Trajectory], sealed: QuerySet[Task], benchmarks: bool, let_pass: set[str]
) -> Findings:
    """What is near among `runs`, which would leave, and the runs of `sealed` tasks, or benchmarks where they count.

    Pairs whose keys are in `let_pass` are told and are no leak.
    """
    found = _Search(project, let_pass)
    found.hold_against(sealed)
    if benchmarks:
        found.hold_against_benchmarks()
    count = runs.count()
    found.findings.searched_within = count <= MOST_WITHIN
    if found.has_anything or found.findings.searched_within:
        for texts in _texts(runs):
            found.look_at(texts)
    found.findings.runs = count
    return found.finish()


@dataclass(frozen=True)
class _Named:
    """A pair that will be named: `theirs` is a run and its part, or a benchmark text and the word benchmark."""

    kind: str
    similarity: float
    ours: _Text
    theirs: tuple[int, str]
    key: str


class _Search:
    def __init__(self, project: Project, let_pass: set[str]) -> None:
        self.project, self.let_pass = project, let_pass
        self.findings = Findings()
        self.others, self.within = Index(), Index()
        self.short: dict[str, tuple[int, str]] = {}  # runs and parts of few words by their hash
        self.hashes: dict[str, int] = {}  # benchmark texts of few words, or of which only the hash is known
        self.copies: dict[str, list[int]] = {}  # runs within by the hash of their words
        self.seen: set[tuple[str, str]] = set()
        self.named: list[_Named] = []

    @property
    def has_anything(self) -> bool:
        return bool(len(self.others) or self.short or self.hashes)

    def hold_against(self, sealed: QuerySet[Task]) -> None:
        for texts in _texts(Trajectory.objects.filter(task__in=sealed)):
            self.findings.against_runs += 1
            for text in texts:
                theirs = text_hash(text.text)
                if text.is_short:
                    self.short.setdefault(theirs, (text.run, text.part))
                else:
                    self.others.add((text.run, text.part, theirs), text.text)

    def hold_against_benchmarks(self) -> None:
        rows = BenchmarkText.objects.filter(benchmark__project=self.project).values_list("pk", "sha256", "text")
        for key, sha256, text in rows.iterator(chunk_size=1000):
            self.findings.against_texts += 1
            if len(words(text)) >= FEWEST_WORDS:
                self.others.add((key, BENCHMARK, sha256), text)
            else:
                self.hashes[sha256] = key

    def look_at(self, texts: Iterable[_Text]) -> None:
        for text in texts:
            ours = text_hash(text.text)
            for near in () if text.is_short else self.others.near(text.text):
                key, part, theirs = near.key
                kind = BENCHMARK if part == BENCHMARK else ACROSS
                self._found(kind, near.similarity, text, ours, (key, part), theirs)
            if ours in self.short:
                self._found(ACROSS, 1.0, text, ours, self.short[ours], ours)
            if ours in self.hashes:
                self._found(BENCHMARK, 1.0, text, ours, (self.hashes[ours], BENCHMARK), ours)
            if text.part == "run" and self.findings.searched_within:
                self._look_within(text, ours)

    def _look_within(self, text: _Text, ours: str) -> None:
        """The runs before this one that are near. Those of the very same words are compared as one, so that a version
        of many copies (a thousand runs of an agent that always does the same) does not cost the square of their number.
        """
        for near in self._near_within(text, ours):
            runs, room = self.copies[near.key], max(0, MOST_NAMED - self.findings.counts[WITHIN])
            key = ":".join(sorted((ours, near.key)))
            self.findings.counts[WITHIN] += len(runs)
            self.named += [_Named(WITHIN, near.similarity, text, (run, "run"), key) for run in runs[:room]]
        self.copies.setdefault(ours, []).append(text.run)

    def _near_within(self, text: _Text, ours: str) -> list[Near]:
        seen = ours in self.copies
        if text.is_short:
            return [Near(ours, 1.0)] if seen else []
        return self.within.near(text.text) if seen else self.within.add_and_near(ours, text.text)

    def _found(
        self, kind: str, similarity: float, text: _Text, ours: str, theirs: tuple[int, str], their_hash: str
    ) -> None:
        key = ":".join(sorted((ours, their_hash)))
        if (kind, key) in self.seen:
            return
        self.seen.add((kind, key))
        self.findings.let_pass += key in self.let_pass
        self.findings.counts[kind] += 1
        if self.findings.counts[kind] <= MOST_NAMED:
            self.named.append(_Named(kind, similarity, text, theirs, key))

    def finish(self) -> Findings:
        """The findings with the pairs named: leaks first, the nearest first."""
        self.named.sort(key=lambda pair: (pair.kind == WITHIN, -pair.similarity))
        listed = {pair.theirs[0] for pair in self.named if pair.kind == BENCHMARK}
        theirs = {pair.theirs[0] for pair in self.named if pair.kind != BENCHMARK}
        about = _about_runs(self.project, theirs | {pair.ours.run for pair in self.named})
        benchmarks = BenchmarkText.objects.select_related("benchmark").in_bulk(listed)
        # The other side's texts are read again, only of runs that are named: they were not kept.
        again = _texts(Trajectory.objects.filter(pk__in=theirs))
        texts = {(text.run, text.part): text.text for of_run in again for text in of_run}
        for pair in self.named:
            run, part = pair.theirs
            self.findings.pairs.append(
                Pair(
                    kind=pair.kind,
                    let_pass=pair.kind != WITHIN and pair.key in self.let_pass,
                    similarity=round(pair.similarity, 4),
                    ours=_side(about[pair.ours.run], pair.ours.part, pair.ours.text),
                    theirs=_listed(benchmarks[run])
                    if pair.kind == BENCHMARK
                    else _side(about[run], part, texts[run, part]),
                    key=pair.key,
                )
            )
        return self.findings


def runs_of(rows: QuerySet[QueueItem]) -> QuerySet[Trajectory]:
    """The runs of these queue items, also those that stand beside others in one.

    Both kinds are one list: of two, joined by "or", the database would go through a long one for each run.
    """
    items = rows.order_by().values("item")
    alone = Item.objects.filter(pk__in=items, trajectory__isnull=False).values("trajectory")
    beside = Candidate.objects.filter(item__in=items).values("trajectory")
    return Trajectory.objects.filter(pk__in=alone.union(beside))


# --- Texts of runs ----------------------------------------------------------------------------------------------------
def _texts(runs: QuerySet[Trajectory]) -> Iterator[list[_Text]]:
    """The texts of each run that are long enough to be compared, a run at a time."""
    rows = (
        Step.objects.filter(trajectory__in=runs.order_by().values("pk"))
        .order_by("trajectory", "position")
        .values_list("trajectory_id", "body")
        .iterator(chunk_size=500)
    )
    for run, steps in groupby(rows, itemgetter(0)):
        yield [
            _Text(run, part, text)
            for part, text, fewest in _parts(body for _run, body in steps)
            if len(words(text)) >= fewest
        ]


def _parts(bodies: Iterable[str]) -> Iterator[tuple[str, str, int]]:
    """Request, longer messages of the user, and all of it, each with how many words it must have."""
    whole, asked = [], 0
    for number, body in enumerate(bodies, start=1):
        step = decode_step(body)
        parts = [step.text, step.call.name if step.call else "", step.call.arguments_text if step.call else ""]
        whole += [*parts, step.result.text if step.result else ""]
        if step.role == StepRole.USER.value and step.text:
            asked += 1
            yield ("request", step.text, REQUEST_WORDS) if asked == 1 else (f"step {number}", step.text, MESSAGE_WORDS)
    yield "run", "\n".join(part for part in whole if part), 1


def _about_runs(project: Project, ids: set[int]) -> dict[int, dict[str, Any]]:
    from_task = Trajectory.objects.filter(pk__in=ids).values("pk", "item__uid", "task_id")
    tasks = {task.pk: task for task in tasks_with_split(project).filter(trajectories__in=ids)}
    return {row["pk"]: {"item": row["item__uid"], "task": tasks[row["task_id"]]} for row in from_task}


def _side(about: dict[str, Any], part: str, text: str) -> Side:
    task = about["task"]
    return Side(
        part=part,
        name=str(task),
        family=task.family,
        split=task.dealt or task.split,
        item=str(about["item"]) if about["item"] else None,
        excerpt=text[:EXCERPT],
    )


def _listed(row: BenchmarkText) -> Side:
    where = f"{row.benchmark.name}: {row.place}"
    return Side(part=BENCHMARK, name=where, family="", split=BENCHMARK, item=None, excerpt=row.text[:EXCERPT])


# --- Reports and who signed -------------------------------------------------------------------------------------------
def latest_report(version: Any) -> LeakReport | None:
    reports = LeakReport.objects.filter(version=version).select_related("version__dataset__project")
    return reports.prefetch_related("signatures__person").first()


@dataclass(frozen=True)
class LetPass:
    """Pairs that two people let pass, with who, when and why."""

    keys: frozenset[str]
    version: int
    signed: list[dict[str, str]]


def let_pass(dataset: Dataset) -> list[LetPass]:
    """What two people have signed for in earlier versions of the data set; it holds for these very texts."""
    reports = LeakReport.objects.filter(version__dataset=dataset).select_related("version")
    found = []
    for report in reports.prefetch_related("signatures"):
        signatures = list(report.signatures.all())
        if len(signatures) < SIGNATURES:
            continue
        names = pseudonyms(dataset.project, [signature.person_id for signature in signatures])
        signed = [
            {"by": names[signature.person_id], "at": signature.signed_at.isoformat(), "reason": signature.reason}
            for signature in signatures
        ]
        keys = frozenset(pair["key"] for pair in report.findings["pairs"] if pair["kind"] != WITHIN)
        found.append(LetPass(keys, report.version.number, signed))
    return found


def pseudonyms(project: Project, user_ids: Iterable[int]) -> dict[int, str]:
    members = Membership.objects.filter(project=project, user__in=list(user_ids))
    return dict(members.values_list("user_id", "pseudonym"))


# --- Benchmark lists --------------------------------------------------------------------------------------------------
def benchmark_lists(project: Project) -> QuerySet[BenchmarkList]:
    return BenchmarkList.objects.filter(project=project).select_related("added_by").order_by("name")
