"""What a version leans on beside quality: the place, length, formatting, its own family; and judges that see only that.

Of single runs these are leanings among runs that experts judge alike; of comparisons, what swapping the two does and
whom it prefers. Held-out runs are left out.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import log1p
from typing import Any
from uuid import UUID

from goldsets.enums import DatasetPurpose, ScoreOrder
from goldsets.models import GraderScore, GraderVersion
from goldsets.queries.calibration import question, threshold_of
from goldsets.queries.graded import graded
from goldsets.queries.keeping import Kept, Seen, count_and_keep, seen
from goldsets.queries.repeats import has_few_scores
from goldsets.queries.splits import tasks_apart_from
from goldsets.queries.verdicts import asked_in
from goldsets.stats.looks import family, formatting
from reviews.enums import Basis, CriterionKind, ItemKind, Purpose, StepRole
from reviews.models import Candidate, Item, LabelValue, QueueItem, Step
from reviews.stats.result import Estimate, HypothesisTest
from reviews.trajectories.schema import decode_step

# Of more runs or pairs the latest are looked at, because their texts have to be read.
MOST_READ = 4_000
MOST_LISTED = 50
BATCH = 2_000
FORM = 2


@dataclass(frozen=True)
class Looks:
    """What the agent wrote in a run: characters, and marks of formatting."""

    length: int = 0
    marks: int = 0


@dataclass(frozen=True)
class Lean:
    """How a feature moves the verdict: by what the odds of a pass are multiplied per standard deviation of it."""

    name: str
    odds: Estimate
    test: HypothesisTest


@dataclass(frozen=True)
class Runs:
    """Of single runs: leanings, areas under ROC of the grader and of what sees only one feature, and its own family."""

    n: int
    leans: tuple[Lean, ...]
    areas: tuple[tuple[str, Estimate], ...]
    own: tuple[Estimate, Estimate, HypothesisTest] | None


@dataclass(frozen=True)
class Follows:
    """A pair that follows the place: the same place won whichever run stood there."""

    item: UUID
    task: str
    first: bool


@dataclass(frozen=True)
class Pairs:
    """Of comparisons of two: what swapping does, how often it is right beside baselines, leanings, its own family."""

    n: int
    n_swapped: int
    consistent: Estimate
    always_first: int
    always_second: int
    place: HypothesisTest
    shares: tuple[tuple[str, str, Estimate], ...]
    leans: tuple[Lean, ...]
    own: tuple[Estimate, Estimate, HypothesisTest] | None
    follows: tuple[Follows, ...]


@dataclass(frozen=True)
class Biases:
    """`family` is that of the version's own model, "" where it names none; `of` is how many there were to look at."""

    family: str
    criterion: str
    against: str
    runs: Runs | None
    pairs: Pairs | None
    read: int
    of: int

    def as_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        told: dict[str, Any] = {name: getattr(self, name) for name in ("family", "criterion", "against", "read", "of")}
        if self.runs:
            told["runs"] = {
                "n": self.runs.n,
                "leanings": [_lean(one) for one in self.runs.leans],
                "areas": {name: area.as_dict() for name, area in self.runs.areas},
                "own_family": _own(self.runs.own),
            }
        if self.pairs:
            told["pairs"] = {
                "n": self.pairs.n,
                "n_swapped": self.pairs.n_swapped,
                "consistent": self.pairs.consistent.as_dict(),
                "always_first": self.pairs.always_first,
                "always_second": self.pairs.always_second,
                "place": self.pairs.place.as_dict(),
                "right": {key: share.as_dict() for key, _, share in self.pairs.shares},
                "leanings": [_lean(one) for one in self.pairs.leans],
                "own_family": _own(self.pairs.own),
                "follows_place": [
                    {"item": one.item, "task": one.task, "first": one.first} for one in self.pairs.follows
                ],
            }
        return told


def _lean(one: Lean) -> dict[str, Any]:
    return {"name": one.name, "odds": one.odds.as_dict(), "test": one.test.as_dict()}


def _own(own: tuple[Estimate, Estimate, HypothesisTest] | None) -> dict[str, Any] | None:
    return {"own": own[0].as_dict(), "others": own[1].as_dict(), "test": own[2].as_dict()} if own else None


# --- Kept -------------------------------------------------------------------------------------------------------------
def count_biases(version: GraderVersion) -> Kept[Biases]:
    """Count everything anew and keep it. Time grows with the texts of the runs."""
    return count_and_keep(_key(version), version.grader.project_id, lambda: _biases(version))


