"""Asks a judge anew about failed runs that are dressed up, within a budget. An answer is kept and not paid twice."""

import time
from decimal import Decimal
from typing import Any

from goldsets.enums import GraderScale
from goldsets.models import GraderVersion, JudgeAnswer
from goldsets.queries.judges import document_of, endpoint, judge_of, prices_of, setup_of
from goldsets.reviewing.chat import Endpoint, NoAnswer
from goldsets.reviewing.examples import Example
from goldsets.reviewing.judge_prompt import EDITION, Document
from goldsets.reviewing.judge_scores import likelihood, scores_from
from goldsets.reviewing.judging import Verdict, ask_judge, cost_of, most_cost, remembered
from reviews.errors import Conflict
from reviews.models import Item


class Probing:
    """A judge as its version asks, and what is left of the budget."""

    def __init__(self, version: GraderVersion, budget: Decimal):
        setup = setup_of(version)
        self.judge, self.prices, self.left = judge_of(setup), prices_of(setup), float(budget)
        self.server = endpoint(setup.protocol)
        self.version = version

    @property
    def told(self) -> dict[str, Any]:
        """All that the judge asks by, as the artefact keeps it."""
        return {
            "model": self.judge.model,
            "parameters": self.judge.asked,
            "criterion": self.judge.criterion,
            "rubric": self.judge.rubric,
            "guideline": self.judge.guideline,
            "examples": list(self.judge.examples),
            "decides": self.judge.decides,
            "edition": EDITION,
            "fingerprint": self.version.fingerprint,
        }

    @property
    def asking(self) -> Any:
        """The judge's word on an example that is dressed up; None where it cannot be asked."""
        if self.server is None or self.left <= 0:
            return None
        server = self.server
        return lambda example, way: self._ask(server, example, way)

    def _ask(self, server: Endpoint, example: Example, way: str) -> float | None:
        # scikit-learn comes with it: there in the worker while something is compiled, and nowhere else.
        from goldsets.reviewing.judge_rung import dressed_up

        item = Item.objects.select_related("trajectory__task", "trajectory__policy").get(
            uid=example.key, project=self.version.grader.project_id
        )
        document = dressed_up(document_of(item), way)
        found = scores_from(
            self._verdict(server, document).said, rubric=self.judge.rubric, criterion=self.judge.criterion
        )
        said = next((one for one in found if one.criterion == self.judge.criterion), None)
        if said is None:
            return None
        return likelihood(said.value, said.confidence if self.version.scale == GraderScale.BINARY else None)

    def _verdict(self, server: Endpoint, document: Document) -> Verdict:
        """Raises Conflict where the budget is used up or no answer comes."""
        prompt = self.judge.prompt(document)
        key = self.judge.key(prompt)
        known = JudgeAnswer.objects.filter(key=key).values_list("content", flat=True).first()
        if known is not None:
            return remembered(self.judge, document, known)
        if (most := most_cost(self.judge, prompt, self.prices)) > self.left:
            raise Conflict(
                f"The budget is too small to ask the judge about every run that is dressed up: {self.left:.4f} US "
                f"dollars are left, and one answer may take {most:.4f}."
            )
        try:
            verdict = ask_judge(self.judge, document, server, wait=time.sleep)
        except NoAnswer as error:
            raise Conflict(f"The judge gives no answer: {error}") from error
        self.left -= cost_of(verdict, self.judge, prompt, self.prices)
        if verdict.content:
            JudgeAnswer.objects.bulk_create(
                [JudgeAnswer(key=key, content=verdict.content, model=verdict.model)], ignore_conflicts=True
            )
        return verdict
