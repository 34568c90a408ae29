"""The calibration bundle: what is needed to tell how well a grader judges as the experts do.

Each line is an item with every rater's judgment under a pseudonym, the label, what graders said, and its weight in the
sample. `docs/schemas/calibration-bundle.json` describes it.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import Any

from goldsets.stats.proportion import Clusters, wilson_of_clusters
from goldsets.writers.chat import bare, messages_of
from goldsets.writers.document import TEXT, Document, Run, Said, Words
from goldsets.writers.examples import Reading
from goldsets.writers.format import Format
from goldsets.writers.label_row import gates_of_item, said

CEILING = {
    "within": "Of all pairs of raters on one item, how many gave the same answer, with items as clusters.",
    "none": "Not told: by the data set's policy judgments stay back, and this is counted from them.",
}
ALL_LEAVE = "Every label that fits the definition of the data set, each once, so each has the weight 1."
SOME_LEAVE = (
    "Of the labels that fit the definition of the data set, its quotas draw so many of each source, by a hash of the "
    "item's id. What was drawn of a source stands for all of it that fits; a source of which nothing was drawn is not "
    "stood for."
)
# Runs that crashed: what they were given says nothing of the agent.
CRASH = "crash"


def rows(document: Document, reading: Reading) -> Iterator[dict[str, Any]]:
    label, words = document.label, reading.words
    _count_ceiling(document, reading)
    yield {
        "item": document.item,
        "kind": document.kind,
        "task": document.task.key,
        "family": document.task.family,
        "split": document.task.split,
        "weight": _weight(document, words),
        "double_coded": label.judgment_count > 1,
        "label": {
            "uid": label.uid,
            "basis": label.basis,
            "gates_pass": gates_of_item(document, words),
            "values": [said(value, words) for value in label.values],
        },
        "judgments": [
            {
                "rater": judged.rater,
                "tier": judged.tier,
                "confidence": judged.confidence,
                "values": [said(value, words) for value in judged.values],
            }
            for judged in document.judgments
        ],
        "grader_scores": [*_registered(document), *_from_sources(document)],
        "outcome_rewards": [run.outcome.reward if run.outcome else None for run in document.runs],
        "runs": [[bare(message) for message in messages_of(run.steps)] for run in document.runs],
    }


def _weight(document: Document, words: Words) -> float:
    """The inverse of the label's chance to be drawn."""
    found = words.drawn.get(document.provenance)
    return found["fit"] / found["drawn"] if found else 1.0


def _registered(document: Document) -> Iterator[dict[str, Any]]:
    """What registered graders and judges said of the item."""
    for score in document.graded:
        yield {
            "run": 1 if document.kind == "trajectory" else None,
            "grader": score.grader,
            "version": score.version,
            "criterion": score.criterion,
            "attempt": score.attempt,
            "order": score.order,
            "value": score.value,
            "explanation": score.explanation,
        }


def _from_sources(document: Document) -> Iterator[dict[str, Any]]:
    """What came in with the runs or was said of them later, unless a registered grader has it for its own."""
    adopted = {score.source for score in document.graded}
    for run in document.runs:
        attempts = Counter[str]()
        for grader, value, explanation in _said_of(run):
            attempts[grader] += 1
            if grader not in adopted:
                yield {
                    "run": run.position,
                    "grader": grader,
                    "version": None,
                    "criterion": "",
                    "attempt": attempts[grader],
                    "order": "as_shown",
                    "value": value,
                    "explanation": explanation,
                }


def _said_of(run: Run) -> Iterator[tuple[str, Any, str]]:
    """Grader, value and explanation, oldest first."""
    if run.outcome and run.outcome.result == CRASH:
        return
    data = run.outcome.data if run.outcome else None
    came = data.get("scores") if isinstance(data, dict) else None
    for score in came if isinstance(came, list) else ():
        if isinstance(score, dict) and isinstance(score.get("grader"), str):
            yield score["grader"], score.get("value"), str(score.get("explanation") or "")
    for later in run.scores:
        yield later.grader, later.value, later.explanation


def _count_ceiling(document: Document, reading: Reading) -> None:
    """How often two raters of one item say the same: no grader can be held to more than that.

    Pairs of one item hang together, so sums over items are kept from which the interval follows.
    """
    told = [_comparable(judged.values, reading.words) for judged in document.judgments]
    pairs, alike = Counter[str](), Counter[str]()
    for one, other in combinations(told, 2):
        for key in one.keys() & other.keys():
            pairs[key] += 1
            alike[key] += one[key] == other[key]
    for key, n in pairs.items():
        right = alike[key]
        sums = {"items": 1, "alike": right, "pairs": n, "squares": right**2, "products": right * n, "squares_n": n**2}
        for name, number in sums.items():
            reading.counts[f"{name} {key}"] += number


def _comparable(values: list[Said], words: Words) -> dict[str, Any]:
    return {
        f"{words.questions[value.criterion].key}": (value.value, value.number, value.choices, value.ranks, value.tie)
        for value in values
        if value.candidate is None and words.questions[value.criterion].kind != TEXT
    }


def ceiling(counts: Counter[str]) -> dict[str, Any]:
    keys = sorted(name.removeprefix("pairs ") for name in counts if name.startswith("pairs "))
    return {key: _share({name: counts[f"{name} {key}"] for name in SUMS}) for key in keys}


SUMS = ("items", "alike", "pairs", "squares", "products", "squares_n")


def _share(sums: dict[str, int]) -> dict[str, Any]:
    """`low` and `high` are null for a single item."""
    found = wilson_of_clusters(
        Clusters(*(sums[name] for name in SUMS)),
    )
    return {
        "alike": sums["alike"],
        "pairs": sums["pairs"],
        "items": sums["items"],
        "share": round(sums["alike"] / sums["pairs"], 4),
        "low": None if found.low is None else round(found.low, 4),
        "high": None if found.high is None else round(found.high, 4),
        "method": found.method,
    }


def beside(reading: Reading, files: list[str]) -> dict[str, Any]:
    return {
        "calibration_bundle.json": {
            "bundle": "calibration",
            "version": 1,
            "items": files,
            "sampling": {
                "how": SOME_LEAVE if reading.words.drawn else ALL_LEAVE,
                "weights": "the inverse of each label's chance to be drawn",
                "sources": [{"source": source} | found for source, found in reading.words.drawn.items()],
            },
            "human_ceiling": {
                "how": CEILING[reading.policies.raters],
                "by_criterion": ceiling(reading.counts),
            },
            "rubrics": [
                {"name": rubric.name, "version": rubric.version, "criteria": rubric.criteria}
                for rubric in reading.words.rubrics.values()
            ],
        }
    }


FORMATS = [Format(name="calibration", stem="calibration_items", rows=rows, beside=beside, graded=True)]
