"""Whether a grader still says what experts say: as training goes on, week by week, and on runs it was not trained on.

What is known of where a run comes from stands in its score's `meta`: "checkpoint" and "training_step" of the policy,
"kl" to where it began, "split" (train or held_out) and "evidence" (offline or online).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from goldsets.stats.calibration import Graded, plain
from goldsets.stats.parting import Part, Parting, Watched, drift, watched
from goldsets.stats.proportion import difference
from reviews.stats.result import Estimate, Reason, without_interval

# More parts nobody reads; the last are kept.
MOST_PARTS = 60
OFFLINE, ONLINE = "offline", "online"
TRAIN, HELD_OUT = "train", "held_out"


@dataclass(frozen=True)
class Apart:
    """Runs of two kinds that are never put together: how the grader and the experts do on each, and what changes.

    `experts` says how much more of the second kind experts pass: below zero, what was learnt does not carry over.
    `gap` says how much more the grader flatters the second kind.
    """

    name: str
    first: Parting
    second: Parting
    experts: Estimate
    gap: Estimate
    words: str

    @property
    def parts(self) -> tuple[Parting, Parting]:
        return self.first, self.second


@dataclass(frozen=True)
class Watch:
    """`distance` says what the checkpoints' distance is: "kl" for its square root, "step", or "" where not known."""

    checkpoints: Watched
    distance: str
    n_without_checkpoint: int
    weeks: Watched
    apart: tuple[Apart, ...]

    @property
    def rang(self) -> bool:
        return self.checkpoints.alarm.rang or self.weeks.alarm.rang

    def as_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        return {each.name: plain(getattr(self, each.name)) for each in fields(self)} | {"rang": self.rang}


def watch(rows: Sequence[Graded], threshold: float) -> Watch:
    """Of the rows those count that both judged: each gap is on the same runs."""
    labelled = [row for row in rows if row.truth is not None]
    placed = [row for row in labelled if checkpoint_of(row.meta)]
    distance = _distance_of(placed)
    checkpoints = _parts(placed, lambda row: checkpoint_of(row.meta), threshold, distance)
    weeks = _parts(labelled, lambda row: row.week, threshold, "")
    return Watch(
        checkpoints=watched(checkpoints[-MOST_PARTS:]),
        distance=distance,
        n_without_checkpoint=len(labelled) - len(placed),
        weeks=watched(weeks[-MOST_PARTS:]),
        apart=tuple(
            found
            for found in (
                _apart("Training against held-out", labelled, split_of, (TRAIN, HELD_OUT), threshold),
                _apart("Offline against online", labelled, evidence_of, (OFFLINE, ONLINE), threshold),
            )
            if found
        ),
    )


# --- Where a run comes from -------------------------------------------------------------------------------------------
def checkpoint_of(meta: Mapping[str, Any]) -> str:
    named, step = meta.get("checkpoint"), _number(meta.get("training_step"))
    if named not in (None, ""):
        return str(named)
    return "" if step is None else f"step {step:g}"


def split_of(row: Graded) -> str:
    """Of a family that was dealt its split, else what came with the score."""
    return row.split or str(row.meta.get("split") or "")


def evidence_of(row: Graded) -> str:
    return str(row.meta.get("evidence") or "")


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _distance_of(rows: Sequence[Graded]) -> str:
    """KL where every run has it, else the training step where every run has that."""
    for name, said in (("kl", "kl"), ("training_step", "step")):
        if rows and all(_number(row.meta.get(name)) is not None for row in rows):
            return said
    return ""


# --- Parts ------------------------------------------------------------------------------------------------------------
def _parts(rows: Iterable[Graded], name_of: Callable[[Graded], str], threshold: float, distance: str) -> list[Part]:
    """In the order of training steps, then of KL, then of names as people count: 9 before 10."""
    grouped: dict[str, list[Graded]] = defaultdict(list)
    for row in rows:
        grouped[name_of(row)].append(row)
    return [
        _part(name, grouped[name], threshold, distance)
        for name in sorted(grouped, key=lambda one: _place(one, grouped[one]))
    ]


def _place(name: str, rows: Sequence[Graded]) -> tuple[float, float, str]:
    far = float("inf")
    steps = [step for row in rows if (step := _number(row.meta.get("training_step"))) is not None]
    kls = [kl for row in rows if (kl := _number(row.meta.get("kl"))) is not None]
    digits = "".join(f"{int(part):012}" if part.isdigit() else part for part in _runs_of_digits(name))
    return (sum(steps) / len(steps) if steps else far, sum(kls) / len(kls) if kls else far, digits)


def _runs_of_digits(name: str) -> list[str]:
    parts: list[str] = []
    for letter in name:
        if parts and parts[-1].isdecimal() == letter.isdecimal():
            parts[-1] += letter
        else:
            parts.append(letter)
    return parts


def _part(name: str, rows: Sequence[Graded], threshold: float, distance: str) -> Part:
    key = {"kl": "kl", "step": "training_step"}.get(distance)
    far = [value for row in rows if key and (value := _number(row.meta.get(key))) is not None]
    middle = sum(far) / len(far) if far else None
    if middle is not None and distance == "kl":
        middle = drift(middle)
    return Part(name, tuple(row.score >= threshold for row in rows), tuple(bool(row.truth) for row in rows), middle)


# --- Two kinds apart --------------------------------------------------------------------------------------------------
def _apart(
    name: str, rows: Sequence[Graded], kind_of: Callable[[Graded], str], kinds: tuple[str, str], threshold: float
) -> Apart | None:
    """None where there are not runs of both kinds."""
    of_kind = [[row for row in rows if kind_of(row) == kind] for kind in kinds]
    if not all(of_kind):
        return None
    named = [kind.replace("_", " ") for kind in kinds]
    first, second = watched([_part(kind, rows, threshold, "") for kind, rows in zip(named, of_kind, strict=True)]).parts
    experts = difference(first.gold, second.gold, statistic=f"Experts pass, {named[1]} minus {named[0]}")
    gap = _gap_of_gaps(first.gap, second.gap, f"Grader minus experts, {named[1]} minus {named[0]}")
    return Apart(name, first, second, experts, gap, _words(experts, gap, named[1]))


def _gap_of_gaps(first: Estimate, second: Estimate, statistic: str) -> Estimate:
    """Two paired differences of different runs: their errors add up in squares."""
    value = (second.value or 0.0) - (first.value or 0.0)
    bare = Estimate(statistic, value, n_units=first.n_units + second.n_units, method="95% normal")
    ends = first.low, first.high, second.low, second.high
    if any(end is None for end in ends):
        return without_interval(bare, first.reason or second.reason or Reason.UNSTABLE)
    a_low, a_high, b_low, b_high = (end or 0.0 for end in ends)
    reach = (((a_high - a_low) / 2) ** 2 + ((b_high - b_low) / 2) ** 2) ** 0.5
    return Estimate(statistic, value, value - reach, value + reach, bare.n_units, method=bare.method)


def _words(experts: Estimate, gap: Estimate, second: str) -> str:
    said = []
    if experts.high is not None and experts.high < 0:
        said.append(f"Experts pass fewer {second} runs: what was learnt does not carry over.")
    if gap.low is not None and gap.low > 0:
        said.append(f"The grader flatters {second} runs more: its reward cannot stand for them.")
    return " ".join(said) or "No difference beyond chance."