def seen_biases(version: GraderVersion) -> Seen[Biases]:
    """What a page shows: a few short queries, unless there are few scores."""
    return seen(
        _key(version),
        version.grader.project_id,
        little=lambda: has_few_scores(version),
        count=lambda: _biases(version),
    )


def _key(version: GraderVersion) -> str:
    return f"biases-{FORM}-{version.pk}-{version.threshold}"


def _biases(version: GraderVersion) -> Biases:
    asked = question(version.grader, {"version": version.number})
    own = family(version.model)
    rows = graded(version, asked.criterion, asked.held, asked_in(version.grader.project)).rows
    labelled = [row for row in rows if row.truth is not None]
    pairs = _pairs(version, asked.criterion)
    return Biases(
        family=own,
        criterion=asked.criterion,
        against=asked.held.words,
        runs=_of_runs(version, labelled[-MOST_READ:], own) if labelled else None,
        pairs=_of_pairs(pairs[-MOST_READ:], own) if pairs else None,
        read=min(len(labelled), MOST_READ) + min(len(pairs), MOST_READ),
        of=len(labelled) + len(pairs),
    )


# --- Single runs ------------------------------------------------------------------------------------------------------
def _of_runs(version: GraderVersion, rows: list[Any], own: str) -> Runs:
    # scipy.stats takes 70 MB, which processes that count nothing are spared.
    from goldsets.stats.leanings import leaning, own_kind
    from goldsets.stats.thresholds import curve

    threshold, _words = threshold_of(version)
    run_of = dict(
        Item.objects.filter(project=version.grader.project, uid__in=[row.item for row in rows]).values_list(
            "uid", "trajectory"
        )
    )
    looked = looks(run for run in run_of.values() if run)
    features = [looked.get(run_of.get(row.item) or 0, Looks()) for row in rows]
    passes, truth = [row.score >= threshold for row in rows], [bool(row.truth) for row in rows]
    length, marks = [log1p(one.length) for one in features], [log1p(one.marks) for one in features]
    leans = [leaning(name, values, passes, truth) for name, values in (("length", length), ("formatting", marks))]
    kinds = own_kind([family(row.model) == own for row in rows], passes, truth) if own else None
    return Runs(
        n=len(rows),
        leans=tuple(Lean(one.name, one.odds, one.test) for one in leans),
        areas=(
            ("The grader", curve([row.score for row in rows], truth).roc_area),
            ("Length alone", curve(length, truth).roc_area),
            ("Formatting alone", curve(marks, truth).roc_area),
        ),
        own=(kinds.own, kinds.others, kinds.test) if kinds else None,
    )


def looks(runs: Iterable[int]) -> dict[int, Looks]:
    """What the agent wrote in each of these runs."""
    keys, found = list(runs), {}
    for start in range(0, len(keys), BATCH):
        texts: dict[int, list[str]] = defaultdict(list)
        steps = Step.objects.filter(trajectory__in=keys[start : start + BATCH], role=StepRole.AGENT)
        for run, body in steps.values_list("trajectory", "body").iterator(chunk_size=BATCH):
            texts[run].append(decode_step(body).text)
        found.update({run: Looks(sum(map(len, said)), sum(map(formatting, said))) for run, said in texts.items()})
    return found


# --- Comparisons of two -----------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Pair:
    """One comparison: the verdicts in the places shown, the label's in the item's own, and its two runs."""

    item: UUID
    task: str
    shown: int
    swapped: int | None
    gold: int | None
    runs: tuple[int, int]
    models: tuple[str, str]


def _pairs(version: GraderVersion, criterion: str) -> list[_Pair]:
    project = version.grader.project
    sealed = tasks_apart_from(project, DatasetPurpose.ONLINE).values("pk")
    scores = GraderScore.objects.filter(
        version=version, criterion=criterion, attempt=1, item__kind=ItemKind.COMPARISON
    ).exclude(item__task__in=sealed)
    said: dict[int, dict[str, int]] = defaultdict(dict)
    for item, order, value in scores.values_list("item", "order", "value").iterator(chunk_size=BATCH):
        said[item][order] = _sign(value)
    both = _candidates(version)
    gold = dict(_gold(version, criterion))
    about = Item.objects.filter(grader_scores__in=scores).order_by("pk").distinct()
    return [
        _Pair(
            item=uid,
            task=task,
            shown=said[item][ScoreOrder.AS_SHOWN],
            swapped=said[item].get(ScoreOrder.SWAPPED),
            gold=gold.get(item),
            runs=(both[item][0][0], both[item][1][0]),
            models=(both[item][0][1], both[item][1][1]),
        )
        for item, uid, task in about.values_list("pk", "uid", "task__key")
        if len(both.get(item, ())) == 2 and ScoreOrder.AS_SHOWN in said[item]
    ]


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _candidates(version: GraderVersion) -> dict[int, list[tuple[int, str]]]:
    """By comparison its runs and their models, in the item's own order."""
    found: dict[int, list[tuple[int, str]]] = defaultdict(list)
    rows = Candidate.objects.filter(
        item__kind=ItemKind.COMPARISON,
        item__in=GraderScore.objects.filter(version=version).values("item"),
    ).order_by("item", "position")
    for item, run, model in rows.values_list("item", "trajectory", "trajectory__outcome__model"):
        found[item].append((run, model or ""))
    return found


