"""Reads which candidate is better.

Of two: {"prefers": place, "strength": 1 to the criterion's} or {"tie": "equally_good" | "equally_bad"}.
A ranking: {"ranks": [rank at each place]}, 1 is best, equal ranks where the criterion allows ties.
Best and worst: {"best": place, "worst": place}. Each may have "reasons": [option].

Gates come first: a candidate that fails one, or on which the rater is unsure, is ranked below all that pass and ties
there. Raters rank those that pass; where fewer than two do, there is nothing left to say and nothing may be said.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from reviews.enums import PreferenceForm, Tie
from reviews.models import Criterion

from .subject import Subject

PARTS = {
    PreferenceForm.PAIR: {"prefers", "strength", "tie"},
    PreferenceForm.RANKING: {"ranks"},
    PreferenceForm.BEST_WORST: {"best", "worst"},
}


def read_preference(
    criterion: Criterion, given: Any, *, name: str, subject: Subject, passing: set[int], errors: dict[str, str]
) -> dict[str, Any] | None:
    """The columns of `AnyValue`, or None where nothing stands or something is wrong."""
    form = PreferenceForm(criterion.settings["form"])
    if form == PreferenceForm.PAIR and len(subject.order) != 2:
        errors[name] = f"“{criterion.title}” compares two, and this item has {len(subject.order)} candidates."
        return None
    if given is not None and not isinstance(given, Mapping):
        errors[name] = "A preference is an object."
        return None
    if len(passing) < 2:
        return _decided_by_gates(given, name, subject, passing, errors)
    if not given:
        if criterion.required:
            errors[name] = f"Say which is better for “{criterion.title}”."
        return None
    for part in set(given) - PARTS[form] - {"reasons"}:
        errors[f"{name}.{str(part)[:40]}"] = "A preference of this form has no such part."
    reader = _Preference(criterion, given, name, subject, passing, errors)
    before = len(errors)
    columns = {PreferenceForm.PAIR: reader.pair, PreferenceForm.RANKING: reader.ranking}.get(form, reader.best_worst)()
    choices = reader.reasons()
    return {**columns, "choices": choices} if len(errors) == before else None


def _decided_by_gates(
    given: Any, name: str, subject: Subject, passing: set[int], errors: dict[str, str]
) -> dict[str, Any] | None:
    """One passes: it is preferred, without a strength. None passes: both, or all, fail and nothing is preferred."""
    if given:
        errors[name] = "The gates decide here: only candidates that pass every gate are compared."
        return None
    ranks = tuple(1 if position in passing or not passing else 2 for position in sorted(subject.order))
    return {"ranks": ranks, "tie": "" if passing else Tie.BOTH_FAIL.value}


class _Preference:
    """Reads one preference among the candidates that pass."""

    def __init__(
        self,
        criterion: Criterion,
        given: Mapping[str, Any],
        name: str,
        subject: Subject,
        passing: set[int],
        errors: dict[str, str],
    ):
        self.criterion, self.given, self.name = criterion, given, name
        self.subject, self.passing, self.errors = subject, passing, errors

    def wrong(self, sentence: str, part: str = "") -> dict[str, Any]:
        self.errors[f"{self.name}.{part}" if part else self.name] = sentence
        return {}

    def place(self, part: str) -> int | None:
        """The position of the passing candidate that is named by its place, with what is wrong noted."""
        place = self.given.get(part)
        if type(place) is not int or not 1 <= place <= len(self.subject.order):
            self.wrong(f"Name a candidate by its place, from 1 to {len(self.subject.order)}.", part)
            return None
        candidate = self.subject.candidate_at(place)
        if candidate not in self.passing:
            self.wrong("This candidate fails a gate, so it stands below those that pass.", part)
            return None
        return candidate

    def pair(self) -> dict[str, Any]:
        most = self.criterion.settings.get("strength", 0)
        tie, strength = self.given.get("tie") or "", self.given.get("strength")
        if tie:
            if tie not in self.criterion.settings.get("ties", []):
                return self.wrong("This kind of tie is not offered here.", "tie")
            if self.given.get("prefers") or strength:
                return self.wrong("Prefer one, or say that they are level, not both.", "tie")
            return {"ranks": (1, 1), "value": 0, "tie": tie}
        better = self.place("prefers")
        if most and (type(strength) is not int or not 1 <= strength <= most):
            return self.wrong(f"Say how much better, from 1 to {most}.", "strength")
        if not most and strength is not None:
            return self.wrong("This preference has no strength.", "strength")
        if better is None:
            return {}
        first_is_better = better == min(self.subject.order)
        amount = strength if most and isinstance(strength, int) else 1
        return {"ranks": (1, 2) if first_is_better else (2, 1), "value": -amount if first_is_better else amount}

    def ranking(self) -> dict[str, Any]:
        given, size = self.given.get("ranks"), len(self.subject.order)
        if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != size:
            return self.wrong(
                f"Give a rank, 1 is best, for each of the {size} places; null where a gate fails.", "ranks"
            )
        ranks: dict[int, int] = {}
        for place, rank in enumerate(given, start=1):
            candidate = self.subject.candidate_at(place)
            if candidate not in self.passing:
                if rank is not None:
                    return self.wrong(f"Candidate {place} fails a gate and has no rank of its own.", "ranks")
            elif type(rank) is not int or not 1 <= rank <= size:
                return self.wrong(f"Rank candidate {place} from 1 to {size}.", "ranks")
            else:
                ranks[candidate] = rank
        if len(set(ranks.values())) < len(ranks) and Tie.EQUALLY_GOOD not in self.criterion.settings.get("ties", []):
            return self.wrong("Ties are not offered here: give each candidate a rank of its own.", "ranks")
        return {"ranks": self._whole(ranks)}

    def best_worst(self) -> dict[str, Any]:
        best = self.place("best")
        worst = None
        if len(self.passing) == len(self.subject.order):
            worst = self.place("worst")
        elif self.given.get("worst") is not None:
            return self.wrong("The worst are those that fail a gate.", "worst")
        if best is None or (worst is None and len(self.passing) == len(self.subject.order)):
            return {}
        if best == worst:
            return self.wrong("The best and the worst are two different candidates.", "worst")
        return {"ranks": self._whole({c: 1 if c == best else 3 if c == worst else 2 for c in self.passing})}

    def _whole(self, ranks: dict[int, int]) -> tuple[int, ...]:
        """The ranks by position without gaps, those that fail a gate together at the end."""
        dense = {rank: place for place, rank in enumerate(sorted(set(ranks.values())), start=1)}
        last = len(dense) + 1
        return tuple(dense[ranks[c]] if c in ranks else last for c in sorted(self.subject.order))

    def reasons(self) -> tuple[int, ...] | None:
        from_options = self.given.get("reasons")
        if from_options is None or from_options == []:
            return None
        known, options = self.criterion.level_values, from_options
        if (
            not isinstance(options, Sequence)
            or isinstance(options, str)
            or any(type(option) is not int or option not in known for option in options)
            or len(set(options)) != len(options)
        ):
            self.wrong("Choose any of the reasons offered, each once.", "reasons")
            return None
        return tuple(sorted(options))
