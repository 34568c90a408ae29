"""The proof of a reviewer as a lead reads it in two minutes: what is missing, each proof in figures, details."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from goldsets.enums import ReviewerState
from goldsets.models import Reviewer
from goldsets.reviewing.families import Part

DASH = "\N{EN DASH}"
# Of each proof the statistics that say most, by their path in its figures, and whether they are shares.
TOLD: dict[str, list[tuple[str, str, bool]]] = {
    "ceiling": [("alpha", "Krippendorff's alpha", False), ("same", "Same answer", True)],
    "selective": [("coverage", "Decided alone", True), ("test_risk", "Wrong of these", True)],
    "alt_test": [("winning", "Experts it stands in for", True), ("advantage", "As close as an expert", True)],
    "false_accepts": [("bound", "Fails passed", True)],
    "false_rejects": [("bound", "Passes failed", True)],
}
BASELINES = {
    "reviewer": "This reviewer",
    "length": "Length alone",
    "position": "Turn alone",
    "constant": "Always the same",
}
PARTS = {
    Part.TRAIN: "Weights",
    Part.DEVELOPMENT: "Choice and calibration",
    Part.CALIBRATION: "Thresholds",
    Part.TEST: "Proof",
}


@dataclass(frozen=True)
class Figure:
    """A statistic in words: never without n and method, and with the reason where it has no value."""

    name: str
    value: str
    interval: str
    n: int
    method: str
    why: str = ""


@dataclass(frozen=True)
class ProofLine:
    key: str
    title: str
    holds: bool | None
    words: str
    missing: list[str]
    figures: list[Figure] = field(default_factory=list)


@dataclass(frozen=True)
class AssuranceReport:
    """`headline` says in a sentence what came out; `tiles` are the four figures to look at first."""

    headline: str
    missing: list[str]
    tiles: list[tuple[str, str]]
    proofs: list[ProofLine]
    baselines: list[Figure]
    slices: list[dict[str, Any]]
    probes: list[tuple[str, int, int]]
    raters: list[dict[str, Any]]
    thresholds: list[tuple[str, str]]
    parts: list[tuple[str, int, str]]
    demands: list[tuple[str, str]]
    cautions: list[str]


def report_of(reviewer: Reviewer) -> AssuranceReport | None:
    """None before anything came out."""
    assurance = reviewer.assurance
    if assurance is None:
        return None
    by_key = {proof["key"]: proof for proof in assurance["proofs"]}
    return AssuranceReport(
        headline=_headline(reviewer, assurance),
        missing=assurance["missing"],
        tiles=_tiles(by_key),
        proofs=[_line(proof) for proof in assurance["proofs"]],
        baselines=_baselines(by_key),
        slices=_slices(by_key),
        probes=_probes(by_key),
        raters=_figures(by_key, "alt_test").get("raters", []),
        thresholds=_thresholds(by_key),
        parts=_parts(reviewer, by_key),
        demands=_demands(assurance.get("demands", {})),
        cautions=list(_cautions(reviewer)),
    )


def _headline(reviewer: Reviewer, assurance: Mapping[str, Any]) -> str:
    failing = sum(proof["holds"] is False for proof in assurance["proofs"])
    asked = sum(proof["holds"] is not None for proof in assurance["proofs"])
    if reviewer.state == ReviewerState.REFUSED:
        fails = f"{failing} of {asked} proofs {'does' if failing == 1 else 'do'} not hold."
        return f"Refused: it is not shown that it judges as the experts do. {fails}"
    if reviewer.state == ReviewerState.SIGNED:
        return f"Signed by {reviewer.signed_by}. All {asked} proofs hold."
    if reviewer.state == ReviewerState.EXPIRED:
        return f"Expired. {reviewer.expired_because}".strip()
    return f"All {asked} proofs hold. It waits for the signature of a lead or admin who did not compile it."


def figure_of(estimate: Mapping[str, Any], name: str, *, share: bool) -> Figure:
    """An `Estimate` that was kept as JSON."""
    value, low, high = estimate.get("value"), estimate.get("low"), estimate.get("high")
    return Figure(
        name=name,
        value=DASH if value is None else _number(value, share=share),
        interval="" if low is None or high is None else f"[{_number(low, share=share)}, {_number(high, share=share)}]",
        n=estimate.get("n_units") or 0,
        method=estimate.get("method", ""),
        why=estimate.get("words", "") if value is None else "",
    )


def _number(value: float, *, share: bool) -> str:
    return f"{value:.1%}" if share else f"{value:.2f}"


def _figures(by_key: Mapping[str, Any], key: str) -> dict[str, Any]:
    return by_key[key]["figures"] if key in by_key else {}


def _line(proof: Mapping[str, Any]) -> ProofLine:
    told = [
        figure_of(proof["figures"][path], name, share=share)
        for path, name, share in TOLD.get(proof["key"], ())
        if path in proof["figures"]
    ]
    return ProofLine(proof["key"], proof["title"], proof["holds"], proof["words"], list(proof["missing"]), told)


def _tiles(by_key: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The four figures to look at first; none before anything was measured."""
    if "selective" not in by_key:
        return []
    accepts, rejects = _figures(by_key, "false_accepts").get("bound"), _figures(by_key, "false_rejects").get("bound")
    coverage = _figures(by_key, "selective")["coverage"]
    saved = _figures(by_key, "cost").get("saved_minutes", 0)
    return [
        (
            _number(coverage["value"] or 0, share=True),
            f"of {coverage['n_units']} items decided alone, the rest goes to people",
        ),
        (_at_most(accepts), f"of {accepts['n_units'] if accepts else 0} fails wrongly passed, at 95%"),
        (_at_most(rejects), f"of {rejects['n_units'] if rejects else 0} passes wrongly failed, at 95%"),
        (f"{saved:.1f} min", "of experts saved an item, before audits"),
    ]


