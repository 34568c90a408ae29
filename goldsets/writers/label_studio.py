"""Label Studio: tasks with one annotation for the label and one for each rater, and the labelling config for them.

It refuses annotations by people that it does not know, so who said it stands among the answers. An answer is named by
its criterion's key, with a hyphen what kind it is unless one of several, and of which candidate. No key has a hyphen.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any
from xml.etree import ElementTree

from goldsets.writers.chat import as_text, messages_of
from goldsets.writers.document import BINARY, MULTI_CHOICE, NUMBER, PREFERENCE, TEXT, Document, Question, Said
from goldsets.writers.examples import Reading
from goldsets.writers.format import Format
from goldsets.writers.label_row import in_words, letter

SHOWN, SAID_BY, RATIONALE, OTHER = "the-text", "said-by", "the-rationale", "other-answers"
CONFIG = "label_studio.xml"
MOST_CANDIDATES = 26
SEVERAL = {TEXT: "text", PREFERENCE: "text", NUMBER: "number", MULTI_CHOICE: "any"}
NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def rows(document: Document, reading: Reading) -> Iterator[dict[str, Any]]:
    label = document.label
    reading.counts[_asked_of(len(document.runs))] += 1
    by = label.adjudicator or "consensus"
    annotations = [_annotation(label.values, reading, by, label.rationale, 0, ground_truth=True)]
    annotations += [
        _annotation(judged.values, reading, judged.rater, judged.rationale, judged.active_seconds)
        for judged in document.judgments
    ]
    yield {
        "data": {
            "item": document.item,
            "task": document.task.key,
            "family": document.task.family,
            "text": _shown(document),
        },
        "annotations": annotations,
        "predictions": [],
    }


def _shown(document: Document) -> str:
    """The run; several one below the other, each under its letter."""
    texts = [as_text(messages_of(run.steps)) for run in document.runs]
    if document.kind == "trajectory":
        return texts[0]
    return "\n\n".join(f"— {letter(at)} —\n\n{text}" for at, text in enumerate(texts, start=1))


def _annotation(
    values: list[Said], reading: Reading, by: str, rationale: str, seconds: int, *, ground_truth: bool = False
) -> dict[str, Any]:
    known = [value for value in values if not reading.words.questions[value.criterion].place[0]]
    own = [value for value in values if reading.words.questions[value.criterion].place[0]]
    result = [_words(SAID_BY, [by]), *(_result(value, reading) for value in known)]
    if own:
        named = (f"{reading.words.questions[value.criterion].key}: {in_words(value, reading.words)}" for value in own)
        result.append(_words(OTHER, list(named)))
    if rationale:
        result.append(_words(RATIONALE, [rationale]))
    return {"lead_time": seconds, "was_cancelled": False, "ground_truth": ground_truth, "result": result}


def _result(value: Said, reading: Reading) -> dict[str, Any]:
    question = reading.words.questions[value.criterion]
    name = _name(question, value.candidate)
    if question.kind in (TEXT, PREFERENCE):
        return _words(name, [in_words(value, reading.words)])
    if question.kind == NUMBER:
        return _answer(name, "number", {"number": value.number})
    if question.kind == MULTI_CHOICE:
        chosen = [question.names.get(option, str(option)) for option in value.choices or ()]
        return _answer(name, "choices", {"choices": chosen})
    return _answer(name, "choices", {"choices": [in_words(value, reading.words)]})


def _name(question: Question, candidate: int | None) -> str:
    parts = [question.key, SEVERAL.get(question.kind), candidate]
    return "-".join(str(part) for part in parts if part is not None)


def _words(name: str, texts: list[str]) -> dict[str, Any]:
    return _answer(name, "textarea", {"text": texts})


def _answer(name: str, kind: str, told: dict[str, Any]) -> dict[str, Any]:
    return {"from_name": name, "to_name": SHOWN, "type": kind, "value": told}


# --- The labelling config ---------------------------------------------------------------------------------------------
def _asked_of(runs: int) -> str:
    return f"items of {runs} run{'' if runs == 1 else 's'}"


def config(reading: Reading, _files: list[str]) -> dict[str, Any]:
    """What a project in Label Studio needs before the tasks are imported: the text, and a control for each answer."""
    view = ElementTree.Element("View")
    ElementTree.SubElement(view, "Text", name=SHOWN, value="$text")
    most = max((n for n in range(1, MOST_CANDIDATES + 1) if reading.counts[_asked_of(n)]), default=1)
    asked = sorted(reading.words.questions.values(), key=lambda question: question.place)
    controls: dict[str, list[Question]] = {}
    for question in asked:
        if not question.place[0]:
            for candidate in range(1, most + 1) if question.scope == "candidate" else (None,):
                controls.setdefault(_name(question, candidate), []).append(question)
    for name, questions in controls.items():
        _control(view, name, questions)
    for name, title in ((OTHER, "Other answers"), (RATIONALE, "Rationale"), (SAID_BY, "Said by")):
        _heading(view, title)
        ElementTree.SubElement(view, "TextArea", name=name, toName=SHOWN)
    ElementTree.indent(view)
    return {CONFIG: ElementTree.tostring(view, encoding="unicode") + "\n"}


def _control(view: ElementTree.Element, name: str, questions: list[Question]) -> None:
    """One control for a criterion in all its versions, with every option that any of them has."""
    latest = questions[-1]
    candidate = name.rpartition("-")[2]
    _heading(view, f"{latest.title}, {letter(int(candidate))}" if candidate.isdecimal() else latest.title)
    named = {"name": name, "toName": SHOWN}
    if latest.kind in (TEXT, PREFERENCE):
        ElementTree.SubElement(view, "TextArea", named)
    elif latest.kind == NUMBER:
        ElementTree.SubElement(view, "Number", named)
    else:
        several = "multiple" if latest.kind == MULTI_CHOICE else "single"
        choices = ElementTree.SubElement(view, "Choices", {**named, "choice": several})
        for word in dict.fromkeys(word for question in questions for word in _options(question)):
            ElementTree.SubElement(choices, "Choice", value=NOT_XML.sub("", word))


def _options(question: Question) -> Iterable[str]:
    return ("Yes", "No") if question.kind == BINARY else question.names.values()


def _heading(view: ElementTree.Element, title: str) -> None:
    ElementTree.SubElement(view, "Header", value=NOT_XML.sub("", title))


FORMATS = [Format(name="label_studio", rows=rows, kind="array", beside=config)]
