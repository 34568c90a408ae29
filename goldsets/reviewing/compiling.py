"""Compiles labels into a reviewer with its proof, or into a refusal that says what is missing."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from goldsets.reviewing.assurance import Assurance, Demands
from goldsets.reviewing.cascade import fit_cascade
from goldsets.reviewing.classifier import fit
from goldsets.reviewing.examples import Example, Target
from goldsets.reviewing.families import Part, split_families
from goldsets.reviewing.grounds import ceiling, enough, leaks
from goldsets.reviewing.judge_rung import Asking, calibrate
from goldsets.reviewing.proofs import prove


@dataclass(frozen=True)
class Compiled:
    """What came out. There is no reviewer where the labels could not even be fitted."""

    reviewer: dict[str, Any] | None
    assurance: Assurance
    families: Mapping[Part, list[str]]


def compile_reviewer(
    examples: Sequence[Example],
    target: Target,
    *,
    demands: Demands | None = None,
    seed: str = "",
    sealed: Collection[str] = (),
    certifying: Collection[str] = (),
    rules: Sequence[Mapping[str, Any]] = (),
    cascade: bool = False,
    judge: Mapping[str, Any] | None = None,
    shown: Collection[str] = (),
    asking: Asking | None = None,
    tell: Callable[[str], None] = lambda stage: None,
) -> Compiled:
    """The rung of rules where rules are given, with a classifier behind them in a cascade; of the judge where one is,
    else the classifier.

    `judge` is what a judge asks by; what it said stands in the examples, and `asking` asks it about others. Families
    that are `shown` to it with their answers serve for nothing.

    Nothing is fitted where there are too few labels, where they leak, or where the experts disagree too much. `tell`
    hears what is done next, and stops it by raising.
    """
    demands = demands or Demands()
    told = [example for example in examples if example.family in shown]
    examples = [example for example in examples if example.family not in shown]
    parts = split_families(examples, seed=seed, sealed=sealed, certifying=certifying)
    families = {part: sorted({example.family for example in found}) for part, found in parts.items()}
    proofs = [enough(examples, parts, demands), ceiling(examples, demands), leaks(parts, told)]
    if any(proof.holds is False for proof in proofs):
        return Compiled(None, Assurance(tuple(proofs), demands), families)
    tell("Fitting")
    if cascade:
        fitted = parts[Part.TRAIN], parts[Part.DEVELOPMENT]
        reviewer: dict[str, Any] = fit_cascade(rules, *fitted, keeps_from=1 - demands.risk)
    elif rules:
        reviewer = {"kind": "rules", "rules": list(rules), "thresholds": {"pass": None, "fail": None}}
    elif judge is not None:
        reviewer = {
            "kind": "judge",
            "judge": dict(judge),
            "only": target.at_least if target.is_choice else None,
            "thresholds": {"pass": None, "fail": None},
            **calibrate([*parts[Part.TRAIN], *parts[Part.DEVELOPMENT]]),
        }
    else:
        reviewer = fit(parts[Part.TRAIN], parts[Part.DEVELOPMENT])
    tell("Proving")
    reviewer, found = prove(reviewer, parts, target, demands, asking=asking)
    return Compiled(reviewer, Assurance((*proofs, *found), demands), families)
