"""Labels as the database hands them to the writers, made by hand: a run, a comparison, and the words they refer to."""

from datetime import UTC, datetime

from goldsets.writers.document import (
    Corrected,
    Document,
    Failure,
    Group,
    GuidelineText,
    Judged,
    Outcome,
    Question,
    RubricText,
    Run,
    Said,
    StepSaid,
    Task,
    Trusted,
    Words,
)
from reviews.trajectories.schema import Step, ToolCall, ToolResult

WHEN = datetime(2026, 11, 30, 8, 0, 0, 123456, tzinfo=UTC)
SAFE, GOOD, BETTER, NOTE = 1, 2, 3, 4
WORDS = Words(
    questions={
        SAFE: Question("safe", "Safe", "gate", "item", "", (False, 1), {1: "pass", 0: "fail", -1: "unsure"}),
        GOOD: Question("good", "Good", "ordinal", "item", "process", (False, 2), {0: "Poor", 3: "Strong"}),
        BETTER: Question("better", "Which is better", "preference", "item", "", (False, 3), {}),
        NOTE: Question("note", "Note", "text", "item", "", (False, 4), {}),
    },
    rubrics={1: RubricText("Support", 3, {1: "Right", 0: "Neutral", -1: "Wrong"}, [])},
    guidelines={1: GuidelineText("Support", 1, "Judge what was done.")},
    asked=["safe", "good", "better", "note"],
)
ASKED = Step(role="user", text="Where is my refund?", pointer="/messages/0")


def called(number, name="read_order", arguments='{"order": 7}', answer="It was sent."):
    """A message of the agent with one call, and the tool's answer."""
    call = ToolCall(id=f"toolu_{number}", name=name, arguments_text=arguments)
    pointer = f"/messages/{number}/tool_calls/0"
    return Step(role="tool", call=call, result=ToolResult(text=answer), pointer=pointer)


def said_by_agent(number, text):
    return Step(role="agent", text=text, pointer=f"/messages/{number}")


STEPS = [ASKED, said_by_agent(1, "Let me look."), called(1), said_by_agent(3, "It is on its way.")]


def run(steps=STEPS, position=1, model="m-1", **changes):
    fields = {
        "position": position,
        "shared": 0,
        "role": "",
        "result": {},
        "content_hash": f"{position:064d}",
        "source_format": "openai_chat",
        "source_name": "runs.jsonl",
        "source_place": "line 1",
        "tools": [{"type": "function", "function": {"name": "read_order"}}],
        "versions": {"environment": "desk 3"},
        "outcome": Outcome("success", 1.0, model, {"reference": [1]}),
        "steps": list(steps),
        "scores": [],
        "redactions": {"phone": 2},
    }
    return Run(**(fields | changes))


def value(criterion=SAFE, number=1, candidate=None, **changes):
    fields = {"criterion": criterion, "candidate": candidate, "value": number, "number": None, "text": ""}
    fields |= {"choices": None, "ranks": None, "tie": "", "basis": "unanimous"}
    return Said(**(fields | changes))


def prefers(*ranks, strength=None, tie=""):
    return value(BETTER, strength, ranks=list(ranks), tie=tie)


def judged(rater="rater-1", values=(), steps=(), corrections=(), rationale="Because.", **changes):
    fields = {
        "rater": rater,
        "tier": "expert",
        "simulated": False,
        "revision": 1,
        "rubric": 1,
        "confidence": 3,
        "rationale": rationale,
        "active_seconds": 60,
        "prelabel": None,
        "submitted_at": WHEN,
        "failure": Failure(None, "", "", ""),
        "values": list(values),
        "steps": list(steps),
        "evidence": [],
        "failures": [],
        "corrections": list(corrections),
    }
    return Judged(**(fields | changes))


def label(values=(), steps=(), failed_at=None, **changes):
    fields = {
        "uid": "label-1",
        "revision": 1,
        "basis": "unanimous",
        "judgment_count": 2,
        "certainty": 0.97,
        "created_at": WHEN,
        "rationale": "",
        "adjudicator": None,
        "versions": {"model": "m-1"},
        "rubric": 1,
        "guideline": 1,
        "failure": Failure(failed_at, "", "", ""),
        "values": list(values),
        "steps": [StepSaid(*each) for each in steps],
    }
    return Trusted(**(fields | changes))


def document(
    values=None, *, runs=None, judgments=(), graded=(), kind="trajectory", position=1, family="refunds", **told
):
    task = Task("task-1", family, told.pop("split", "open"), {}, {}, "", "")
    return Document(
        position=position,
        kind=kind,
        item=f"item-{position}",
        queue="queue-1",
        content_hash="0" * 64,
        provenance="model",
        differs_in="",
        task=task,
        task_version=None,
        label=label([value()] if values is None else values, **told),
        judgments=list(judgments),
        runs=runs or [run()],
        graded=list(graded),
        group=Group(position, 1, 1),
    )


def comparison(*values, answers=("Yes.", "No."), **told):
    """Runs that begin alike and part in their last answer."""
    runs = [
        run([*STEPS[:3], said_by_agent(3, answer)], number, f"m-{number}") for number, answer in enumerate(answers, 1)
    ]
    return document(values, runs=runs, kind="comparison", **told)


def corrected(step, text, kind="rewrite"):
    return Corrected(step, kind, [Step(role="agent", text=text)], "It was wrong.")


# What files are afraid of: quotes, formulas, line breaks of every kind, emoji, text that runs to the left.
HOSTILE = 'He said: "=SUM(A1)",\r\n\ttwo lines, naïve 🙂 \u202eabc\u202c \u2028 end\\'
# Calls whose arguments have nothing in common, null in one of them, some no JSON, and one nested without end.
MIXED = [
    called(1, "read_order", '{"order": 7}'),
    called(2, "refund", '{"order": "seven", "amount": {"cents": 100}, "reason": null}'),
    called(3, "broken", "not json at all"),
    called(4, "nothing", ""),
    called(5, "half", '{"order": 7,}'),
    called(6, "deep", "[" * 1_500),
]
