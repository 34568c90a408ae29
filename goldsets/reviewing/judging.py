"""A judge's verdict on one item: asked, once more where the answer is unreadable, and of two candidates both ways.

Works on plain documents: an item in, a verdict out. What was said is taken only as far as `judge_answer` lets it count.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from goldsets.reviewing.chat import MOST_LOST, Endpoint, Message, Reply, ask, decide
from goldsets.reviewing.judge_answer import Said, Unreadable, declines, read_answer
from goldsets.reviewing.judge_prompt import Document, Examples, Prompt, asked_of, prompt_for

AGAIN = "{problem} Answer again: the one JSON object in the form that was asked for, and nothing else."
# What is taken of an answer's length where a judge does not say how long it may be.
MOST_TOKENS = 2_000
MILLION = 1_000_000

Asking = Callable[[Sequence[Message]], Reply]


class Ending(StrEnum):
    """How asking about an item ended."""

    SAID = "said"
    REFUSED = "refused"
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class Judge:
    """All that makes a judge what it is. `parameters` go to the model as they are; `criterion` empty means all.

    One that `decides` is a service that is posted the item and answers with typed decisions.
    """

    model: str
    rubric: Document
    guideline: str
    criterion: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    examples: Examples = ()
    decides: bool = False

    def prompt(self, item: Document, order: Sequence[int] = ()) -> Prompt:
        return prompt_for(
            item,
            rubric=self.rubric,
            guideline=self.guideline,
            criterion=self.criterion,
            order=order,
            examples=self.examples,
        )

    def question(self, item: Document, order: Sequence[int] = ()) -> dict[str, Any]:
        """What a service that answers typed decisions is posted: the candidates stand as they are shown."""
        told = dict(item)
        if order:
            told["candidates"] = [item["candidates"][position - 1] for position in order]
        return {
            "model": self.model,
            "parameters": dict(self.parameters),
            "criteria": asked_of(self.rubric, self.criterion, candidates=len(order)),
            "guideline": self.guideline,
            "examples": [{"item": example, "answers": answers} for example, answers in self.examples],
            "item": told,
        }

    def key(self, prompt: Prompt, attempt: int = 1) -> str:
        """The hash of all that is asked the so manieth time."""
        return prompt.key(f"decisions of {self.model}" if self.decides else self.model, self.asked, attempt)

    @property
    def asked(self) -> dict[str, Any]:
        """The parameters with a bound on the answer's length, without which no cost can be capped."""
        if "max_completion_tokens" in self.parameters:
            return dict(self.parameters)
        return {"max_tokens": MOST_TOKENS, **self.parameters}

    @property
    def longest_answer(self) -> int:
        """Tokens of the longest answer it may give."""
        return int(self.asked.get("max_completion_tokens") or self.asked.get("max_tokens") or MOST_TOKENS)


@dataclass(frozen=True)
class Prices:
    """US dollars for a million tokens in, and a million out; or for each answer."""

    tokens_in: float
    tokens_out: float
    each: float = 0.0

    def of(self, tokens_in: int, tokens_out: int) -> float:
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / MILLION


@dataclass(frozen=True)
class Verdict:
    """What came of asking about an item in one order. `content` is the answer as it was given, to be kept.

    `asked` counts the requests that were answered, `lost` those whose answer may be paid for and never came.
    """

    ending: Ending
    said: tuple[Said, ...] = ()
    problem: str = ""
    content: str = ""
    model: str = ""
    tokens_in: int | None = 0
    tokens_out: int | None = 0
    seconds: float = 0.0
    asked: int = 0
    lost: int = 0
    order: tuple[int, ...] = ()


def most_cost(judge: Judge, prompt: Prompt, prices: Prices) -> float:
    """More than this one item in one order never costs, whatever goes wrong: two requests, each lost once.

    A service is not asked again for an answer that is unreadable: it would say the same.
    """
    if judge.decides:
        return MOST_LOST * prices.each
    one = prices.of(prompt.most_tokens, judge.longest_answer)
    again = prices.of(prompt.most_tokens + judge.longest_answer * 8 + 100, judge.longest_answer)
    return MOST_LOST * (one + again)


