"""How a compiled reviewer judges an item. Needs nothing but Python, so that a reviewer runs wherever Python does.

    python score.py reviewer.json < items.jsonl > verdicts.jsonl

An item is {"id", "text"} or {"id", "steps": [...]}, steps as in Assay's exports of labels, with "tools" where known;
for a judge {"id", "said"}, with its "evidence" where known.

The rule of a classifier, in full:
1. The terms of a text are its words in lower case, `\\w+`, the first `most_terms` of them, as far as in `terms`.
2. A term that stands c times weighs (1 + ln c) times its `idf`; all weights are divided by their Euclidean length.
3. A measure m of the structure gives ln(1 + m), no less than `low` and no more than `high`, less `mean`, over `scale`.
4. z = `intercept` + the sum of value times `weight` over terms and measures.
5. p = 1 / (1 + exp(-(`slope` z + `offset`))) is how likely experts pass the item. The verdict is pass from p = .5
   on; the confidence is p of a pass and 1 - p of a fail.
6. The verdict is deferred to people where the confidence is below the threshold of such verdicts in `thresholds`, where
   that is null, and where less than the share `least_known` of the words is known.
A judge is a model that is asked; "said" of an item is the value that it answered. p = 1 / (1 + exp(-(`slope` v +
`offset`))), with v = 1 where it said the value `only` and 0 where it said another, where there is an `only`, else what
it said. Then as in 5 and 6. An item of which it said nothing is deferred.
Rules are gone through in order; the first whose condition holds gives the verdict, with its own `confidence`, which is
1 unless it is said. An item that none fits is deferred.
A cascade has `rules` and a `classifier`. A rule keeps an item where its confidence is `keeps_from` or more; every other
item goes on to the classifier. The thresholds are those of the cascade, whichever of both gave the verdict.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import exp, log, sqrt
from pathlib import Path
from typing import Any

WORD = re.compile(r"\w+")
MOST_TERMS = 2000
READING = ("get", "list", "find", "search", "read", "look", "check", "view", "show", "fetch", "query", "count")
MEASURES = ("steps", "messages", "calls", "writes", "errors", "repeats", "requests", "characters")
MOST_REASONS = 5


@dataclass(frozen=True)
class Verdict:
    """What a reviewer says of one item: 1 pass, 0 fail, None where no rule fits. `reasons` names what weighed most."""

    verdict: int | None
    confidence: float
    deferred: bool
    reasons: tuple[str, ...] = ()


# --- What an item is to a reviewer ------------------------------------------------------------------------------------
def text_of(item: Mapping[str, Any]) -> str:
    """All words of a run, step by step; a call as `call_NAME` with its arguments, a failed one as `tool_error`."""
    if "steps" not in item:
        return str(item.get("text") or "")
    return "\n".join(part for step in item["steps"] for part in _parts(step) if part)


def _parts(step: Mapping[str, Any]) -> Iterator[str]:
    yield step.get("text") or ""
    call, result = step.get("call"), step.get("result")
    if call:
        yield f"call_{call['name']} {call['arguments']}"
    if result:
        yield f"tool_error {result['text']}" if result["error"] else result["text"]


def structure_of(item: Mapping[str, Any]) -> dict[str, float]:
    """The measures of a run. Of a bare text only its length is known."""
    steps: Sequence[Mapping[str, Any]] = item.get("steps") or ()
    calls = [step["call"] for step in steps if step.get("call")]
    writing = _writing_tools(item.get("tools"))
    asked = Counter((call["name"], call["arguments"]) for call in calls)
    return {
        "steps": len(steps),
        "messages": sum(step["role"] == "agent" and not step.get("call") for step in steps),
        "calls": len(calls),
        "writes": sum(writing.get(call["name"], not call["name"].lower().startswith(READING)) for call in calls),
        "errors": sum(bool(step.get("result") and step["result"]["error"]) for step in steps),
        "repeats": sum(times - 1 for times in asked.values()),
        "requests": sum(step["role"] == "user" for step in steps),
        "characters": len(text_of(item)),
    }


def _writing_tools(tools: Any) -> dict[str, bool]:
    """Which tools change something, of those that say so."""
    tools = json.loads(tools) if isinstance(tools, str) and tools else tools
    found = {}
    for tool in tools if isinstance(tools, list) else ():
        described = tool.get("function", tool) if isinstance(tool, dict) else {}
        if isinstance(described, dict) and described.get("access"):
            found[str(described.get("name"))] = described["access"] == "write"
    return found


def terms_of(text: str, most: int = MOST_TERMS) -> Counter[str]:
    return Counter(WORD.findall(text.lower())[:most])


# --- What a reviewer says ---------------------------------------------------------------------------------------------
def score(reviewer: Mapping[str, Any], text: str, structure: Mapping[str, float], said: float | None = None) -> Verdict:
    """The verdict of any kind of reviewer on one item; `said` is what a judge answered, where it is one."""
    if reviewer["kind"] == "rules":
        return _by_rules(reviewer, text, structure)
    if reviewer["kind"] == "judge":
        return _by_judge(reviewer, said)
    if reviewer["kind"] == "cascade":
        return _by_cascade(reviewer, text, structure)
    return _by_weights(reviewer, text, structure)


def _by_cascade(reviewer: Mapping[str, Any], text: str, structure: Mapping[str, float]) -> Verdict:
    found = _by_rules(reviewer, text, structure)
    if found.verdict is not None and found.confidence >= reviewer["keeps_from"]:
        return found
    return _by_weights({**reviewer["classifier"], "thresholds": reviewer["thresholds"]}, text, structure)


def _by_judge(reviewer: Mapping[str, Any], said: float | None) -> Verdict:
    if said is None:
        return Verdict(None, 0.0, True)
    value = said if reviewer["only"] is None else float(said == reviewer["only"])
    verdict, confidence = _calibrated(reviewer, value)
    return Verdict(verdict, confidence, _unsure(reviewer, verdict, confidence))


def _calibrated(reviewer: Mapping[str, Any], value: float) -> tuple[int, float]:
    """The verdict with its confidence."""
    p = 1 / (1 + exp(-max(-500.0, min(500.0, reviewer["slope"] * value + reviewer["offset"]))))
    verdict = int(p >= 0.5)
    return verdict, p if verdict else 1 - p


def _by_rules(reviewer: Mapping[str, Any], text: str, structure: Mapping[str, float]) -> Verdict:
    lower = text.lower()
    for rule in reviewer["rules"]:
        if rule.get("contains", "").lower() in lower and all(
            structure.get(name, 0) >= least for name, least in rule.get("at_least", {}).items()
        ):
            verdict, confidence = int(rule["verdict"]), float(rule.get("confidence", 1))
            return Verdict(verdict, confidence, _unsure(reviewer, verdict, confidence), (rule["name"],))
    return Verdict(None, 0.0, True)


def _by_weights(reviewer: Mapping[str, Any], text: str, structure: Mapping[str, float]) -> Verdict:
    z, known, parts = _sum(reviewer, text, structure)
    verdict, confidence = _calibrated(reviewer, z)
    deferred = known < reviewer["least_known"] or _unsure(reviewer, verdict, confidence)
    toward = sorted(parts, key=lambda part: part[0], reverse=bool(verdict))[:MOST_REASONS]
    reasons = tuple(name for weight, name in toward if weight and (weight > 0) == bool(verdict))
    return Verdict(verdict, confidence, deferred, reasons)


def _unsure(reviewer: Mapping[str, Any], verdict: int, confidence: float) -> bool:
    threshold = reviewer["thresholds"]["pass" if verdict else "fail"]
    return threshold is None or confidence < threshold


def _sum(
    reviewer: Mapping[str, Any], text: str, structure: Mapping[str, float]
) -> tuple[float, float, list[tuple[float, str]]]:
    """z, the share of words that are known, and what each term and measure adds to z."""
    terms, length, n_known, n = reviewer["terms"], 0.0, 0, 0
    found = []
    for term, times in terms_of(text, reviewer["most_terms"]).items():
        n += times
        if term in terms:
            idf, weight = terms[term]
            value = (1 + log(times)) * idf if times > 1 else idf
            length += value * value
            n_known += times
            found.append((value * weight, term))
    root = sqrt(length) or 1.0
    parts = [(product / root, term) for product, term in found]
    for name, (mean, scale, weight, low, high) in reviewer["structure"].items():
        measured = max(low, min(high, log(1 + structure.get(name, 0))))
        parts.append(((measured - mean) / scale * weight, name))
    known = n_known / n if n else 0.0
    return reviewer["intercept"] + sum(part for part, _name in parts), known, parts


def known_share(reviewer: Mapping[str, Any], item: Mapping[str, Any]) -> float | None:
    """Which share of an item's words the reviewer knows; None for rules, which know none."""
    reviewer = reviewer.get("classifier", reviewer)
    if "terms" not in reviewer:
        return None
    terms = terms_of(text_of(item), reviewer["most_terms"])
    return sum(times for term, times in terms.items() if term in reviewer["terms"]) / (terms.total() or 1)


