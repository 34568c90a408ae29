"""Agreement on steps: where a run failed, which steps are wrong, and which of them raters cite."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reviews.queries.answers import Answers
from reviews.queries.compared import Compared, of_numbers, within_items
from reviews.stats.agreement import Alpha
from reviews.stats.counts import from_codes
from reviews.stats.resampling import Bootstrap
from reviews.stats.result import Estimate, refuse_below
from reviews.stats.spans import Spans, token_agreement
from reviews.stats.steps import NO_STEP, StepsAgreement, step_agreement


@dataclass(frozen=True, kw_only=True)
class PlacesOfFailure:
    """Agreement on one step per unit.

    `n_some_name_none` counts the items on which some name a step and others say that there is none.
    """

    found: StepsAgreement
    n_some_name_none: int


@dataclass(frozen=True, kw_only=True)
class EvidenceAgreement:
    """Whether raters who cite steps for the same answer cite the same ones.

    A text here is a run and a criterion, its tokens are the run's steps. `f1`: of the steps that one of two raters
    cites, how many both cite; `alpha`: cited or not, over all steps.
    """

    f1: Estimate
    alpha: Estimate
    n_citations: int


@dataclass(frozen=True, kw_only=True)
class NamedSteps:
    """One row per answer: which step is named of a unit, `NO_STEP` for none; and which item each unit is of."""

    units: np.ndarray
    raters: np.ndarray
    steps: np.ndarray
    item_of_unit: np.ndarray
    unit: str = "item"


def decisive_steps(answers: Answers) -> NamedSteps:
    """The first decisive step of a run, or of each candidate where there are several."""
    if not answers.order.astype(bool).any():
        return NamedSteps(
            units=answers.item_of,
            raters=answers.rater_of,
            steps=answers.failure_step,
            item_of_unit=np.arange(len(answers.item_uids)),
        )
    shown = np.array([text.count(",") + 1 if text else 0 for text in answers.order.tolist()], dtype=np.int64)
    judgments = np.repeat(np.arange(len(shown)), shown)
    candidates = np.arange(len(judgments)) - np.repeat(np.cumsum(shown) - shown, shown) + 1
    steps = np.full(len(judgments), NO_STEP)
    begins = np.cumsum(shown) - shown
    judgment, candidate, step = answers.candidate_failures.T
    steps[begins[judgment] + candidate - 1] = step
    frame = within_items(answers.item_of[judgments], candidates)
    return NamedSteps(**frame, raters=answers.rater_of[judgments], steps=steps, unit="candidate")


def first_wrong_steps(answers: Answers) -> NamedSteps:
    """The first step with a label below zero in each judgment that labels steps."""
    judgment, step, value = answers.step_labels.T
    none = np.iinfo(np.int64).max
    first = np.full(answers.n_judgments, none)
    wrong = value < 0
    np.minimum.at(first, judgment[wrong], step[wrong])
    first = np.where(first == none, NO_STEP, first)
    labelled = np.unique(judgment)
    return NamedSteps(
        units=answers.item_of[labelled],
        raters=answers.rater_of[labelled],
        steps=first[labelled],
        item_of_unit=np.arange(len(answers.item_uids)),
    )


def whether_named(answers: Answers, named: NamedSteps) -> Compared:
    """Whether there is such a step at all."""
    return Compared(
        ratings=from_codes(
            named.units,
            named.raters,
            named.steps > NO_STEP,
            scores=[0, 1],
            n_units=len(named.item_of_unit),
            n_raters=len(answers.rater_ids),
        ),
        item_of_unit=named.item_of_unit,
        names=("none", "there is one"),
        coefficient=Alpha("nominal", np.array([0.0, 1.0])),
        kappa_weights="identity",
        declared=True,
        unit=named.unit,
    )


def which_named(answers: Answers, named: NamedSteps) -> Compared:
    """Which step it is, among raters who name one."""
    names = named.steps > NO_STEP
    frame: dict[str, Any] = {"units": named.units[names], "raters": named.raters[names]}
    frame |= {"item_of_unit": named.item_of_unit, "unit": named.unit}
    return of_numbers(answers, frame, named.steps[names], named=lambda step: f"step {step:g}")


def places_of_failure(
    named: NamedSteps, asked: Compared, bootstrap: Bootstrap, tasks: np.ndarray | None
) -> PlacesOfFailure:
    """`asked` is what `which_named` gives. Intervals draw whole tasks where these are given, else whole items."""
    units, steps, items = named.units, named.steps, named.item_of_unit
    split = np.intersect1d(units[steps > NO_STEP], units[steps == NO_STEP])
    clusters = asked.clusters(tasks)
    return PlacesOfFailure(
        found=step_agreement(units, named.raters, steps, bootstrap=bootstrap, clusters=clusters),
        n_some_name_none=len(np.unique(items[split])),
    )


def evidence_agreement(answers: Answers, bootstrap: Bootstrap, *, floor: int) -> EvidenceAgreement:
    cited = cited_steps(answers)
    found = token_agreement(cited.spans, bootstrap=bootstrap)
    return EvidenceAgreement(
        f1=refuse_below(replace(found.f1, statistic="F1 of cited steps"), floor),
        alpha=refuse_below(replace(found.alpha, statistic="Krippendorff's alpha over steps, cited or not"), floor),
        n_citations=len(cited.spans.marks),
    )


@dataclass(frozen=True, kw_only=True)
class CitedSteps:
    """A text is a run and a criterion, a token a step of it; who cites none for a criterion has no part in its text."""

    spans: Spans
    item_of_text: np.ndarray


def cited_steps(answers: Answers) -> CitedSteps:
    judgment, criterion, candidate, step = answers.citations.T
    items, raters = answers.item_of[judgment], answers.rater_of[judgment]
    texts, text = np.unique(np.column_stack([items, candidate, criterion]), axis=0, return_inverse=True)
    text = text.ravel()
    lengths = np.array([answers.length_of.get((item, place), 0) for item, place, _ in texts.tolist()], dtype=np.int64)
    inside = step <= lengths[text] if len(step) else np.zeros(0, dtype=bool)
    marks = np.column_stack([text, raters, step - 1, step])[inside]
    spans = Spans(lengths, judged=np.unique(marks[:, :2], axis=0), marks=marks)
    return CitedSteps(spans=spans, item_of_text=texts[:, 0])
