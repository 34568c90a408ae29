"""What is counted of labels as they pass on their way to the files, and whether one passes that must not."""

import msgspec

from goldsets.writers.document import Document, Words
from goldsets.writers.label_row import as_json, gates_of_item


class Tally(msgspec.Struct):
    """Counts of the labels of a part, or of all. `held_out` says that held-out labels are what is asked for."""

    held_out: bool = False
    sealed_families: set[str] = set()
    labels: int = 0
    judgments: int = 0
    leaks: int = 0
    counts: dict[str, dict[str, int]] = {}
    versions: dict[str, set[str]] = {}
    adjudicators: set[str] = set()
    raters: set[str] = set()

    def count(self, document: Document, words: Words) -> None:
        label, task = document.label, document.task
        self.labels += 1
        self.judgments += len(document.judgments)
        sealed = task.split == "held_out" or task.family in self.sealed_families
        self.leaks += sealed and not self.held_out
        gates = {True: "pass", False: "fail", None: "of candidates"}[gates_of_item(document, words)]
        self._one("basis", label.basis)
        self._one("gates", gates)
        self._one("kind", document.kind)
        self._one("provenance", document.provenance)
        self._one("family", task.family)
        for run in document.runs:
            self._one("source", run.source_name)
            for kind, number in (run.redactions or {}).items():
                self._one("redactions", kind, number)
        self.raters.update(judged.rater for judged in document.judgments)
        if label.adjudicator:
            self.adjudicators.add(label.adjudicator)
        rubric, guideline = words.rubrics[label.rubric], words.guidelines[label.guideline]
        self._version("rubric", f"{rubric.name} {rubric.version}")
        self._version("guideline", f"{guideline.name} {guideline.version}")
        for name, value in label.versions.items():
            self._version(name, value if isinstance(value, str) else as_json(value))

    def _one(self, what: str, name: str, number: int = 1) -> None:
        found = self.counts.setdefault(what, {})
        found[name] = found.get(name, 0) + number

    def _version(self, name: str, value: str) -> None:
        self.versions.setdefault(name, set()).add(value)

    def add(self, other: "Tally") -> None:
        self.labels += other.labels
        self.judgments += other.judgments
        self.leaks += other.leaks
        for what, names in other.counts.items():
            for name, number in names.items():
                self._one(what, name, number)
        for name, values in other.versions.items():
            self.versions.setdefault(name, set()).update(values)
        self.adjudicators |= other.adjudicators
        self.raters |= other.raters
