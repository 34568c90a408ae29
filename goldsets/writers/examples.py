"""Neutral examples, one kind for each thing that can be learnt from a label; every training format is made from these.

What must not become an example is counted with its reason instead:
- a failed gate never makes a positive example, and where all fail, nothing is preferred;
- a run that holds more than text cannot be told in messages.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import msgspec

from goldsets.writers.chat import Message, common_prefix, first_answer, has_attachments, messages_of, tools_text
from goldsets.writers.document import PREFERENCE, Document, Judged, Run, Said, Words

LEAVE_OUT, BOTH_WAYS = "leave_out", "both_ways"
BOTH_FAIL = "both_fail"
# What is counted of pairs.
PAIRS, LONGER, FIRST = "pairs people decided", "the longer one is better", "the first one is better"
LARGEST = 3  # the strength that a failed gate stands for where a format asks for one


class Policies(msgspec.Struct, frozen=True):
    """What becomes of the doubtful ones; the words are those of `goldsets.enums`."""

    ties: str = LEAVE_OUT
    neutral: str = "good"
    duplicates: str = "all"
    raters: str = "within"


class About(msgspec.Struct, frozen=True):
    """What every example tells of where it comes from. `part` tells examples of one label apart."""

    label: str
    item: str
    family: str
    task: str
    basis: str
    source: str
    part: str = ""

    @property
    def id(self) -> str:
        return f"{self.label}{self.part}"


class Pair(msgspec.Struct, frozen=True):
    """Of two ways on from one prompt the better and the worse one.

    `strength` is 1 to 3 as people said, 0 for a tie, None where nobody said one: a gate decided, or a correction.
    """

    about: About
    prompt: list[Message]
    chosen: list[Message]
    rejected: list[Message]
    tools: str
    strength: int | None
    decided_by: str
    chosen_model: str = ""
    rejected_model: str = ""

    @property
    def margin(self) -> float:
        """The strength, and 0, which asks for no margin, where there is none."""
        return float(self.strength or 0)


class Completion(msgspec.Struct, frozen=True):
    """A run as prompt and completion, with whether every gate passes."""

    about: About
    prompt: list[Message]
    completion: list[Message]
    tools: str
    good: bool
    run: Run


class Demonstration(msgspec.Struct, frozen=True):
    """What may be imitated: a run whose gates all pass, or what an expert wrote in a run's place."""

    about: About
    prompt: list[Message]
    completion: list[Message]
    tools: str


class Stepwise(msgspec.Struct, frozen=True):
    """A run in steps, each with its label: below zero wrong, above right, 0 neutral."""

    about: About
    prompt: str
    steps: list[str]
    ratings: list[int]
    seconds: int
    labeler: str


class Candidate(msgspec.Struct, frozen=True):
    answer: list[Message]
    passes: bool
    rank: int
    model: str


class Opinion(msgspec.Struct, frozen=True):
    """What one rater said of two candidates: below zero the first is better."""

    score: int
    reasoning: str


class Ranking(msgspec.Struct, frozen=True):
    """Several ways on from one prompt with their ranks, 1 is best, equal ranks tie."""

    about: About
    prompt: list[Message]
    candidates: list[Candidate]
    tools: str
    strength: int | None
    opinions: list[Opinion]


