"""A queue's agreement as a report to print or to file: figures with their numbers, and how they were made."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from goldsets.queries.agreement import Kept, current_agreement
from reviews.models import Queue
from reviews.queries.agreement import CriterionAgreement, QueueAgreement, StepAgreement
from reviews.queries.readings import plural, small
from reviews.queries.repeats import Within
from reviews.stats.result import Estimate

ALPHA, DASH = "\N{GREEK SMALL LETTER ALPHA} [95%]", "\N{EN DASH}"


@dataclass(frozen=True)
class Table:
    """`title` says what it shows; the first column is what a row is about. `note` stands below it."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


@dataclass(frozen=True)
class Report:
    title: str
    of: str
    methods: str
    readings: Sequence[str]
    tables: Sequence[Table]


def current_report(queue: Queue) -> Report:
    """The report of the figures as they stand, counted anew where anything happened since."""
    return agreement_report(queue, current_agreement(queue))


def agreement_report(queue: Queue, kept: Kept) -> Report:
    """The report of figures as they were counted."""
    found = kept.found
    return Report(
        title=f"Agreement in {queue.name}",
        of=(
            f"{queue.project.name}, {queue.rubric}, {queue.guideline}. {found.n_judgments:,} judgments on "
            f"{found.n_items:,} items, {found.n_pairable:,} of them with two or more, as of "
            f"{kept.counted_at:%-d %B %Y, %H:%M:%S} UTC."
        ),
        methods=methods(found),
        readings=found.readings,
        tables=[table for table in (*_tables(found), *_with_themselves(kept.within)) if table.rows],
    )


def methods(found: QueueAgreement) -> str:
    """Which statistic, which units, which interval, in sentences that fit into a paper."""
    alphas = dict.fromkeys(entry.alpha.statistic for entry in found.entries if entry.alpha.statistic)
    units = dict.fromkeys(plural(entry.unit) for entry in found.criteria)
    intervals = dict.fromkeys(entry.alpha.method for entry in found.entries if entry.alpha.low is not None)
    left_out = f" {found.n_left_out:,} judgments of gold items, dealt blind, are left out." if found.n_left_out else ""
    return (
        f"Agreement was computed from judgments submitted before any adjudication of the item, each rater's latest "
        f"revision.{left_out} Units are {_listed(list(units))} with two or more ratings; scales are those declared in "
        f"the rubric, and “unsure” counts as missing. Reported are {_listed(list(alphas))}, percent agreement, and "
        f"Gwet's AC1 (nominal) or AC2 with quadratic weights (ordinal). Intervals: "
        f"{_listed(list(intervals)) or 'none'}. Pairs of raters are compared by Cohen's kappa with the standard error "
        f"of Fleiss, Cohen and Everitt. Figures on fewer than {found.floor} units are not given."
    )


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + f" and {words[-1]}" if words else ""


def _tables(found: QueueAgreement) -> Iterator[Table]:
    yield Table(
        "Criterion by criterion",
        ["Criterion", "Kind", "Unit", ALPHA, "Same [95%]", "AC [95%]", "n", "Pairs", "Raters", "Differ"],
        [_of_criterion(entry) for entry in found.entries],
        " ".join(f"{entry.title}: {entry.level}" for entry in found.entries),
    )
    for entry in found.entries:
        yield from _details(entry)
    yield Table(
        "Steps cited as evidence",
        ["Measure", "Value [95%]", "Runs and criteria"],
        [[e.statistic, words(e), str(e.n_units)] for e in (found.evidence.f1, found.evidence.alpha)]
        if found.evidence.n_citations
        else [],
        found.evidence.f1.words,
    )
    yield Table(
        "Rater by rater, over all criteria",
        ["Rater", "Items", "Same as the majority of the others [95%]"],
        [[rater.rater, str(rater.n_items), words(rater.with_others)] for rater in found.raters],
    )


def _with_themselves(within: Within) -> Iterator[Table]:
    yield Table(
        "Raters with themselves",
        ["Question", "Unit", "Same [95%]", ALPHA, "n", "Raters"],
        [
            [e.title, e.unit, words(e.percent), words(e.alpha), str(e.percent.n_units), str(e.percent.n_raters)]
            for e in within.criteria
            if within.n_repeats
        ],
        f"{within.n_repeats:,} items came to the same rater a second time, unmarked. They count for nothing else.",
    )


def _of_criterion(entry: CriterionAgreement) -> list[str]:
    alpha = entry.alpha
    return [
        entry.title,
        entry.kind.replace("_", " "),
        entry.unit,
        words(alpha),
        words(entry.percent),
        words(entry.ac),
        *(str(number) for number in (alpha.n_units, alpha.n_pairs, alpha.n_raters, entry.n_disagreed)),
    ]