# --- The command ------------------------------------------------------------------------------------------------------
def judged(reviewer: Mapping[str, Any], item: Mapping[str, Any]) -> dict[str, Any]:
    """A line of the command's output: the verdict with the steps in which its reasons stand."""
    if reviewer["kind"] == "judge":
        said = score(reviewer, "", {}, item.get("said"))
        return {"id": item.get("id", item.get("item")), **asdict(said), "evidence": item.get("evidence") or []}
    found = score(reviewer, text_of(item), structure_of(item))
    steps = [
        {"step": number, "terms": terms}
        for number, step in enumerate(item.get("steps") or (), start=1)
        if (terms := sorted(set(found.reasons) & set(terms_of("\n".join(_parts(step))))))
    ]
    return {"id": item.get("id", item.get("item")), **asdict(found), "evidence": steps}


class Unreadable(ValueError):
    """This is no reviewer, or no item; the message says why in a sentence."""


def read_reviewer(data: bytes) -> dict[str, Any]:
    """The reviewer in a file that may come from anybody: read as JSON, and as nothing else. Raises Unreadable."""
    try:
        found = json.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        raise Unreadable("This is no reviewer: it is not JSON.") from None
    if not isinstance(found, dict) or not _is_reviewer(found):
        raise Unreadable("This is no reviewer: parts are missing or of the wrong kind.")
    return found


