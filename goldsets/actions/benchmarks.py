"""Benchmark lists: texts that nothing which leaves for training may come near, registered once and kept."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import IntegrityError, transaction

from goldsets.enums import GoldVerb
from goldsets.models import BenchmarkList, BenchmarkText
from goldsets.stats.near import text_hash, words
from reviews.actions.events import record
from reviews.actions.payloads import storable
from reviews.errors import Conflict, Invalid
from reviews.models import Project
from reviews.rules import check
from reviews.trajectories import jsontext

LENGTHS = {"name": 120, "source": 300, "licence": 120}
MAX_BYTES = 20 * 1024 * 1024
MOST_TEXTS = 200_000
LONGEST_TEXT = 200_000
LONGEST_PLACE = 200
SHA256 = re.compile(r"[0-9a-f]{64}")
# Where a row that is an object may have its text, the first that is there.
TEXT_FIELDS = ("text", "prompt", "question", "instruction", "input")


@transaction.atomic
def register_benchmark(
    *, actor: Any, project: Project, name: str, source: str, licence: str, texts: Sequence[Any]
) -> BenchmarkList:
    """A list of texts, of {"text", "id"} or, where texts may not be copied, of {"sha256", "id"}.

    The same words twice are kept once. Raises Forbidden, Invalid with every field at fault, or Conflict for a name.
    """
    check(actor, "export", project)
    given = {"name": name.strip(), "source": source.strip(), "licence": licence.strip()}
    errors = {
        field: f"Say the {field} in 1 to {LENGTHS[field]} characters."
        for field, text in given.items()
        if not text or len(text) > LENGTHS[field] or not storable(text)
    }
    if not 0 < len(texts) <= MOST_TEXTS:
        errors["texts"] = f"A list has 1 to {MOST_TEXTS:,} texts; these are {len(texts):,}."
    rows: dict[str, BenchmarkText] = {}
    for number, text in enumerate(texts[:MOST_TEXTS], start=1):
        try:
            row = _read(text, number)
        except Invalid as error:
            errors.setdefault("texts", f"Row {number}: {error.message}")
            break
        rows.setdefault(row.sha256, row)
    if errors:
        raise Invalid(errors)
    try:
        with transaction.atomic():
            made = BenchmarkList.objects.create(project=project, added_by=actor, text_count=len(rows), **given)
    except IntegrityError:
        raise Conflict(f"This project has a benchmark list called “{given['name']}” already.", field="name") from None
    for row in rows.values():
        row.benchmark = made
    BenchmarkText.objects.bulk_create(rows.values(), batch_size=1000)
    record(project=project, actor=actor, verb=GoldVerb.BENCHMARK_ADDED, target=made, texts=len(rows), **given)
    return made


def _read(row: Any, number: int) -> BenchmarkText:
    named = row if isinstance(row, Mapping) else {}
    place = str(named.get("id", named.get("task_id", number)))[:LONGEST_PLACE]
    text = row if isinstance(row, str) else next((named[name] for name in TEXT_FIELDS if name in named), None)
    if text is None and isinstance(named.get("sha256"), str):
        sha256 = named["sha256"].lower()
        if not SHA256.fullmatch(sha256):
            raise Invalid({"sha256": "A SHA-256 has 64 hexadecimal digits."})
        return BenchmarkText(place=place, sha256=sha256)
    if not isinstance(text, str) or not words(text):
        raise Invalid({"text": f"There is no text. It stands in {', '.join(TEXT_FIELDS)}, or its hash in sha256."})
    if len(text) > LONGEST_TEXT:
        raise Invalid({"text": f"A text has at most {LONGEST_TEXT:,} characters."})
    if not storable(text) or not storable(place):
        raise Invalid({"text": "It holds characters that cannot be stored."})
    return BenchmarkText(place=place, sha256=text_hash(text), text=text)


def read_benchmark(content: bytes) -> list[Any]:
    """The rows of a file: a JSON list, JSON lines, or plain text with a text a line. Raises Invalid."""
    if len(content) > MAX_BYTES:
        raise Invalid({"file": f"The file is larger than {MAX_BYTES // 1024 // 1024} MB. Register it in parts."})
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Invalid({"file": "The file is not UTF-8 text."}) from None
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise Invalid({"file": "The file is empty."})
    try:
        if text.lstrip().startswith("["):
            return list(jsontext.parse(text.encode()))
        if lines[0].lstrip().startswith(("{", '"')):
            return [jsontext.parse(line.encode()) for line in lines]
    except ValueError as error:
        raise Invalid({"file": f"This is not valid JSON: {error}"}) from None
    return lines
