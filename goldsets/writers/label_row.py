"""The row that labels have in JSON lines and parquet: one label of any kind with all it rests on.

Names and types are written down here once and hold for every row, also where a value is missing, so that a file can be
loaded by tools that take the types from the first rows. What has no fixed members (slices, versions) is a list of
names and values; what may have any shape (arguments of a tool, data of an outcome) is JSON text.
"""

import hashlib
from collections.abc import Callable
from operator import itemgetter
from typing import Any

import msgspec
import pyarrow as pa

from goldsets.writers.document import (
    BINARY,
    GATE,
    MULTI_CHOICE,
    NUMBER,
    PREFERENCE,
    Document,
    Failure,
    Judged,
    Run,
    Said,
    StepSaid,
    Words,
)
from goldsets.writers.document import TEXT as FREE_TEXT
from reviews.trajectories.schema import Step

TEXT, WHOLE, YES_NO, REAL = pa.string(), pa.int32(), pa.bool_(), pa.float64()
TIME = pa.timestamp("us", tz="UTC")


def _object(**members: pa.DataType) -> pa.StructType:
    return pa.struct(list(members.items()))


NAMED = pa.list_(_object(name=TEXT, value=TEXT))
VERSION = _object(name=TEXT, version=WHOLE)
FAILURE = _object(step=WHOLE, who=TEXT, cause=TEXT, note=TEXT)
SOURCE = _object(format=TEXT, name=TEXT, place=TEXT)
EVIDENCE = _object(
    criterion=TEXT,
    candidate=WHOLE,
    step=WHOLE,
    field=TEXT,
    start=WHOLE,
    end=WHOLE,
    quote=TEXT,
    policy_line=WHOLE,
    part=TEXT,
    mark=TEXT,
)
# What was said, in the column of its kind: `value` of gates, levels, options, yes or no (1 or 0), the strength of a
# preference; `ranks` of a preference by candidate, 1 is best; `name` in words.
SAID = {
    "criterion": TEXT,
    "candidate": WHOLE,
    "value": WHOLE,
    "number": REAL,
    "text": TEXT,
    "choices": pa.list_(WHOLE),
    "ranks": pa.list_(WHOLE),
    "tie": TEXT,
    "name": TEXT,
}
VALUE = _object(**SAID, title=TEXT, kind=TEXT, block=TEXT, basis=TEXT, reason=TEXT, note=TEXT)
JUDGMENT = _object(
    rater=TEXT,
    tier=TEXT,
    simulated=YES_NO,
    revision=WHOLE,
    values=pa.list_(_object(**SAID, note=TEXT)),
    step_labels=pa.list_(_object(step=WHOLE, value=WHOLE, name=TEXT)),
    failure=FAILURE,
    candidate_failures=pa.list_(_object(candidate=WHOLE, step=WHOLE, who=TEXT, cause=TEXT, note=TEXT)),
    evidence=pa.list_(EVIDENCE),
    corrections=pa.list_(_object(step=WHOLE, kind=TEXT, steps=TEXT, reason=TEXT)),
    rationale=TEXT,
    confidence=WHOLE,
    active_seconds=WHOLE,
    prelabel=TEXT,
    submitted_at=TIME,
)
STEP = _object(
    position=WHOLE,
    role=TEXT,
    text=TEXT,
    reasoning=TEXT,
    call=_object(id=TEXT, name=TEXT, arguments=TEXT),
    result=_object(text=TEXT, error=YES_NO),
    attachments=pa.list_(_object(kind=TEXT, note=TEXT, raw=TEXT)),
    note=TEXT,
)
OUTCOME = _object(result=TEXT, reward=REAL, model=TEXT, data=TEXT)
LABEL_ROW = pa.schema(
    {
        "item": TEXT,
        "kind": TEXT,
        "queue": TEXT,
        "content_hash": TEXT,
        "task_key": TEXT,
        "family": TEXT,
        "split": TEXT,
        "slices": NAMED,
        "provenance": TEXT,
        "differs_in": TEXT,
        "source": SOURCE,
        "label": _object(uid=TEXT, revision=WHOLE, basis=TEXT, judgment_count=WHOLE, certainty=REAL, created_at=TIME),
        "gates_pass": YES_NO,
        "values": pa.list_(VALUE),
        "step_labels": pa.list_(_object(step=WHOLE, value=WHOLE, name=TEXT, basis=TEXT)),
        "failure": FAILURE,
        "rationale": TEXT,
        "adjudicator": TEXT,
        "rubric": VERSION,
        "guideline": VERSION,
        "versions": NAMED,
        "judgments": pa.list_(JUDGMENT),
        "context": _object(request=TEXT, requester=NAMED, policy_title=TEXT, policy=TEXT),
        "tools": TEXT,
        "steps": pa.list_(STEP),
        "outcome": OUTCOME,
        # Of a comparison or a task review its runs, each with what a label of one run has at the top.
        "candidates": pa.list_(
            _object(
                position=WHOLE,
                role=TEXT,
                result=TEXT,
                shared=WHOLE,
                gates_pass=YES_NO,
                content_hash=TEXT,
                source=SOURCE,
                versions=NAMED,
                tools=TEXT,
                steps=pa.list_(STEP),
                outcome=OUTCOME,
            )
        ),
        "task_version": _object(number=WHOLE, prompt=TEXT, world=TEXT, verifier=TEXT, intent=TEXT),
        "row_sha256": TEXT,
    }
)