def _details(entry: CriterionAgreement) -> Iterator[Table]:
    if isinstance(entry, StepAgreement):
        yield Table(
            f"{entry.title}: place",
            ["Measure", "Value [95%]", "n"],
            [[name, words(e), str(e.n_units)] for name, e in (
                ("There is one or not, nominal alpha", entry.named),
                ("Exactly the same step", entry.percent),
                ("Within one step", entry.within_one),
            )],
        )  # fmt: skip
    yield Table(
        f"{entry.title}: by part",
        ["Part", ALPHA, "Same [95%]", "n", "Pairs", "Differ"],
        [
            [f"{c.dimension} {c.part}", words(c.alpha), words(c.percent), str(c.alpha.n_units), str(c.alpha.n_pairs),
             str(c.n_items)]
            for c in entry.cuts
            if c.percent.defined
        ],
        _small_parts(sum(not c.percent.defined for c in entry.cuts)),
    )  # fmt: skip
    yield Table(
        f"{entry.title}: pair by pair",
        ["Raters", "Cohen's κ [95%]", "Same [95%]", "n", "Differ"],
        [
            [f"{p.first} and {p.second}", words(p.kappa), words(p.percent), str(p.n), str(p.n_items)]
            for p in entry.pairs
        ],
    )
    yield Table(
        f"{entry.title}: rater by rater",
        ["Rater", "n", "Same as the majority of the others [95%]", f"{ALPHA} without", f"Change of {ALPHA}"],
        [[r.rater, str(r.n), words(r.with_rest), words(r.alpha_without), words(r.change)] for r in entry.raters],
    )
    if entry.strength:
        yield Table(
            f"{entry.title}: by how much",
            ["Measure", "Value [95%]", "n"],
            [[entry.strength.statistic, words(entry.strength), str(entry.strength.n_units)]],
            entry.strength.words,
        )
    if entry.confusions:
        yield Table(
            f"{entry.title}: what is mixed up",
            ["One says", "Another says", "Items"],
            [[mixed.first, mixed.second, str(mixed.n_items)] for mixed in entry.confusions],
        )
    if entry.preferring:
        place = entry.preferring
        test = place.test.words if place.test.p is None else f"p {small(place.test.p)}, {place.test.method}"
        yield Table(
            f"{entry.title}: place and order",
            ["Measure", "Value [95%]", "n"],
            [
                [place.left_wins.statistic, f"{words(place.left_wins)} ({test})", str(place.left + place.right)],
                ["Cyclic triads", words(place.cyclic), str(place.n_triads)],
            ],
        )

    if entry.models:
        yield Table(
            f"{entry.title}: which model is preferred",
            ["Model", "Wins against the average [95%]", "Strength [95%]", "Won", "Level", "Lost", "Items"],
            [
                [m.model, words(m.wins), words(m.strength), str(m.won), str(m.tied), str(m.lost), str(m.n_items)]
                for m in entry.models.models
            ],
            entry.models.words or f"Where one of the two wins. {entry.models.models[0].wins.method}.",
        )
        yield Table(
            f"{entry.title}: every two models",
            ["Models", "The first wins [95%]", "Comparisons"],
            [
                [f"{pair.first} against {pair.second}", words(pair.wins), str(pair.n)]
                for pair in entry.models.pairs
                if not entry.models.words
            ],
        )


def _small_parts(number: int) -> str:
    if not number:
        return ""
    return f"{number} more part{' has' if number == 1 else 's have'} fewer units than the floor."


def words(estimate: Estimate | None) -> str:
    """ "0.52 [0.44, 0.60]", or a dash."""
    if estimate is None or estimate.value is None:
        return DASH
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.2f}"
    return f"{estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]"


def as_markdown(report: Report) -> str:
    """The report in Markdown, its tables as GitHub reads them."""
    parts = [f"# {_plain(report.title)}", _plain(report.of)]
    if report.readings:
        parts += ["## What stands out", "\n".join(f"- {_plain(reading)}" for reading in report.readings)]
    for table in report.tables:
        lines = [_row(table.head), _row(["---", *["--:"] * (len(table.head) - 1)], plain=False)]
        parts += [f"## {_plain(table.title)}", "\n".join([*lines, *(_row(row) for row in table.rows)])]
        if table.note:
            parts.append(_plain(table.note))
    return "\n\n".join([*parts, "## Methods", _plain(report.methods)]) + "\n"


def _row(cells: Sequence[str], *, plain: bool = True) -> str:
    return f"| {' | '.join(_plain(cell) if plain else cell for cell in cells)} |"


# What people typed must not turn into markup.
MARKS = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_{}<>|#"} | {"\n": " ", "\r": " "})


def _plain(text: str) -> str:
    return text.translate(MARKS)
