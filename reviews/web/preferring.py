"""The page on which candidates are compared: how its form reads.

It stands at the same address as the page of a run, sends to the same addresses and is saved and submitted by the same
views; only what is between them is here.
"""

from collections.abc import Mapping
from typing import Any

from django.http import QueryDict

from reviews.enums import CriterionKind, PreferenceForm
from reviews.trajectories import jsontext
from reviews.web.answers import asked_after
from reviews.web.pages import group, number

YES_OR_NO = {"yes": True, "no": False}
FAILURE_POINT = "failure-point"


# --- The form ---------------------------------------------------------------------------------------------------------
def is_comparison(form: QueryDict) -> bool:
    return "places" in form


def payload_from(form: QueryDict) -> dict[str, Any]:
    """What the form says, as the payload that drafts and judgments have. What the gates hide is left out.

    The form says of each criterion what it is (`kind.KEY`): "item gate", "candidate ordinal", "prefer pair"; and of one
    that is asked only after some answers which they are (`when.KEY`).
    """
    places = min(number(form.get("places"), 0), 8)
    gates, kinds = group(form, "gates."), group(form, "kind.")
    asked = [key for key, kind in kinds.items() if kind == "item gate"]
    candidates = [_candidate(form, place, kinds) for place in range(1, places + 1)]
    passing = {place for place, candidate in enumerate(candidates, start=1) if _passes(candidate, kinds)}
    payload: dict[str, Any] = {"gates": gates, "criteria": {}}
    if all(gates.get(key) == "pass" for key in asked):
        payload["criteria"] = _criteria(form, "criteria.", kinds) | _preferences(form, kinds, places, passing)
    payload |= _notes(form, "", kinds, gates)
    if any(kind.startswith("candidate ") for kind in kinds.values()):
        payload["candidates"] = candidates
    payload["evidence"] = _evidence(form, candidates, passing, kinds)
    payload["rationale"] = form.get("rationale", "").replace("\r\n", "\n")
    if form.get("confidence"):
        payload["confidence"] = _whole(str(form["confidence"]))
    return payload


def _candidate(form: QueryDict, place: int, kinds: Mapping[str, str]) -> dict[str, Any]:
    at = f"candidates.{place}."
    candidate: dict[str, Any] = {"gates": group(form, f"{at}gates."), "criteria": {}}
    if _passes(candidate, kinds):
        candidate["criteria"] = _criteria(form, f"{at}criteria.", kinds)
    if "fail" in candidate["gates"].values():
        failure: dict[str, Any] = {**group(form, f"{at}failure.")}
        failure |= {"step": _whole(failure["step"])} if "step" in failure else {}
        failure |= {"note": failure["note"].replace("\r\n", "\n")} if "note" in failure else {}
        candidate["failure"] = failure
    return candidate | _notes(form, at, kinds, candidate["gates"])


def _passes(candidate: Mapping[str, Any], kinds: Mapping[str, str]) -> bool:
    """Whether it passes every gate that is asked of candidates."""
    asked = [key for key, kind in kinds.items() if kind == "candidate gate"]
    return all(candidate["gates"].get(key) == "pass" for key in asked)


def _criteria(form: QueryDict, prefix: str, kinds: Mapping[str, str]) -> dict[str, Any]:
    values = _values(form, prefix, kinds)
    asked = asked_after(form, values)
    return {key: value for key, value in values.items() if value not in ("", []) and asked(key)}


def _values(form: QueryDict, prefix: str, kinds: Mapping[str, str]) -> dict[str, Any]:
    keys = [name.removeprefix(prefix) for name in form if name.startswith(prefix)]
    return {key: _value(form, prefix, key, kinds.get(key, "").partition(" ")[2]) for key in keys}


def _notes(form: QueryDict, at: str, kinds: Mapping[str, str], gates: Mapping[str, str]) -> dict[str, Any]:
    """The notes on what is asked in a scope, as its "notes"; {} where there are none. Failed gates lock the rest."""
    scope = "candidate " if at else "item "
    texts = {key: text.replace("\r\n", "\n") for key, text in group(form, f"{at}notes.").items()}
    open_ = all(gates.get(key) == "pass" for key, kind in kinds.items() if kind == f"{scope}gate")
    asked = asked_after(form, _values(form, f"{at}criteria.", kinds))
    notes = {
        key: text
        for key, text in texts.items()
        if text.strip() and (kinds.get(key) == f"{scope}gate" or (open_ and asked(key)))
    }
    return {"notes": notes} if notes else {}