def _gold(version: GraderVersion, criterion: str) -> Iterator[tuple[int, int]]:
    """Which of the two each label prefers: 1 the first, -1 the second, 0 neither. Labels that differ say nothing."""
    standing = QueueItem.objects.filter(
        queue__project=version.grader.project,
        queue__purpose=Purpose.WORK,
        label__isnull=False,
        item__kind=ItemKind.COMPARISON,
    ).exclude(label__basis=Basis.AMBIGUOUS)
    values = LabelValue.objects.filter(label__in=standing.values("label"), criterion__kind=CriterionKind.PREFERENCE)
    if criterion:
        values = values.filter(criterion__key=criterion)
    preferred: dict[int, set[int]] = defaultdict(set)
    for item, ranks in values.values_list("label__item", "ranks").iterator(chunk_size=BATCH):
        if ranks and len(ranks) == 2:
            preferred[item].add(_sign(ranks[1] - ranks[0]))
    yield from ((item, next(iter(said))) for item, said in preferred.items() if len(said) == 1)


def _of_pairs(pairs: list[_Pair], own: str) -> Pairs:
    # scipy.stats takes 70 MB, which processes that count nothing are spared.
    from goldsets.stats.leanings import (
        FIRST,
        TIE,
        agrees,
        first_wins,
        leaning,
        longest_wins,
        own_side,
        position,
        right_in_both_orders,
    )

    swapped = [pair for pair in pairs if pair.swapped is not None]
    place = position([pair.shown for pair in swapped], [pair.swapped or 0 for pair in swapped])
    told = [pair for pair in pairs if pair.gold is not None]
    looked = looks({run for pair in told for run in pair.runs})
    sides = [(looked.get(pair.runs[0], Looks()), looked.get(pair.runs[1], Looks())) for pair in told]
    gold, shown = [pair.gold or 0 for pair in told], [pair.shown for pair in told]
    lengths = [float(one.length) for one, _ in sides], [float(two.length) for _, two in sides]
    twice = [pair for pair in told if pair.swapped is not None]
    first, second = [pair.shown for pair in twice], [pair.swapped or 0 for pair in twice]
    golden = [pair.gold or 0 for pair in twice]
    turned = agrees([-said for said in second], golden, statistic="Agrees with experts, swapped")
    shares = (
        ("shown", "As the item has it", agrees(shown, gold, statistic="Agrees with experts")),
        ("swapped", "The other way round", turned),
        ("both", "Both orders together", right_in_both_orders(first, second, golden)),
        ("longest", "Longest wins", longest_wins(*lengths, gold)),
        ("first", "First shown wins", first_wins(gold)),
    )
    decided = [place for place, pair in enumerate(told) if pair.shown != TIE and pair.gold != TIE]
    features = {
        "length difference": [log1p(one.length) - log1p(two.length) for one, two in sides],
        "formatting difference": [log1p(one.marks) - log1p(two.marks) for one, two in sides],
    }
    leans = [
        leaning(
            name,
            [values[at] for at in decided],
            [shown[at] == FIRST for at in decided],
            [gold[at] == FIRST for at in decided],
        )
        for name, values in features.items()
    ]
    kinds = [tuple(family(model) == own for model in pair.models) for pair in told]
    alone = [at for at, (one, two) in enumerate(kinds) if one != two]
    side = None
    if own:
        side = own_side(
            [1 if kinds[at][0] else -1 for at in alone], [shown[at] for at in alone], [gold[at] for at in alone]
        )
    return Pairs(
        n=len(pairs),
        n_swapped=place.n,
        consistent=place.consistent,
        always_first=place.always_first,
        always_second=place.always_second,
        place=place.test,
        shares=shares,
        leans=tuple(Lean(one.name, one.odds, one.test) for one in leans),
        own=(side.judge, side.gold, side.test) if side else None,
        follows=tuple(
            Follows(pair.item, pair.task, pair.shown > 0)
            for pair in swapped
            if pair.shown == pair.swapped and pair.shown
        )[:MOST_LISTED],
    )