def cost_of(verdict: Verdict, judge: Judge, prompt: Prompt, prices: Prices) -> float:
    """What a verdict cost. What was not counted by the other side, and what was lost, counts at its most."""
    if judge.decides:
        return prices.each * (verdict.asked + verdict.lost)
    one = prices.of(prompt.most_tokens + judge.longest_answer * 8 + 100, judge.longest_answer)
    if verdict.tokens_in is None or verdict.tokens_out is None:
        return one * (verdict.asked + verdict.lost)
    return prices.of(verdict.tokens_in, verdict.tokens_out) + one * verdict.lost


def ask_judge(
    judge: Judge, item: Document, endpoint: Endpoint, *, wait: Callable[[float], Any], order: Sequence[int] = ()
) -> Verdict:
    """The verdict of a judge at an endpoint. Raises `chat.NoAnswer`."""
    if judge.decides:
        reply = decide(endpoint, judge.question(item, order), wait=wait)
        return _with(_read(judge, item, reply, order), [reply])

    def asking(messages: Sequence[Message]) -> Reply:
        return ask(endpoint, model=judge.model, messages=messages, parameters=judge.asked, wait=wait)

    return verdict_on(judge, item, asking, order=order)


def verdict_on(judge: Judge, item: Document, asking: Asking, *, order: Sequence[int] = ()) -> Verdict:
    """Ask, and once more where the answer is none. `asking` takes messages and gives a reply."""
    messages: list[Message] = [*judge.prompt(item, order).messages()]
    first = asking(messages)
    found = _read(judge, item, first, order)
    if found.ending != Ending.UNREADABLE:
        return _with(found, [first])
    again = [
        {"role": "assistant", "content": first.content},
        {"role": "user", "content": AGAIN.format(problem=found.problem)},
    ]
    second = asking([*messages, *again])
    return _with(_read(judge, item, second, order), [first, second])


def remembered(judge: Judge, item: Document, content: str, *, order: Sequence[int] = ()) -> Verdict:
    """The verdict in an answer that was given before; it costs nothing."""
    return _read(judge, item, Reply(content), order)


def _read(judge: Judge, item: Document, reply: Reply, order: Sequence[int]) -> Verdict:
    place = tuple(order)
    if reply.refusal or declines(reply.content):
        words = reply.refusal or reply.content
        return Verdict(Ending.REFUSED, problem=words[:500], order=place)
    if not reply.whole:
        return Verdict(Ending.UNREADABLE, problem="The answer was cut short.", order=place)
    try:
        said = read_answer(reply.content, item, rubric=judge.rubric, criterion=judge.criterion, order=order)
    except Unreadable as error:
        return Verdict(Ending.UNREADABLE, problem=str(error), order=place)
    if not judge.decides:
        # A model is not asked how sure it is: what it says of that without being asked is no measure.
        said = [replace(one, confidence=None) for one in said]
    return Verdict(Ending.SAID, tuple(said), content=reply.content, order=place)


def _with(verdict: Verdict, replies: Sequence[Reply]) -> Verdict:
    return replace(
        verdict,
        model=replies[-1].model,
        tokens_in=_sum(reply.tokens_in for reply in replies),
        tokens_out=_sum(reply.tokens_out for reply in replies),
        seconds=sum(reply.seconds for reply in replies),
        asked=len(replies),
        lost=sum(reply.lost for reply in replies),
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    known = list(counts)
    return None if None in known else sum(count or 0 for count in known)


def orders_for(item: Document) -> list[tuple[int, ...]]:
    """The orders in which an item is shown: one run as it is, candidates as they stand and the other way round."""
    n = len(item.get("candidates", ()))
    return [tuple(range(1, n + 1)), tuple(range(n, 0, -1))] if n > 1 else [()]


def of_both(first: Sequence[Said], second: Sequence[Said], *, preferences: Collection[str]) -> list[Said]:
    """What a judge says whichever way round candidates stand.

    Where it says otherwise the other way round, a preference is a tie with a note, and nothing else counts.
    """
    other = {(said.criterion, said.candidate): said for said in second}
    found = []
    for said in first:
        twin = other.get((said.criterion, said.candidate))
        if twin is None:
            found.append(replace(said, problem="It answers this in one order only."))
        elif said.value == twin.value:
            problems = dict.fromkeys(problem for problem in (said.problem, twin.problem) if problem)
            found.append(replace(said, problem=" ".join(problems)))
        elif said.criterion in preferences:
            found.append(replace(said, value=0.5, problem=said.problem or twin.problem, note=OTHERWISE))
        else:
            found.append(replace(said, value=None, problem=OTHERWISE))
    return found


OTHERWISE = "It says otherwise when the candidates stand the other way round."