_sorted_json = msgspec.json.Encoder(order="deterministic").encode


class UnfitRow(ValueError):
    """A row that must not leave as it is; the message says which and why."""


def label_row(document: Document, words: Words, *, answer: Callable[[dict[str, Any]], Any] = dict) -> dict[str, Any]:
    """The row without its hash; `answer` says how an answer stands.

    Raises UnfitRow for quality beside a failed gate.
    """
    check_gates(document, words)
    label, task = document.label, document.task
    only = document.runs[0] if document.kind == "trajectory" else None
    rubric, guideline = words.rubrics[label.rubric], words.guidelines[label.guideline]
    return {
        "item": document.item,
        "kind": document.kind,
        "queue": document.queue,
        "content_hash": document.content_hash,
        "task_key": task.key,
        "family": task.family,
        "split": task.split,
        "slices": named(task.slices),
        "provenance": document.provenance,
        "differs_in": document.differs_in,
        "source": _source(only) if only else None,
        "label": {
            "uid": label.uid,
            "revision": label.revision,
            "basis": label.basis,
            "judgment_count": label.judgment_count,
            "certainty": label.certainty,
            "created_at": label.created_at,
        },
        "gates_pass": gates_of_item(document, words),
        "values": _answers(label.values, words, _value, answer),
        "step_labels": _steps_said(label.steps, rubric.step_words, basis=True),
        "failure": failure(label.failure),
        "rationale": label.rationale,
        "adjudicator": label.adjudicator,
        "rubric": {"name": rubric.name, "version": rubric.version},
        "guideline": {"name": guideline.name, "version": guideline.version},
        "versions": named(label.versions),
        "judgments": [_judgment(judged, words, answer) for judged in document.judgments],
        "context": _context(task.context, task.policy_title, task.policy),
        "tools": as_json(only.tools) if only else "[]",
        "steps": steps_of(only.steps) if only else [],
        "outcome": _outcome(only) if only else None,
        "candidates": [] if only else [_candidate(run, document, words) for run in document.runs],
        "task_version": msgspec.structs.asdict(document.task_version) if document.task_version else None,
    }


def sealed_row(document: Document, words: Words) -> dict[str, Any]:
    """The row with the hash of its content."""
    row = label_row(document, words)
    return row | {"row_sha256": hashlib.sha256(_sorted_json(row)).hexdigest()}


def sealed_json(document: Document, words: Words) -> msgspec.Raw:
    """The same as JSON with sorted keys, where their order does not matter: one encoding for the hash and the file."""
    content = _sorted_json(label_row(document, words, answer=_answer_json))
    return msgspec.Raw(b'%b,"row_sha256":"%b"}' % (content[:-1], hashlib.sha256(content).hexdigest().encode()))


def canonical(row: dict[str, Any]) -> bytes:
    """The row's JSON with sorted keys and no white space, which its hash is taken of (without `row_sha256`)."""
    return _sorted_json({name: value for name, value in row.items() if name != "row_sha256"})