def _at_most(bound: Mapping[str, Any] | None) -> str:
    return DASH if bound is None or bound["high"] is None else f"≤ {_number(bound['high'], share=True)}"


def _baselines(by_key: Mapping[str, Any]) -> list[Figure]:
    found = _figures(by_key, "baselines")
    return [figure_of(found[key], name, share=False) for key, name in BASELINES.items() if key in found]


def _slices(by_key: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The worst first."""
    rows = [
        {**row, "figure": figure_of(row["risk"], row["slice"], share=True)}
        for row in _figures(by_key, "slices").get("slices", [])
    ]
    return sorted(rows, key=lambda row: (row["holds"], -(row["risk"]["value"] or 0), -row["n"]))


def _probes(by_key: Mapping[str, Any]) -> list[tuple[str, int, int]]:
    found = _figures(by_key, "probes")
    return [(name, turned, found["n"]) for name, turned in sorted(found.get("turned", {}).items(), key=lambda p: -p[1])]


def _thresholds(by_key: Mapping[str, Any]) -> list[tuple[str, str]]:
    found = []
    for name, certificate in _figures(by_key, "selective").get("certificates", {}).items():
        words = "never alone: no threshold could be certified"
        if certificate["threshold"] is not None:
            words = (
                f"alone from a confidence of {certificate['threshold']:.2f}: at most {certificate['risk']:.0%} wrong, "
                f"certified at {1 - certificate['delta']:.0%} on {certificate['accepted']} of {certificate['n']}"
            )
        found.append((f"A {name}", words))
    return found


def _parts(reviewer: Reviewer, by_key: Mapping[str, Any]) -> list[tuple[str, int, str]]:
    labels = _figures(by_key, "enough").get("parts", {})
    found = []
    for part, name in PARTS.items():
        said = labels.get(part.value, {})
        words = f"{said.get('pass', 0)} pass, {said.get('fail', 0)} fail"
        found.append((name, len(reviewer.families.get(part.value, [])), words))
    return found


def _demands(demands: Mapping[str, Any]) -> list[tuple[str, str]]:
    names = {
        "risk": "Wrong verdicts among decided, at most",
        "false_accepts": "Bound on false accepts, at most",
        "false_rejects": "Bound on false rejects, at most",
        "coverage": "Decided alone, at least",
        "agreement": "The experts' own alpha, at least",
        "epsilon": "What an expert is worth (epsilon)",
        "delta": "Chance that a certificate is wrong (delta)",
        "fewest_of_class": "Passes and fails, each at least",
        "fewest_in_slice": "Of each in a large slice's proof, at least",
    }
    return [(words, f"{demands[name]:g}") for name, words in names.items() if name in demands]


def _cautions(reviewer: Reviewer) -> Iterator[str]:
    """What a lead must know that no proof says."""
    origins = reviewer.origins
    raters, readings = origins.get("raters", {}), origins.get("earlier_readings", 0)
    thresholds = (reviewer.artefact or {}).get("thresholds", {})
    for said, other in (("pass", "fail"), ("fail", "pass")):
        if thresholds and thresholds[said] is None and thresholds[other] is not None:
            yield f"It gives no {said} alone: what it would {said} goes to people."
    if reviewer.assurance and reviewer.artefact is None:
        yield "Nothing was fitted: the first proofs are about the labels alone."
    if raters.get("simulated"):
        yield f"{raters['simulated']} of its {raters['people']} raters are simulated: it preserves what they say."
    if readings:
        times = "once" if readings == 1 else f"{readings} times"
        yield f"For this decision the proof was read {times} before: each reading tells a little of its families."
