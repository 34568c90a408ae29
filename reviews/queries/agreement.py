"""Agreement in a queue: per question of any kind, on steps, per rater, pair and part, with the items behind."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from typing import Any
from uuid import UUID

import numpy as np

from reviews.enums import CriterionKind
from reviews.models import Criterion, Membership, Queue
from reviews.queries.answers import Answers, ratings
from reviews.queries.compared import Compared, Measured, candidate_pairs, compared, step_labels, strengths
from reviews.queries.consensus import Consensus, consensus_on
from reviews.queries.cuts import Cut, Dimension, cuts_of, dimensions
from reviews.queries.model_strengths import ModelStrengths, model_strengths
from reviews.queries.preferring import Preferring, preferring
from reviews.queries.readings import (
    criterion_reading,
    cut_reading,
    level_reading,
    models_reading,
    pair_reading,
    place_reading,
    step_reading,
)
from reviews.queries.runs_compared import runs_of_items
from reviews.queries.stepwise import (
    EvidenceAgreement,
    NamedSteps,
    decisive_steps,
    evidence_agreement,
    first_wrong_steps,
    places_of_failure,
    which_named,
)
from reviews.stats.agreement import Share, from_rows
from reviews.stats.confusion import confusions, disagreeing_units
from reviews.stats.counts import MISSING, Ratings
from reviews.stats.pairs import pairwise
from reviews.stats.raters import against_rest, compare_with_rest, leave_one_out
from reviews.stats.resampling import Bootstrap
from reviews.stats.result import Estimate, Reason, refuse_below, without_value

# Below so many shared items a figure is not shown, only the number.
FLOOR = 10
# Raters in the matrix of pairs: a larger one nobody reads.
MATRIX_RATERS = 30
# Tables of labels per kind of unit, for what a single rater does, have no more cells than this.
MOST_CELLS = 20_000_000
# Krippendorff's lowest alpha for tentative conclusions.
TENTATIVE = 0.667
STEP_KEY, FIRST_ERROR_KEY, STEP_LABELS_KEY = "failure_step", "first_error", "step_labels"
STEP_TITLE, FIRST_ERROR_TITLE, STEP_LABELS_TITLE = "First decisive step", "First wrong step", "Words for steps"
# The fields that name items; there may be as many as items in the queue.
NAMING_ITEMS: dict[str, Any] = {"items": (), "disagreed": (), "answers": None}


@dataclass(frozen=True)
class Confusion:
    """Two answers given on the same items."""

    first: str
    second: str
    items: tuple[UUID, ...]
    n_items: int


@dataclass(frozen=True)
class PairAgreement:
    """Two raters on one criterion. `items` are those on which they differ; `reading` says how."""

    first_id: int
    second_id: int
    first: str
    second: str
    n: int
    percent: Estimate
    kappa: Estimate
    items: tuple[UUID, ...]
    n_items: int
    reading: str


@dataclass(frozen=True)
class RaterOnCriterion:
    """A rater against the majority of the others, and alpha without them.

    `change` above 0 means that the others agree better alone.
    """

    rater_id: int
    rater: str
    n: int
    with_rest: Estimate
    alpha_without: Estimate
    change: Estimate


@dataclass(frozen=True, kw_only=True)
class CriterionAgreement:
    """`kind` is that of the question, or step, or steps. `unit` is what is compared: item, candidate, step, …

    `level` says in a sentence what the figure allows, `reading` what stands out, or nothing. `strength` is about by how
    much one is preferred.
    """

    key: str
    title: str
    kind: str
    unit: str = "item"
    percent: Estimate
    alpha: Estimate
    ac: Estimate | None
    strength: Estimate | None = None
    n_unsure: int = 0
    disagreed: tuple[UUID, ...]
    n_disagreed: int
    confusions: tuple[Confusion, ...] = ()
    level: str
    reading: str
    raters: tuple[RaterOnCriterion, ...] = ()
    pairs: tuple[PairAgreement, ...] = ()
    cuts: tuple[Cut, ...] = ()
    preferring: Preferring | None = None
    models: ModelStrengths | None = None
    consensus: Consensus | None = None


@dataclass(frozen=True, kw_only=True)
class StepAgreement(CriterionAgreement):
    """Where the first decisive step is, among raters who name one.

    `percent` means exactly the same, `alpha` is of the position, `disagreed` has the items on which they name different
    ones. `n_some_name_none` counts items on which some name a step and others none; `named` is about whether there is
    one at all; `distances` are (steps apart, pairs of raters).
    """

    within_one: Estimate
    named: Estimate
    distances: tuple[tuple[int, int], ...]
    n_some_name_none: int = 0


@dataclass(frozen=True)
class RaterAgreement:
    """A rater over all criteria: the share of answers equal to the majority of the others."""

    rater_id: int
    rater: str
    n_items: int
    with_others: Estimate


@dataclass(frozen=True)
class QueueAgreement:
    """`n_judgments` is how many count, `n_left_out` how many were left out on request.

    `readings` has the sentences on what stands out, the worst agreement first. `steps` and `first_error` are there
    where the rubric labels steps.
    """

    n_items: int
    n_judgments: int
    n_pairable: int
    n_left_out: int
    criteria: tuple[CriterionAgreement, ...]
    step: StepAgreement
    steps: CriterionAgreement | None
    first_error: StepAgreement | None
    evidence: EvidenceAgreement
    raters: tuple[RaterAgreement, ...]
    readings: tuple[str, ...]
    floor: int = FLOOR

    @property
    def entries(self) -> list[CriterionAgreement]:
        """The criteria, then what there is on steps."""
        return [*self.criteria, *(entry for entry in (self.steps, self.first_error) if entry), self.step]

    @property
    def weakest(self) -> CriterionAgreement | None:
        """The criterion with the lowest alpha."""
        return min((entry for entry in self.criteria if entry.alpha.defined), key=_alpha, default=None)

    def as_dict(self) -> dict[str, Any]:
        """Nested dictionaries and lists for JSON; ids of items are UUIDs.

        What is probable of each item is asked for by itself: there is as much of it as of items.
        """
        found = asdict(_without(self, {"answers": None}))
        for entry in (*found["criteria"], found["steps"]):
            if entry and entry["consensus"]:
                del entry["consensus"]["answers"]
        return found

    def without_items(self) -> "QueueAgreement":
        """The same figures without naming items: as large for a few judgments as for very many."""
        return _without(self, NAMING_ITEMS)


def _without(part: Any, blank: dict[str, Any]) -> Any:
    """The same with these fields blank wherever they stand in it."""
    if isinstance(part, tuple):
        return tuple(_without(one, blank) for one in part)
    if not is_dataclass(part) or isinstance(part, type | Estimate):
        return part
    changes = {
        field.name: blank[field.name] if field.name in blank else _without(getattr(part, field.name), blank)
        for field in fields(part)
    }
    return replace(part, **changes)


def agreement(queue: Queue, *, leave_out: Iterable[int] | Any = ()) -> QueueAgreement:
    """Agreement among the judgments that count, apart from those of the assignments left out."""
    answers = ratings(queue, leave_out=leave_out)
    people = list(Membership.objects.filter(project=queue.project_id).select_related("user"))
    counting = _Counting(
        queue=queue,
        answers=answers,
        names={member.user_id: str(member.user) for member in people},
        cut_by=dimensions(answers, {member.user_id: member.get_tier_display().lower() for member in people}),
        **_resampling(answers),
    )
    questions = [one for one in queue.rubric.criteria.all() if one.is_comparable]
    rated = {criterion.pk: compared(answers, criterion) for criterion in questions}
    criteria = tuple(counting.on_criterion(criterion, rated[criterion.pk]) for criterion in questions)
    step = counting.on_places(STEP_KEY, STEP_TITLE, decisive_steps(answers))
    steps = first_error = None
    if queue.rubric.step_labels:
        words = queue.rubric.step_labels["words"]
        steps = counting.on(STEP_LABELS_KEY, STEP_LABELS_TITLE, "steps", step_labels(answers, words))
        first_error = counting.on_places(FIRST_ERROR_KEY, FIRST_ERROR_TITLE, first_wrong_steps(answers))
    found = QueueAgreement(
        n_items=answers.n_items_in_queue,
        n_judgments=answers.n_judgments,
        n_pairable=int(np.count_nonzero(np.bincount(answers.item_of) >= 2)),
        n_left_out=answers.n_left_out,
        criteria=criteria,
        step=step,
        steps=steps,
        first_error=first_error,
        evidence=evidence_agreement(answers, Bootstrap(), floor=FLOOR),
        raters=_over_all(answers, list(rated.values()), counting.names),
        readings=(),
    )
    by_alpha = sorted(found.entries, key=_alpha)
    return replace(found, readings=tuple(entry.reading for entry in by_alpha if entry.reading))


def _alpha(entry: CriterionAgreement) -> float:
    """The order of criteria: the weakest first, what is not defined last."""
    return 2.0 if entry.alpha.value is None else entry.alpha.value


def _resampling(answers: Answers) -> dict[str, Any]:
    """Runs of one task resemble each other, so whole tasks are drawn where there are enough of them."""
    pairable = np.bincount(answers.item_of, minlength=len(answers.item_uids)) >= 2
    n_tasks = len(np.unique(answers.task_of_item[pairable]))
    if FLOOR <= n_tasks < np.count_nonzero(pairable):
        return {"bootstrap": Bootstrap(over="tasks"), "tasks": answers.task_of_item}
    return {"bootstrap": Bootstrap(), "tasks": None}


@dataclass(frozen=True, kw_only=True)
class _Counting:
    """What every figure of a queue is counted with. `tasks` has each item's task where whole tasks are drawn."""

    queue: Queue
    answers: Answers
    names: dict[int, str]
    cut_by: list[Dimension]
    bootstrap: Bootstrap
    tasks: np.ndarray | None

    def on_criterion(self, criterion: Criterion, asked: Compared) -> CriterionAgreement:
        entry = self.on(criterion.key, criterion.title, criterion.kind, asked)
        if criterion.kind != CriterionKind.PREFERENCE:
            return entry
        strength = strengths(self.answers, criterion)
        pairs = candidate_pairs(self.answers, np.flatnonzero(self.answers.criterion == criterion.pk))
        runs = runs_of_items(self.answers, self.queue)
        place = preferring(self.answers, pairs, runs)
        models = model_strengths(self.answers, pairs, runs, self.tasks, floor=FLOOR)
        return replace(
            entry,
            strength=(refuse_below(strength.measured(self.bootstrap, self.tasks).alpha, FLOOR) if strength else None),
            preferring=place,
            models=models,
            reading=" ".join(
                filter(None, [entry.reading, place_reading(place.left_wins, place.test), models_reading(models)])
            ),
        )

    def on(
        self, key: str, title: str, kind: str, asked: Compared, measured: Measured | None = None
    ) -> CriterionAgreement:
        """Everything about one question; its figures over all are counted unless they are given."""
        answers, rated = self.answers, asked.ratings
        measured = measured or asked.measured(self.bootstrap, self.tasks)
        disagreed = answers.uids(asked.items(disagreeing_units(rated)))
        alpha = refuse_below(measured.alpha, FLOOR)
        cuts = cuts_of(answers, asked, self.cut_by, self.bootstrap, self.tasks, floor=FLOOR)
        mixed = self.confusions(asked) if asked.has_few_labels else ()
        few = asked.has_few_labels and len(rated.patterns.counts) * rated.n_labels**2 <= MOST_CELLS
        n_units, n_differ = measured.percent.n_units, len(disagreeing_units(rated))
        readings = [
            criterion_reading(
                title,
                kind,
                alpha,
                n_units=n_units,
                n_differ=n_differ,
                unit=asked.unit,
                tolerance=asked.tolerance,
                mixed=mixed[0] if mixed else None,
                prevalence=_prevalence(rated) if asked.has_few_labels else 0.0,
            ),
            cut_reading(title, alpha, cuts),
        ]
        return CriterionAgreement(
            key=key,
            title=title,
            kind=kind,
            unit=asked.unit,
            percent=refuse_below(measured.percent, FLOOR),
            alpha=alpha,
            ac=None if measured.ac is None else refuse_below(measured.ac, FLOOR),
            n_unsure=asked.n_unsure,
            disagreed=disagreed,
            n_disagreed=len(disagreed),
            confusions=mixed,
            level=level_reading(alpha, n_units=n_units, n_differ=n_differ, unit=asked.unit),
            reading=" ".join(filter(None, readings)),
            raters=self.raters_on(asked) if few else (),
            pairs=self.pairs_on(asked, title, kind) if asked.has_few_labels else (),
            cuts=cuts,
            consensus=consensus_on(answers, asked, self.names, floor=FLOOR) if asked.declared else None,
        )

    def confusions(self, asked: Compared) -> tuple[Confusion, ...]:
        found = []
        for pair in confusions(asked.ratings):
            items = self.answers.uids(asked.items(pair.units))
            found.append(Confusion(asked.names[pair.first], asked.names[pair.second], items, len(items)))
        return tuple(found)

    def raters_on(self, asked: Compared) -> tuple[RaterOnCriterion, ...]:
        ids = self.answers.rater_ids
        left_out = {entry.rater: entry for entry in leave_one_out(asked.ratings, asked.coefficient)}
        found = [
            RaterOnCriterion(
                rater_id=ids[entry.rater],
                rater=self.names[ids[entry.rater]],
                n=left_out[entry.rater].n,
                with_rest=refuse_below(entry.share, FLOOR),
                alpha_without=refuse_below(left_out[entry.rater].without, FLOOR),
                change=refuse_below(left_out[entry.rater].change, FLOOR),
            )
            for entry in against_rest(asked.ratings)
        ]
        return tuple(sorted(found, key=lambda entry: entry.rater))

    def pairs_on(self, asked: Compared, title: str, kind: str) -> tuple[PairAgreement, ...]:
        """Every two of the raters with the most ratings, first and second in the order of their names."""
        ids, rated = self.answers.rater_ids, asked.ratings
        given = np.bincount(rated.raters, minlength=rated.n_raters)
        most = np.argsort(-given, kind="stable")[:MATRIX_RATERS]
        rated = rated.keep(np.isin(rated.raters, most))
        said = np.full((rated.n_units, rated.n_raters), MISSING)
        said[rated.units, rated.raters] = rated.labels
        found = []
        for pair in pairwise(rated, weights=asked.kappa_weights, floor=FLOOR):
            first, second = sorted((pair.first, pair.second), key=lambda rater: self.names[ids[rater]])
            both = (said[:, first] != MISSING) & (said[:, second] != MISSING)
            differ = np.flatnonzero(both & (said[:, first] != said[:, second]))
            items = self.answers.uids(asked.items(differ))
            names = self.names[ids[first]], self.names[ids[second]]
            apart = np.abs(said[differ, first] - said[differ, second])
            adjacent = int((apart == 1).sum()) if kind in {CriterionKind.ORDINAL, "steps"} else 0
            found.append(
                PairAgreement(
                    first_id=ids[first],
                    second_id=ids[second],
                    first=names[0],
                    second=names[1],
                    n=pair.n,
                    percent=pair.percent,
                    kappa=pair.kappa,
                    items=items,
                    n_items=len(items),
                    reading=pair_reading(names, title, pair.n, len(differ), adjacent, unit=asked.unit),
                )
            )
        return tuple(sorted(found, key=lambda entry: (entry.first, entry.second)))

    def on_places(self, key: str, title: str, named: NamedSteps) -> StepAgreement:
        """One step of each unit: everything about which one, and beside it whether there is one."""
        asked = which_named(self.answers, named)
        places = places_of_failure(named, asked, self.bootstrap, self.tasks)
        measured = Measured(percent=places.found.exact, alpha=places.found.alpha, ac=None)
        entry = self.on(key, title, "step", asked, measured)
        within_one, of_naming = (
            refuse_below(estimate, FLOOR) for estimate in (places.found.within_one, places.found.named)
        )
        # How far apart tells more of steps than which two are mixed up.
        told = {field.name: getattr(entry, field.name) for field in fields(entry)} | {"confusions": ()}
        readings = [step_reading(entry.percent, within_one, entry.alpha), cut_reading(title, entry.alpha, entry.cuts)]
        return StepAgreement(
            **told | {"reading": " ".join(filter(None, readings))},
            within_one=within_one,
            named=of_naming,
            distances=places.found.distances,
            n_some_name_none=places.n_some_name_none,
        )