def _value(form: QueryDict, prefix: str, key: str, kind: str) -> Any:
    text = str(form.get(f"{prefix}{key}", ""))
    if kind == CriterionKind.MULTI_CHOICE:
        return [_whole(str(option)) for option in form.getlist(f"{prefix}{key}")]
    if kind == CriterionKind.BINARY:
        return YES_OR_NO.get(text, text)
    if kind == CriterionKind.NUMBER:
        return _decimal(text.strip())
    return text.replace("\r\n", "\n") if kind == CriterionKind.TEXT else _whole(text)


def _decimal(text: str) -> float | int | str:
    whole, _, rest = text.removeprefix("-").partition(".")
    if not (_digits(whole) and (not rest or _digits(rest))):
        return text
    return float(text) if rest else int(text.rstrip("."))


def _whole(text: str) -> int | str:
    """The number a text says, or the text itself, so that a mistake is named and not lost."""
    return int(text) if _digits(text.removeprefix("-")) else text


def _digits(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 16


# --- Preferences ------------------------------------------------------------------------------------------------------
def _preferences(form: QueryDict, kinds: Mapping[str, str], places: int, passing: set[int]) -> dict[str, Any]:
    """Each preference as its form is written; none where the gates decide."""
    if len(passing) < 2:
        return {}
    forms = {key: kind.removeprefix("prefer ") for key, kind in kinds.items() if kind.startswith("prefer ")}
    found = {}
    for key, kind in forms.items():
        said = _preference(form, key, kind, places, passing)
        reasons = [_whole(str(option)) for option in form.getlist(f"reasons.{key}")]
        if said or reasons:
            found[key] = said | ({"reasons": reasons} if reasons else {})
    return found


def _preference(form: QueryDict, key: str, kind: str, places: int, passing: set[int]) -> dict[str, Any]:
    if kind == PreferenceForm.PAIR:
        return _of_two(str(form.get(f"prefer.{key}", "")))
    if kind == PreferenceForm.RANKING:
        ranks = [str(form.get(f"rank.{key}.{place}", "")) if place in passing else "" for place in range(1, places + 1)]
        return {"ranks": [_whole(rank) if rank else None for rank in ranks]} if any(ranks) else {}
    best, worst = str(form.get(f"best.{key}", "")), str(form.get(f"worst.{key}", ""))
    said: dict[str, Any] = {"best": _whole(best)} if best else {}
    # Where a candidate fails a gate it is the worst, and nobody is asked.
    return said | ({"worst": _whole(worst)} if worst and len(passing) == places else {})


def _of_two(point: str) -> dict[str, Any]:
    """A point of the scale: "1-3" is A by 3, "2-0" is B without a strength, "tie-equally_good" a tie."""
    first, _, rest = point.partition("-")
    if not rest:
        return {}
    if first == "tie":
        return {"tie": rest}
    return {"prefers": _whole(first)} | ({"strength": _whole(rest)} if rest != "0" else {})


# --- Evidence ---------------------------------------------------------------------------------------------------------
def _evidence(
    form: QueryDict, candidates: list[dict[str, Any]], passing: set[int], kinds: Mapping[str, str]
) -> list[dict[str, Any]]:
    """The citations the script keeps in one field, and those written by hand where there is none."""
    cited = jsontext.clean_value(jsontext.parse_text(form.get("evidence") or "[]"))
    rows = [dict(row) for row in cited if isinstance(row, Mapping)] if isinstance(cited, list) else []
    for name, numbers in group(form, "cite.").items():
        place, _, key = name.partition(".")
        criterion = None if key == FAILURE_POINT else key
        written = numbers.replace(",", " ").split()
        rows += [{"criterion": criterion, "candidate": _whole(place), "step": _whole(step)} for step in written]
    failing = {place for place, candidate in enumerate(candidates, start=1) if "failure" in candidate}

    def shown(row: Mapping[str, Any]) -> bool:
        key, place = row.get("criterion"), row.get("candidate")
        if key is None:
            return place in failing or bool(row.get("mark"))
        kind = kinds.get(str(key), "")
        return not kind.startswith("candidate ") or "part" in row or kind == "candidate gate" or place in passing

    return [row for row in rows if shown(row)]