def gates_of_item(document: Document, words: Words) -> bool | None:
    """Whether every gate of the whole item passes; true where there is none, as nothing failed.

    None for a comparison, whose candidates have gates of their own.
    """
    if document.kind == "comparison":
        return None
    return words.gates_pass(document.label.values) is not False


def check_gates(document: Document, words: Words) -> None:
    """Law 2: quality values never stand beside a failed gate, of the item or of the same candidate."""
    failed = {
        value.candidate
        for value in document.label.values
        if value.value != 1 and words.questions[value.criterion].kind == GATE
    }
    if not failed:
        return
    for value in document.label.values:
        kind = words.questions[value.criterion].kind
        if value.candidate in failed and kind not in (GATE, PREFERENCE):
            raise UnfitRow(f"Label {document.label.uid} has a failed gate and quality values beside it.")


# --- What was said ----------------------------------------------------------------------------------------------------
def _answers(
    values: list[Said],
    words: Words,
    row: Callable[[Said, Words], dict[str, Any]],
    answer: Callable[[dict[str, Any]], Any],
) -> list[Any]:
    """A row each, as `answer` makes it: the rubric's criteria, then those of the item; candidate by candidate.

    A gate or a level is the same in thousands of labels: what is made of it once is kept, and stands in all of them.
    """
    told = []
    for value in values:
        plain = not (value.text or value.note or value.choices or value.ranks) and value.number is None
        key = (row, answer, value.criterion, value.candidate, value.value, value.tie, value.basis, value.reason)
        found = words.told.get(key) if plain else None
        if found is None:
            place = words.questions[value.criterion].place, value.candidate or 0
            found = place, answer(row(value, words))
            if plain:
                words.told[key] = found
        told.append(found)
    told.sort(key=itemgetter(0))
    return [found for _place, found in told]


def _answer_json(row: dict[str, Any]) -> msgspec.Raw:
    return msgspec.Raw(_sorted_json(row))


def said(value: Said, words: Words) -> dict[str, Any]:
    """What was said, each kind in its column, and in words: a gate's word, a level's name, else as people read it."""
    return {
        "criterion": words.questions[value.criterion].key,
        "candidate": value.candidate,
        "value": value.value,
        "number": value.number,
        "text": value.text,
        "choices": value.choices or [],
        "ranks": value.ranks or [],
        "tie": value.tie,
        "name": in_words(value, words),
    }


def in_words(value: Said, words: Words) -> str:
    question = words.questions[value.criterion]
    if question.kind == PREFERENCE:
        return value.tie.replace("_", " ") if value.tie else _order(value)
    if question.kind == BINARY:
        return "Yes" if value.value else "No"
    if question.kind == MULTI_CHOICE:
        return ", ".join(question.names.get(option, str(option)) for option in value.choices or ()) or "None"
    if question.kind == NUMBER:
        return f"{value.number:g} {question.unit}".strip()
    if question.kind == FREE_TEXT:
        return value.text
    return question.names.get(value.value or 0, str(value.value))


def letter(position: int) -> str:
    """What a candidate is called: A is the first."""
    return chr(ord("A") + position - 1)


def _order(value: Said) -> str:
    """Like "A, by 2" or "B > A = C"."""
    letters: dict[int, list[str]] = {}
    for position, rank in enumerate(value.ranks or (), start=1):
        letters.setdefault(rank, []).append(letter(position))
    if len(value.ranks or ()) == 2 and value.value:
        return f"{letters[1][0]}, by {abs(value.value)}"
    return " > ".join(" = ".join(letters[rank]) for rank in sorted(letters))


def _value(value: Said, words: Words) -> dict[str, Any]:
    question = words.questions[value.criterion]
    return said(value, words) | {
        "title": question.title,
        "kind": question.kind,
        "block": question.block,
        "basis": value.basis,
        "reason": value.reason,
        "note": value.note,
    }


def _rating(value: Said, words: Words) -> dict[str, Any]:
    return said(value, words) | {"note": value.note}


def _steps_said(rows: list[StepSaid], names: dict[int, str], *, basis: bool = False) -> list[dict[str, Any]]:
    return [
        {"step": row.step, "value": row.value, "name": names.get(row.value, "")}
        | ({"basis": row.basis} if basis else {})
        for row in rows
    ]