def _over_all(answers: Answers, asked: list[Compared], names: dict[int, str]) -> tuple[RaterAgreement, ...]:
    """Each rater's share of answers equal to the majority of the others.

    For the interval items are drawn, not answers: the answers on one item hang together.
    """
    shape = len(answers.rater_ids), len(answers.item_uids)
    right, n = np.zeros(shape), np.zeros(shape)
    for one in asked:
        rated = one.ratings
        if not one.has_few_labels or len(rated.patterns.counts) * rated.n_labels**2 > MOST_CELLS:
            continue
        counted, same = compare_with_rest(rated)
        items = one.item_of_unit[rated.units]
        np.add.at(n, (rated.raters[counted], items[counted]), 1)
        np.add.at(right, (rated.raters[same], items[same]), 1)
    found = []
    for rater, rater_id in enumerate(answers.rater_ids):
        judged = n[rater] > 0
        rows, times = np.unique(np.column_stack([right[rater], n[rater]])[judged], axis=0, return_counts=True)
        bare = Estimate("Same as the majority of the others", None, n_units=int(judged.sum()))
        if judged.any():
            share = from_rows(bare, Share(bare.statistic), rows, times, bootstrap=Bootstrap())
        else:
            share = without_value(bare, Reason.NO_PAIRS)
        found.append(RaterAgreement(rater_id, names[rater_id], bare.n_units, refuse_below(share, FLOOR)))
    return tuple(sorted(found, key=lambda entry: entry.rater))


def _prevalence(rated: Ratings) -> float:
    """The share of the most frequent answer among those that can be compared."""
    given = rated.counts[rated.per_unit >= 2].sum(axis=0)
    return float(given.max() / given.sum()) if given.any() else 0.0
