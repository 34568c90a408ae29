"""What a grader's scores are held against: a verdict, yes or no, made of what a label or a judgment says.

1. The verdict of the whole run: no gate fails, and what is asked of task success is answered in the upper half of its
   levels. A rubric without gates and without task success is held by its questions of yes or no.
2. Or the gates alone, whatever was achieved.
3. Or one criterion: a gate that passes, a yes, a level in the upper half or from a stated one on.

A gate on which the answer is unsure leaves the run without a verdict, unless another gate fails.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, QuerySet

from goldsets.models import GraderScore, GraderVersion
from reviews.enums import UNANSWERED, Block, CriterionKind, GateAnswer, ItemKind, Purpose, Scope
from reviews.errors import Invalid
from reviews.models import Criterion, Label, Project, Rubric

VERDICT, GATES = "verdict", "gates"
# Kinds whose answers can be a yes or a no.
DECIDING = (CriterionKind.GATE, CriterionKind.BINARY, CriterionKind.ORDINAL, CriterionKind.NUMBER)


@dataclass(frozen=True)
class Against:
    """`name` is "verdict", "gates" or a criterion's key; `least` the value from which on that criterion passes."""

    name: str = VERDICT
    least: float | None = None
    words: str = ""

    @property
    def key(self) -> str:
        """As it is asked for: "success>=3"."""
        return self.name if self.least is None else f"{self.name}>={self.least:g}"


@dataclass(frozen=True, slots=True)
class Asked:
    """What of a criterion bears on a verdict; `middle` is that of its levels."""

    key: str
    title: str
    kind: str
    block: str
    middle: float | None

    def passes(self, value: float, least: float | None = None) -> bool | None:
        if self.kind == CriterionKind.GATE:
            return None if value == GateAnswer.UNSURE else value == GateAnswer.PASS
        if least is not None:
            return value >= least
        if self.kind == CriterionKind.BINARY:
            return bool(value)
        return None if self.middle is None else value > self.middle


def asked_in(project: Project, of: ItemKind = ItemKind.TRAJECTORY) -> dict[int, Asked]:
    """Every criterion of the project's rubrics for such items, asked of one as a whole, that can decide. One query."""
    return _asked_by(Rubric.objects.filter(project=project, item_kind=of))


def asked_behind(version: GraderVersion) -> dict[int, Asked]:
    """Of `asked_in` what the labels of the runs scored by a version answer; all of it before there are such labels."""
    scored = GraderScore.objects.filter(version=version, item=OuterRef("item"))
    labels = Label.objects.filter(rubric=OuterRef("pk"), queue__purpose=Purpose.WORK).exclude(basis__in=UNANSWERED)
    rubrics = Rubric.objects.filter(project=version.grader.project_id, item_kind=ItemKind.TRAJECTORY)
    return _asked_by(rubrics.filter(Exists(labels.filter(Exists(scored))))) or asked_in(version.grader.project)


def _asked_by(rubrics: QuerySet[Rubric]) -> dict[int, Asked]:
    rows = Criterion.objects.filter(rubric__in=rubrics, scope=Scope.ITEM, kind__in=DECIDING)
    return {row.pk: _asked(row) for row in rows.order_by("rubric", "position")}


def _asked(row: Criterion) -> Asked:
    values = row.level_values
    middle = (min(values) + max(values)) / 2 if values else None
    return Asked(row.key, row.title, row.kind, row.block, middle)


def against(text: str, asked: Mapping[int, Asked]) -> Against:
    """What is asked for as "", "verdict", "gates", "KEY" or "KEY>=NUMBER". Raises Invalid for what there is not."""
    name, _, least = (part.strip() for part in text.partition(">="))
    if name in ("", VERDICT, GATES) and not least:
        return Against(name or VERDICT, None, _words_of_all(name, asked))
    known = {one.key: one for one in asked.values()}
    if name not in known:
        told = ", ".join([VERDICT, GATES, *known])
        raise Invalid({"against": f"Scores can be held against {told}."})
    one = known[name]
    number = _number(least) if least else None
    if one.kind == CriterionKind.NUMBER and number is None:
        raise Invalid({"against": f"Say from which number on {one.title} passes, as in {name}>=1."})
    if one.kind == CriterionKind.GATE and number is not None:
        raise Invalid({"against": f"{one.title} is a gate and has no levels."})
    return Against(name, number, f"{one.title} {_passing(one, number)}")


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not abs(number) < 1e9:
        raise Invalid({"against": "Behind >= stands a number."})
    return number


def _passing(one: Asked, least: float | None) -> str:
    if one.kind == CriterionKind.GATE:
        return "passes"
    if least is None and one.kind == CriterionKind.BINARY:
        return "is yes"
    return f"is above {one.middle:g}" if least is None else f"is {least:g} or more"


def _words_of_all(name: str, asked: Mapping[int, Asked]) -> str:
    if name == GATES:
        return "every gate passes"
    weighed = {one.title: one for one in asked.values() if _is_success(one)}
    more = [f"{title} {_passing(one, None)}" for title, one in weighed.items()]
    return " and ".join(["no gate fails", *more])


def _is_success(one: Asked) -> bool:
    return one.block == Block.TASK_SUCCESS and one.kind in (CriterionKind.ORDINAL, CriterionKind.BINARY)


Answers = Iterable[tuple[Asked, float]]


def verdict(answers: Answers, held: Against) -> bool | None:
    """Whether what was answered passes; None where that was not answered."""
    given = list(answers)
    if held.name not in (VERDICT, GATES):
        return next((one.passes(value, held.least) for one, value in given if one.key == held.name), None)
    gates = [one.passes(value) for one, value in given if one.kind == CriterionKind.GATE]
    if False in gates:
        return False
    if None in gates or held.name == GATES:
        return True if gates and None not in gates else None
    rest = [one.passes(value) for one, value in given if _is_success(one)]
    if not gates and not rest:
        rest = [one.passes(value) for one, value in given if one.kind == CriterionKind.BINARY]
    return None if None in rest or not (gates or rest) else all(rest)


def failed_gates(answers: Answers) -> tuple[str, ...]:
    return tuple(one.title for one, value in answers if one.kind == CriterionKind.GATE and value == GateAnswer.FAIL)