def failure(found: Failure) -> dict[str, Any] | None:
    """The failure point; None where none of its parts is known."""
    if not found.known:
        return None
    return {"step": found.step, "who": found.who, "cause": found.cause, "note": found.note}


def _judgment(judged: Judged, words: Words, answer: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    return {
        "rater": judged.rater,
        "tier": judged.tier,
        "simulated": judged.simulated,
        "revision": judged.revision,
        "values": _answers(judged.values, words, _rating, answer),
        "step_labels": _steps_said(judged.steps, words.rubrics[judged.rubric].step_words),
        "failure": failure(judged.failure),
        "candidate_failures": [{"candidate": one.candidate} | (failure(one) or {}) for one in judged.failures],
        "evidence": evidence_of(judged, words),
        "corrections": [
            {"step": one.step, "kind": one.kind, "steps": as_json(steps_of(one.steps)), "reason": one.reason}
            for one in judged.corrections
        ],
        "rationale": judged.rationale,
        "confidence": judged.confidence,
        "active_seconds": judged.active_seconds,
        "prelabel": None if judged.prelabel is None else as_json(judged.prelabel),
        "submitted_at": judged.submitted_at,
    }


def evidence_of(judged: Judged, words: Words) -> list[dict[str, Any]]:
    return [
        {
            "criterion": words.questions[cited.criterion].key if cited.criterion else None,
            "candidate": cited.candidate,
            "step": cited.step,
            "field": cited.field,
            "start": cited.start,
            "end": cited.end,
            "quote": cited.quote,
            "policy_line": cited.policy_line,
            "part": cited.part,
            "mark": cited.mark,
        }
        for cited in judged.evidence
    ]


# --- The run ----------------------------------------------------------------------------------------------------------
def _candidate(run: Run, document: Document, words: Words) -> dict[str, Any]:
    return {
        "position": run.position,
        "role": run.role,
        "result": as_json(run.result),
        "shared": run.shared,
        "gates_pass": words.gates_pass(document.label.values, run.position),
        "content_hash": run.content_hash,
        "source": _source(run),
        "versions": named(run.versions),
        "tools": as_json(run.tools),
        "steps": steps_of(run.steps),
        "outcome": _outcome(run),
    }


def steps_of(steps: list[Step]) -> list[dict[str, Any]]:
    return [_step(position, step) for position, step in enumerate(steps, start=1)]


def _step(position: int, step: Step) -> dict[str, Any]:
    call, result = step.call, step.result
    return {
        "position": position,
        "role": step.role,
        "text": step.text,
        "reasoning": step.reasoning,
        "call": {"id": call.id, "name": call.name, "arguments": call.arguments_text} if call else None,
        "result": {"text": result.text, "error": result.error} if result else None,
        "attachments": [{"kind": part.kind, "note": part.note, "raw": part.raw} for part in step.attachments],
        "note": step.note,
    }


def _source(run: Run) -> dict[str, str]:
    return {"format": run.source_format, "name": run.source_name, "place": run.source_place}


def _context(context: Any, policy_title: str, policy: str) -> dict[str, Any]:
    context = context if isinstance(context, dict) else {}
    requester = context.get("requester")
    return {
        "request": str(context.get("request") or ""),
        "requester": named(requester if isinstance(requester, dict) else {}),
        "policy_title": policy_title,
        "policy": policy,
    }


def _outcome(run: Run) -> dict[str, Any] | None:
    """How the run ended, apart from everything else; None where that was never said."""
    found = run.outcome
    if found is None:
        return None
    return {"result": found.result, "reward": found.reward, "model": found.model, "data": as_json(found.data)}


# --- Small parts ------------------------------------------------------------------------------------------------------
def named(pairs: Any) -> list[dict[str, str]]:
    """A JSON object as a list of names and texts, in the order of the names."""
    pairs = pairs if isinstance(pairs, dict) else {}
    return [
        {"name": str(name), "value": value if isinstance(value, str) else as_json(value)}
        for name, value in sorted(pairs.items())
    ]


def as_json(value: Any) -> str:
    """JSON text with sorted keys and no white space."""
    return _sorted_json(value).decode()
