"""The form in which a rater writes what the agent should have done, and the card that comes of it.

Nothing is stored here: the card carries the correction into the judgment's form, which keeps it in the draft.
"""

import re
from dataclasses import replace
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from reviews.actions.dealing import ended_sentence, own_assignment
from reviews.actions.judging import is_correctable
from reviews.actions.payloads import subject_of_assignment
from reviews.actions.payloads.corrections import MOST_STEPS, read_corrections
from reviews.enums import CorrectionKind
from reviews.errors import Conflict, NotFound
from reviews.models import Assignment
from reviews.queries.correcting import Entered, as_it_was, correction_cards, tools_for
from reviews.trajectories import jsontext
from reviews.web.access import HtmxRequest
from reviews.web.judging import IN_HAND

PART = re.compile(r"part\.(\d{1,2})\.what")


@login_required
@never_cache
@require_safe
def form(request: HtmxRequest, uid: str) -> HttpResponse:
    """The form for a step, filled with what the agent did."""
    mine, step = _mine(request, uid), request.GET.get("step", "")
    number = int(step) if step.isascii() and step.isdigit() and len(step) < 10 else 0
    begun = as_it_was(mine.item.run, number)
    if begun is None:
        raise NotFound("Only what the agent said or did can be corrected. Go to one of its steps first.")
    return _form(request, mine, step=number, kind=CorrectionKind.REWRITE, parts=[begun])


@login_required
@require_POST
def check(request: HtmxRequest, uid: str) -> HttpResponse:
    """Hold what was written to the agent's tools: a card for the judgment, or the form with what is wrong."""
    mine, entered = _mine(request, uid), request.POST
    step = int(entered["step"]) if entered.get("step", "").isdigit() else 0
    kind, parts = entered.get("kind", ""), _parts(entered)
    if "more" in entered and len(parts) < MOST_STEPS:
        return _form(request, mine, step=step, kind=CorrectionKind.CONTINUE, parts=[*parts, Entered()], entered=entered)
    if "fewer" in entered and len(parts) > 1:
        return _form(request, mine, step=step, kind=kind, parts=parts[:-1], entered=entered)
    errors: dict[str, str] = {}
    given = [_given(part) for part in parts]
    row = {"step": step, "kind": kind, "steps": given, "reason": entered.get("reason", "").replace("\r\n", "\n")}
    read_corrections([row], subject=subject_of_assignment(mine), values=[], errors=errors)
    if errors:
        marked = [replace(part, errors=_of(f"corrections.0.steps.{n}", errors)) for n, part in enumerate(parts)]
        return _form(request, mine, step=step, kind=kind, parts=marked, entered=entered, errors=errors, status=422)
    card = correction_cards(mine.item.run, {"corrections": [row]})[0]
    return render(request, "components/_correction.html", {"card": card})


def _mine(request: HtmxRequest, uid: str) -> Assignment:
    mine = own_assignment(actor=request.user, uid=uid)
    if mine.state not in IN_HAND and not is_correctable(mine):
        raise Conflict(ended_sentence(mine))
    return mine


def _form(
    request: HtmxRequest,
    mine: Assignment,
    *,
    step: int,
    kind: str,
    parts: list[Entered],
    entered: QueryDict | None = None,
    errors: dict[str, str] | None = None,
    status: int = 200,
) -> HttpResponse:
    shown = {f"corrections.0.steps.{number}" for number in range(len(parts))}
    context = {
        "step": step,
        "kind": kind,
        "parts": parts,
        "kinds": CorrectionKind.choices,
        "reason": entered.get("reason", "") if entered else "",
        "tools": tools_for(mine.item.run),
        "uid": mine.uid,
        "wrong": [words for name, words in (errors or {}).items() if name.rpartition(".")[0] not in shown],
    }
    return render(request, "components/_correction_form.html", context, status=status)


def _parts(entered: QueryDict) -> list[Entered]:
    numbers = sorted(int(found[1]) for name in entered if (found := PART.fullmatch(name)))

    def field(number: int, name: str) -> str:
        return entered.get(f"part.{number}.{name}", "")

    return [Entered(field(n, "what"), field(n, "text"), field(n, "arguments"), field(n, "result")) for n in numbers]


def _given(part: Entered) -> dict[str, Any]:
    """The step in the form in which it is sent."""
    if not part.what:
        return {"text": part.text.replace("\r\n", "\n")}
    arguments = jsontext.clean_value(jsontext.parse_text(part.arguments or "{}"))
    result = {"result": part.result.replace("\r\n", "\n")} if part.result.strip() else {}
    return {"tool": part.what, "arguments": arguments, **result}


def _of(prefix: str, errors: dict[str, str]) -> tuple[str, ...]:
    return tuple(words for name, words in errors.items() if name == prefix or name.startswith(f"{prefix}."))