class Reading(msgspec.Struct):
    """What is needed to read examples from documents, and what was left out on the way, by reason."""

    words: Words
    policies: Policies = Policies()
    left_out: Counter[str] = msgspec.field(default_factory=Counter)
    counts: Counter[str] = msgspec.field(default_factory=Counter)

    # --- Runs ---------------------------------------------------------------------------------------------------------
    def completions(self, document: Document) -> Iterator[Completion]:
        """The one run of a label with gates."""
        if (run := self._only_run(document)) is None:
            return
        good = self.words.gates_pass(document.label.values)
        if good is None:
            self.left_out["no gate tells good from bad"] += 1
            return
        self.counts["every gate passes" if good else "a gate fails"] += 1
        messages = messages_of(run.steps)
        cut = first_answer(messages)
        if cut == 0 or cut == len(messages):
            self.left_out["no prompt, or no answer to it"] += 1
            return
        yield Completion(self._about(document), messages[:cut], messages[cut:], tools_text(run.tools), good, run)

    def demonstrations(self, document: Document) -> Iterator[Demonstration]:
        """The run where every gate passes, and what experts wrote in its place where one fails or not."""
        for found in self.completions(document):
            if found.good:
                yield Demonstration(found.about, found.prompt, found.completion, found.tools)
            else:
                self.left_out["a gate failed"] += 1
        for pair in self.corrections(document):
            yield Demonstration(pair.about, pair.prompt, pair.chosen, pair.tools)

    def corrections(self, document: Document) -> Iterator[Pair]:
        """What an expert wrote against what the agent did, from where they part."""
        if document.kind != "trajectory" or has_attachments(document.runs[0]):
            return
        run = document.runs[0]
        for number, judged in enumerate(document.judgments, start=1):
            for correction in judged.corrections:
                at = correction.step - 1
                if document.label.failure.step and document.label.failure.step < correction.step:
                    self.left_out["a correction after the run had failed"] += 1
                    continue
                instead = [*run.steps[:at], *correction.steps]
                was = run.steps if correction.kind == "continue" else run.steps[: at + 1]
                about = self._about(document, source="correction", part=f"/{number}.{correction.step}")
                yield from self._pair(about, messages_of(instead), messages_of(was), run, None, "correction")

    def stepwise(self, document: Document) -> Iterator[Stepwise]:
        """The run step by step as far as steps have labels. What stands between them goes with the step behind it."""
        labels = {said.step: said.value for said in document.label.steps}
        if not labels:
            self.left_out["no labels of steps"] += 1
            return
        if (run := self._only_run(document)) is None:
            return
        texts = [_step_text(step) for step in run.steps]
        first = min(labels)
        steps, before = [], []
        for position in range(first, max(labels) + 1):
            before.append(texts[position - 1])
            if position in labels:
                steps.append("\n\n".join(before))
                before = []
        yield Stepwise(
            about=self._about(document),
            prompt="\n\n".join(texts[: first - 1]),
            steps=steps,
            ratings=[labels[position] for position in sorted(labels)],
            seconds=sum(judged.active_seconds for judged in document.judgments),
            labeler=document.label.adjudicator or "consensus",
        )

    # --- Runs beside each other ---------------------------------------------------------------------------------------
    def rankings(self, document: Document) -> Iterator[Ranking]:
        """The candidates of a comparison in their order. Where every one fails a gate there is none."""
        preference = self._preference(document)
        if preference is None:
            return
        runs = document.runs
        told = [messages_of(run.steps) for run in runs]
        cut = min(common_prefix(told[0], other) for other in told[1:])
        if cut == 0:
            self.left_out["no common beginning"] += 1
            return
        candidates = [
            Candidate(
                answer=messages[cut:],
                passes=self._passes(document, run),
                rank=rank,
                model=run.outcome.model if run.outcome else "",
            )
            for run, messages, rank in zip(runs, told, preference.ranks or (), strict=True)
        ]
        yield Ranking(
            about=self._about(document),
            prompt=told[0][:cut],
            candidates=candidates,
            tools=tools_text(runs[0].tools),
            strength=self._strength(preference, candidates),
            opinions=[opinion for judged in document.judgments if (opinion := self._opinion(judged, preference))],
        )

    def compares(self, document: Document) -> bool:
        """Whether there is something that pairs could be made of."""
        corrected = document.kind == "trajectory" and any(judged.corrections for judged in document.judgments)
        return corrected or document.kind == "comparison"

    def pairs(self, document: Document) -> Iterator[Pair]:
        """Every two candidates of a comparison of which one is better, and what experts wrote in the place of a run."""
        yield from self.corrections(document)
        preference = self._preference(document)
        if preference is None:
            return
        ranks = preference.ranks or ()
        for one, other in combinations(range(len(document.runs)), 2):
            if ranks[one] != ranks[other]:
                better, worse = (one, other) if ranks[one] < ranks[other] else (other, one)
                yield from self._preferred(document, preference, better, worse)
            elif self.policies.ties == BOTH_WAYS and self._both_pass(document, one, other):
                yield from self._preferred(document, preference, one, other, tie=True)
                yield from self._preferred(document, preference, other, one, tie=True)
            else:
                why = "ties" if self._both_pass(document, one, other) else "both fail a gate"
                self.left_out[why] += 1

    def _preferred(
        self, document: Document, preference: Said, better: int, worse: int, *, tie: bool = False
    ) -> Iterator[Pair]:
        first, second = document.runs[better], document.runs[worse]
        if not self._passes(document, first):
            self.left_out["both fail a gate"] += 1
            return
        if not tie and self._passes(document, second):
            self._count_baselines(first, second, better < worse)
        strength = 0 if tie else abs(preference.value) if preference.value else None
        decided_by = "people" if self._passes(document, second) else "gate"
        about = self._about(document, part=f"/{better + 1}>{worse + 1}")
        yield from self._pair(
            about,
            messages_of(first.steps),
            messages_of(second.steps),
            first,
            strength if decided_by == "people" else None,
            decided_by,
            rejected_model=second.outcome.model if second.outcome else "",
        )

    def _count_baselines(self, better: Run, worse: Run, is_first: bool) -> None:
        """What somebody would get right who looks at length alone, or at the place alone."""
        self.counts[PAIRS] += 1
        self.counts[LONGER] += _length(better) > _length(worse)
        self.counts[FIRST] += is_first

    def _pair(
        self,
        about: About,
        chosen: list[Message],
        rejected: list[Message],
        run: Run,
        strength: int | None,
        decided_by: str,
        rejected_model: str = "",
    ) -> Iterator[Pair]:
        """The pair, cut where its two sides part."""
        cut = common_prefix(chosen, rejected)
        if cut == 0 or chosen == rejected:
            self.left_out["no common beginning" if cut == 0 else "both sides are the same"] += 1
            return
        model = run.outcome.model if run.outcome else ""
        expert = decided_by == "correction"
        yield Pair(
            about=about,
            prompt=chosen[:cut],
            chosen=chosen[cut:],
            rejected=rejected[cut:],
            tools=tools_text(run.tools),
            strength=strength,
            decided_by=decided_by,
            chosen_model="expert" if expert else model,
            rejected_model=model if expert else rejected_model,
        )

    # --- Small parts --------------------------------------------------------------------------------------------------
    def _about(self, document: Document, *, source: str = "", part: str = "") -> About:
        return About(
            label=document.label.uid,
            item=document.item,
            family=document.task.family,
            task=document.task.key,
            basis=document.label.basis,
            source=source or document.kind,
            part=part,
        )

    def _only_run(self, document: Document) -> Run | None:
        """The run of a label of one run that can be told in messages; what stands against it is counted."""
        if document.kind != "trajectory":
            self.left_out[f"a {document.kind}, not one run"] += 1
            return None
        if has_attachments(document.runs[0]):
            self.left_out["holds more than text"] += 1
            return None
        return document.runs[0]

    def _preference(self, document: Document) -> Said | None:
        """The first preference of a comparison of two or more that can be told in messages."""
        if document.kind != "comparison":
            if not self.compares(document):
                self.left_out["nothing is compared"] += 1
            return None
        if any(has_attachments(run) for run in document.runs):
            self.left_out["holds more than text"] += 1
            return None
        said = self.words.of_kind(document.label.values, PREFERENCE)
        if not said or len(said[0].ranks or ()) != len(document.runs):
            self.left_out["no order was said"] += 1
            return None
        if said[0].tie == BOTH_FAIL:
            self.left_out["both fail a gate"] += 1
            return None
        return said[0]

    def _passes(self, document: Document, run: Run) -> bool:
        return self.words.gates_pass(document.label.values, run.position) is not False

    def _both_pass(self, document: Document, one: int, other: int) -> bool:
        return all(self._passes(document, document.runs[at]) for at in (one, other))

    def _strength(self, preference: Said, candidates: list[Candidate]) -> int | None:
        """Below zero where the first of two is better; the largest where a gate decided; None for rankings."""
        if len(candidates) != 2:
            return None
        first, second = candidates
        if first.passes != second.passes:
            return -LARGEST if first.passes else LARGEST
        return _signed(preference)

    def _opinion(self, judged: Judged, preference: Said) -> Opinion | None:
        """What a rater said of the two; nothing where their own gates decided, or of rankings."""
        mine = next((said for said in judged.values if said.criterion == preference.criterion), None)
        if mine is None or mine.tie == BOTH_FAIL or len(mine.ranks or ()) != 2:
            return None
        score = _signed(mine)
        if score is None:
            score = -LARGEST if (mine.ranks or [0])[0] == 1 else LARGEST
        return Opinion(score, judged.rationale)


def _signed(said: Said) -> int | None:
    """The strength of a preference between two, below zero where the first is better; None where nobody said one."""
    if said.tie or len(set(said.ranks or ())) == 1:
        return 0
    return said.value


def _length(run: Run) -> int:
    return sum(len(step.text) + len(step.result.text if step.result else "") for step in run.steps)


def _step_text(step: Any) -> str:
    if step.call:
        answer = f"\n{step.result.text}" if step.result else ""
        return f"{step.text}\n{step.call.name} {step.call.arguments_text}{answer}".strip()
    return step.result.text if step.result else step.text
