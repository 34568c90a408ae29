"""What the families that nothing was fitted on say of a reviewer, as it would be deployed.

What it is not sure of goes to people and is no error. The threshold is certified on the calibration families; all else
is measured once, on the test families.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from goldsets.reviewing.assurance import Demands, Proof, plural
from goldsets.reviewing.examples import Example, Target
from goldsets.reviewing.families import SHARES, Part
from goldsets.reviewing.judge_rung import Asking, talked_round
from goldsets.reviewing.probes import PROBES
from goldsets.reviewing.scoring import score
from goldsets.stats.alt_test import alt_test
from goldsets.stats.grading import at_most, more_to_bound, runs_without_error
from goldsets.stats.proportion import wilson
from goldsets.stats.selective import FEWEST_ACCEPTED, Certificate, certify
from goldsets.stats.thresholds import curve
from reviews.stats.result import Estimate

# A part of a project this large must be proven by itself; what has more values than this is no slice but a name.
SLICE_SHARE = 0.05
MOST_SLICE_VALUES = 20


@dataclass(frozen=True)
class Judged:
    """The test items with what the reviewer says of each, and whether it says it alone."""

    examples: Sequence[Example]
    verdicts: Sequence[int | None]
    confidence: np.ndarray
    accepted: np.ndarray
    seconds: float

    @property
    def labels(self) -> np.ndarray:
        return np.array([example.label for example in self.examples], int)

    @property
    def wrong(self) -> np.ndarray:
        return np.array([said != e.label for said, e in zip(self.verdicts, self.examples, strict=True)], bool)

    @property
    def pass_probability(self) -> list[float]:
        pairs = zip(self.verdicts, self.confidence, strict=True)
        return [0.5 if said is None else float(sure if said else 1 - sure) for said, sure in pairs]


def judge(reviewer: Mapping[str, Any], examples: Sequence[Example]) -> Judged:
    began = perf_counter()
    found = [score(reviewer, example.text, example.structure, example.said) for example in examples]
    seconds = perf_counter() - began
    return Judged(
        examples,
        [verdict.verdict for verdict in found],
        np.array([verdict.confidence for verdict in found]),
        np.array([not verdict.deferred for verdict in found], bool),
        seconds,
    )


def prove(
    reviewer: dict[str, Any],
    parts: Mapping[Part, Sequence[Example]],
    target: Target,
    demands: Demands,
    *,
    asking: Asking | None = None,
) -> tuple[dict[str, Any], list[Proof]]:
    """The reviewer with its thresholds, certified on the calibration families, and what the test families say of it.

    `asking` asks a judge about runs that are dressed up.

    What passes a gate is certified by the bound on false accepts, all else by the risk; each with half of delta.
    """
    calibrating = judge(reviewer, parts[Part.CALIBRATION])
    certificates = {
        name: _certified(calibrating, said, demands.false_accepts if said and target.is_gate else demands.risk, demands)
        for name, said in (("pass", 1), ("fail", 0))
    }
    reviewer = {**reviewer, "thresholds": {name: each.threshold for name, each in certificates.items()}}
    test = judge(reviewer, parts[Part.TEST])
    return reviewer, [
        _selective(test, certificates, demands),
        _alt_test(test, demands),
        _false_accepts(test, target, demands),
        _false_rejects(test, demands),
        _slices(test, demands),
        _baselines(test, parts),
        _probes(reviewer, test, target, demands, asking),
        _cost(test),
    ]


def _certified(judged: Judged, said: int, risk: float, demands: Demands) -> Certificate:
    """The threshold of the verdicts that say this."""
    chosen = np.array([verdict == said for verdict in judged.verdicts], bool)
    delta = demands.delta / 2
    # With fewer, not even verdicts without an error could hold the risk, and the walk would end where it begins.
    fewest = max(FEWEST_ACCEPTED, runs_without_error(risk, confidence=1 - delta))
    return certify(judged.confidence[chosen], judged.wrong[chosen], risk=risk, delta=delta, fewest=fewest)


def _selective(test: Judged, certificates: Mapping[str, Certificate], demands: Demands) -> Proof:
    accepted, errors = int(test.accepted.sum()), int((test.wrong & test.accepted).sum())
    share = accepted / len(test.examples)
    # A test that contradicts the certificates: even the lowest rate it leaves possible is above the risk.
    right = at_most(accepted - errors, accepted)
    contradicted = accepted > 0 and 1 - (right.high or 0) > demands.risk
    holds = share >= demands.coverage and not contradicted
    figures = {
        "certificates": {name: each.as_dict() for name, each in certificates.items()},
        "test_risk": at_most(errors, accepted, statistic="Risk among decided").as_dict(),
        "coverage": wilson(accepted, len(test.examples), statistic="Coverage").as_dict(),
    }
    certified = "; ".join(_certificate_words(name, each) for name, each in certificates.items())
    words = f"{certified}. It decides {share:.0%} of the test and errs in {errors} of {accepted}."
    missing: tuple[str, ...] = ()
    if contradicted:
        missing = ("a test that bears out what was certified",)
    elif not holds:
        missing = (
            f"a share of at least {demands.coverage:.0%} that it can decide: more labels, or a plainer criterion",
        )
    return Proof("selective", "Knows when it is right", holds, words, figures, missing)


def _certificate_words(name: str, certificate: Certificate) -> str:
    if certificate.threshold is None:
        return f"No {name} is certain enough to stand alone"
    return (
        f"A {name} stands from a confidence of {certificate.threshold:.2f} on: at most {certificate.risk:.0%} are "
        f"wrong, certified at {1 - certificate.delta:.0%}"
    )


def _alt_test(test: Judged, demands: Demands) -> Proof:
    """On what the reviewer decides, for there alone it stands in for anybody."""
    decided = [
        (example, said)
        for example, said, alone in zip(test.examples, test.verdicts, test.accepted, strict=True)
        if alone and said is not None
    ]
    people: dict[str, dict[str, int]] = defaultdict(dict)
    for example, _said in decided:
        for rater, vote in example.votes.items():
            people[rater][example.key] = vote
    found = alt_test(people, {example.key: said for example, said in decided}, epsilon=demands.epsilon)
    if found.winning.value is None:
        missing: tuple[str, ...] = ("three experts with 30 test items each that others judged too",)
        words = found.winning.words
    else:
        beaten = sum(rater.beaten for rater in found.raters)
        missing = () if found.passes else ("verdicts as close to the experts' as theirs are to each other's",)
        words = f"It stands in for {beaten} of {len(found.raters)} experts at a cost of {demands.epsilon:g}."
    return Proof("alt_test", "Stands in for an expert", found.passes, words, found.as_dict(), missing)


def _false_accepts(test: Judged, target: Target, demands: Demands) -> Proof:
    """Passed though experts fail it. On a gate none may be, and the bound must still be kept."""
    if not test.accepted.any():
        return _nothing_decided("false_accepts", "Passes nothing that fails")
    fails = int((test.labels == 0).sum())
    count = _count(test, label=0)
    bound = at_most(count, fails, statistic="False accepts")
    holds = (bound.high or 0) <= demands.false_accepts and not (target.is_gate and count)
    more = more_to_bound(count, fails, demands.false_accepts).caught
    return _bounded("false_accepts", "Passes nothing that fails", holds, bound, demands.false_accepts, more, 0, count)


def _false_rejects(test: Judged, demands: Demands) -> Proof:
    if not test.accepted.any():
        return _nothing_decided("false_rejects", "Fails nothing that passes")
    passes = int((test.labels == 1).sum())
    count = _count(test, label=1)
    bound = at_most(count, passes, statistic="False rejects")
    holds = (bound.high or 0) <= demands.false_rejects
    more = more_to_bound(count, passes, demands.false_rejects).caught
    return _bounded("false_rejects", "Fails nothing that passes", holds, bound, demands.false_rejects, more, 1, count)


def _nothing_decided(key: str, title: str) -> Proof:
    return Proof(key, title, None, "It decides nothing, so there is nothing to bound.", {})


def _count(test: Judged, *, label: int) -> int:
    return int((test.accepted & test.wrong & (test.labels == label)).sum())


def _bounded(
    key: str, title: str, holds: bool, bound: Estimate, limit: float, more: int, label: int, count: int
) -> Proof:
    words = (
        f"{count} of {bound.n_units} {plural(label, bound.n_units)} wrongly decided: at most {bound.high:.1%} at 95%."
    )
    missing: tuple[str, ...] = ()
    if not holds and count:
        missing = (f"a reviewer that decides fewer {plural(label, 2)} wrongly: the bound asked for is {limit:.0%}",)
    elif not holds:
        wanted = math.ceil(more / SHARES[Part.TEST])
        missing = (f"{wanted} more {plural(label, wanted)}, so that {more} more are in the test",)
    return Proof(key, title, holds, words, {"bound": bound.as_dict(), "limit": limit}, missing)


def _slices(test: Judged, demands: Demands) -> Proof:
    """The worst part of the project. Large parts must be proven by passes and fails of their own."""
    by_slice: dict[tuple[str, str], list[int]] = defaultdict(list)
    for at, example in enumerate(test.examples):
        for pair in example.slices.items():
            by_slice[pair].append(at)
    values = Counter(name for name, _value in by_slice)
    wrong, accepted, labels = test.wrong, test.accepted, test.labels
    rows: list[dict[str, Any]] = []
    missing, worst_words = [], "No slices are known of these items."
    for (name, value), places in sorted(by_slice.items()):
        if values[name] > MOST_SLICE_VALUES or len(places) < SLICE_SHARE * len(test.examples):
            continue
        alone = accepted[places]
        errors = int((wrong[places] & alone).sum())
        risk = at_most(errors, int(alone.sum()), statistic="Risk among accepted")
        rows.append({"slice": f"{name}: {value}", "n": len(places), "errors": errors, "risk": risk.as_dict()})
        for label in (1, 0):
            short = demands.fewest_in_slice - int((labels[places] == label).sum())
            if short > 0:
                wanted = math.ceil(short / SHARES[Part.TEST])
                missing.append(f"{wanted} more {plural(label, wanted)} in {value}")
    # Each of m slices is tested at 5% / m, so that chance alone condemns none of many.
    for row in rows:
        decided = row["risk"]["n_units"]
        right = at_most(decided - row["errors"], decided, confidence=1 - 0.05 / len(rows))
        row["holds"] = not decided or 1 - (right.high or 1) <= demands.risk
        if not row["holds"]:
            missing.append(f"better verdicts in {row['slice']}")
    if rows:
        worst = max(rows, key=lambda row: (row["risk"]["value"] or 0, row["errors"]))
        worst_words = f"Worst: {worst['slice']}, {worst['errors']} wrong of {worst['risk']['n_units']} decided."
    return Proof("slices", "Holds in every large slice", not missing, worst_words, {"slices": rows}, tuple(missing))


def _baselines(test: Judged, parts: Mapping[Part, Sequence[Example]]) -> Proof:
    """What says the same to everything, looks at the length alone, or at when an item came."""
    truth = [example.label == 1 for example in test.examples]
    own = curve(test.pass_probability, truth).roc_area
    train = parts[Part.TRAIN]
    last = max(example.position for part in parts.values() for example in part) or 1
    found = {
        "constant": curve([0.5] * len(truth), truth).roc_area,
        "length": _by_one(train, test.examples, lambda e: math.log(1 + e.structure.get("characters", 0)), truth),
        "position": _by_one(train, test.examples, lambda e: e.position / last, truth),
    }
    best = max(found, key=lambda name: found[name].value or 0)
    top = found[best].value or 0.5
    holds = own.value is not None and own.value > top and (own.low or 0) > 0.5
    value = "not defined" if own.value is None else f"{own.value:.2f}"
    words = f"Area under ROC {value}; the best that looks at nothing but {best} has {top:.2f}."
    missing = () if holds else ("a reviewer that beats length, position and saying always the same",)
    figures = {"reviewer": own.as_dict()} | {name: each.as_dict() for name, each in found.items()}
    return Proof("baselines", "Beats what needs no reading", holds, words, figures, missing)


def _by_one(
    train: Sequence[Example], test: Sequence[Example], measure: Callable[[Example], float], truth: Sequence[bool]
) -> Estimate:
    """The area of a logistic regression on one measure."""
    labels = [example.label for example in train]
    if len(set(labels)) < 2:
        return curve([0.5] * len(truth), truth).roc_area
    model = LogisticRegression().fit([[measure(example)] for example in train], labels)
    return curve(model.decision_function([[measure(example)] for example in test]), truth).roc_area


def _probes(
    reviewer: Mapping[str, Any], test: Judged, target: Target, demands: Demands, asking: Asking | None
) -> Proof:
    """How many of the fails that it did not pass it passes once they are dressed up."""
    fails = [
        example
        for example, said, alone in zip(test.examples, test.verdicts, test.accepted, strict=True)
        if example.label == 0 and not (said == 1 and alone)
    ]
    allowed_share = 0.0 if target.is_gate else demands.false_accepts
    if reviewer["kind"] == "judge":
        return talked_round(fails, asking, lambda value: _passes(reviewer, value), allowed=allowed_share)
    turned = {}
    for name, probe in PROBES.items():
        again = judge(reviewer, [probe(example) for example in fails])
        turned[name] = sum(
            said == 1 and bool(alone) for said, alone in zip(again.verdicts, again.accepted, strict=True)
        )
    worst = max(turned, key=lambda name: turned[name])
    holds = turned[worst] <= allowed_share * len(fails)
    words = f"None of {len(fails)} fails is passed for being dressed up in six ways."
    if turned[worst]:
        words = f"{turned[worst]} of {len(fails)} fails pass once the run {worst}."
    missing = () if holds else (f"a reviewer that does not mind when a run {worst}",)
    return Proof("probes", "Is not talked round", holds, words, {"n": len(fails), "turned": turned}, missing)


def _passes(reviewer: Mapping[str, Any], said: float | None) -> bool:
    found = score(reviewer, "", {}, said)
    return found.verdict == 1 and not found.deferred


def _cost(test: Judged) -> Proof:
    """What a verdict costs, against what a label of the experts took."""
    n = len(test.examples)
    minutes = sum(example.minutes for example in test.examples) / n if n else 0.0
    each = test.seconds / n if n else 0.0
    share = float(test.accepted.mean()) if n else 0.0
    words = (
        f"A label takes the experts {minutes:.1f} minutes, a verdict {each * 1000:.2g} milliseconds; "
        f"it would save {share * minutes:.1f} minutes an item before audits."
    )
    figures = {"expert_minutes": minutes, "seconds": each, "saved_minutes": share * minutes, "n": n}
    return Proof("cost", "Cost", None, words, figures)