def _is_reviewer(found: Mapping[str, Any]) -> bool:
    thresholds = found.get("thresholds")
    if not isinstance(thresholds, dict) or not all(
        name in thresholds and (thresholds[name] is None or _numbers([thresholds[name]])) for name in ("pass", "fail")
    ):
        return False
    if found.get("kind") == "rules":
        return _are_rules(found.get("rules"))
    if found.get("kind") == "cascade":
        return (
            _are_rules(found.get("rules")) and _numbers([found.get("keeps_from")]) and _weighs(found.get("classifier"))
        )
    if found.get("kind") == "judge":
        only = found.get("only", "")
        return _numbers([found.get("slope"), found.get("offset"), *([] if only is None else [only])])
    return _weighs(found)


def _weighs(found: Any) -> bool:
    """Whether it has all that the rule of a classifier reads."""
    if not isinstance(found, dict):
        return False
    terms, structure = found.get("terms"), found.get("structure")
    return (
        found.get("kind") == "classifier"
        and type(found.get("most_terms")) is int
        and _numbers([found.get(name) for name in ("intercept", "slope", "offset", "least_known")])
        and isinstance(terms, dict)
        and all(isinstance(term, list) and len(term) == 2 and _numbers(term) for term in terms.values())
        and isinstance(structure, dict)
        and all(isinstance(part, list) and len(part) == 5 and _numbers(part) and part[1] for part in structure.values())
    )


def _are_rules(rules: Any) -> bool:
    return isinstance(rules, list) and all(map(_is_rule, rules))


def _is_rule(rule: Any) -> bool:
    return (
        isinstance(rule, dict)
        and _numbers([rule.get("confidence", 1)])
        and isinstance(rule.get("name"), str)
        and rule.get("verdict") in (0, 1)
        and isinstance(rule.get("contains", ""), str)
        and isinstance(rule.get("at_least", {}), dict)
        and _numbers(rule.get("at_least", {}).values())
    )


def _numbers(values: Iterable[Any]) -> bool:
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def verdicts(reviewer: Mapping[str, Any], lines: Iterable[str]) -> Iterator[str]:
    """A line of JSON for each item. Raises Unreadable with the number of the first line that is none."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            item = json.loads(line)
            said = judged(reviewer, item)
        except json.JSONDecodeError:
            raise Unreadable(f"Line {number} is not JSON.") from None
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
            raise Unreadable(f"Line {number} is no item: an object with “text”, or with “steps” as exported.") from None
        yield json.dumps(said, ensure_ascii=False) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Reads items, a JSON object a line, and writes a verdict on each.")
    parser.add_argument("reviewer", type=Path, help="reviewer.json of the bundle")
    for stream in (sys.stdin, sys.stdout):
        stream.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    try:
        reviewer = read_reviewer(parser.parse_args().reviewer.read_bytes())
        sys.stdout.writelines(verdicts(reviewer, sys.stdin))
    except (Unreadable, OSError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
