"""The manifest of an export: what is in it, what was left out, its versions, and how to tell that it is whole."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from goldsets.writers.examples import FIRST, LONGER, PAIRS
from goldsets.writers.files import Told, WrittenFile
from goldsets.writers.tally import Tally

MANIFEST_NAME = "manifest.json"
POLICY_WORDS = {
    "ties": {
        "leave_out": "Ties are left out.",
        "keep": "Ties leave where the format can say so, and are left out elsewhere.",
        "both_ways": "Ties leave where the format can say so, elsewhere as two rows, each way once, with margin 0.",
    },
    "neutral": {
        "good": "Where a format knows right and wrong alone, a neutral step counts as right.",
        "bad": "Where a format knows right and wrong alone, a neutral step counts as wrong.",
        "leave_out": "Where a format knows right and wrong alone, a run with a neutral step is left out.",
    },
    "duplicates": {
        "all": "An item with labels in several queues leaves once for each.",
        "latest": "An item with labels in several queues leaves with the latest.",
        "agreeing": "An item with labels in several queues leaves with the latest, and not at all where they conflict.",
    },
    "raters": {
        "within": "Judgments leave within the rows, raters under pseudonyms.",
        "none": "Labels leave without the judgments behind them: no rater's words, evidence or corrections.",
    },
}
TITLES = {
    "gates": "Gates",
    "ties": "Ties",
    "margin": "Margin",
    "gate_strength": "Strength of a gate",
    "neutral": "Neutral steps",
    "kto_label": "KTO's label",
    "prompt": "Where prompts end",
    "arguments": "Tool calls",
    "corrections": "Corrections",
    "duplicates": "Labels in several queues",
    "raters": "Raters",
    "licences": "Licences",
}
ALWAYS = {
    "gates": "A run that fails a gate is never a positive example; where all candidates fail, nothing is preferred.",
    "margin": "The strength that people gave, 1 to 3; 0 where a gate or a correction decided, and for ties.",
    "gate_strength": "Where a format has to have a strength and a gate decided, it is 3.",
    "kto_label": "True where every gate of the run passes.",
    "prompt": "Pairs are cut at their longest common beginning; single runs at the agent's first message.",
    "arguments": "Arguments of tool calls are JSON text, as they were written; calls are numbered anew in each row.",
    "corrections": "A correction counts as better than what the agent did, unless the run had failed before it.",
}
MOST_NAMED = 5


def manifest(
    tally: Tally,
    told: dict[str, Told],
    files: list[WrittenFile],
    *,
    dataset: dict[str, Any],
    definition: dict[str, Any],
    left_out: dict[str, int],
    difference: dict[str, Any] | None,
    licences: dict[str, str],
    groups: dict[str, Any] | None,
    created_at: str,
) -> dict[str, Any]:
    """The whole document, as plain JSON types. `licences` are those stated of sources by now, `groups` how many groups
    of runs leave and how many of them have no variance, where a format has groups.
    """
    counts = tally.counts
    chosen = {name: POLICY_WORDS[name][word] for name, word in definition["policies"].items()}
    return {
        "dataset": dataset,
        "created_at": created_at,
        "definition": definition,
        "policies": ALWAYS | chosen | {"licences": _licences(counts.get("source", {}), licences)},
        "files": [msgspec.to_builtins(file) for file in files],
        "row_hash": "row_sha256 in rows of labels is the SHA-256 of the row's JSON with sorted keys, no white space, "
        "without row_sha256.",
        "counts": {
            "rows": tally.labels,
            "judgments": tally.judgments,
            "raters": len(tally.raters),
            "labels_by_basis": _sorted(counts.get("basis", {})),
            "labels_by_gates": _sorted(counts.get("gates", {})),
            "labels_by_kind": _sorted(counts.get("kind", {})),
            "rows_by_family": _sorted(counts.get("family", {})),
            "rows_by_source": _sorted(counts.get("source", {})),
            "rows_by_provenance": _sorted(counts.get("provenance", {})),
        },
        "licences": {source: licences.get(source, "") for source in sorted(counts.get("source", {}))},
        "formats": {name: _format(found) for name, found in told.items()},
        "groups": groups,
        "left_out": left_out,
        "difference": difference,
        "leak_check": _leak_check(tally, left_out),
        "redactions": _sorted(counts.get("redactions", {})),
        "versions": {name: sorted(values) for name, values in sorted(tally.versions.items())},
        "raters": sorted(tally.raters) if definition["policies"].get("raters") != "none" else [],
        "adjudicators": sorted(tally.adjudicators),
    }


def _licences(sources: Iterable[str], stated: dict[str, str]) -> str:
    """Of the sources in it, what each licence is stated of."""
    of: dict[str, list[str]] = {}
    for source in sorted(sources):
        of.setdefault(stated.get(source, ""), []).append(source)
    without = of.pop("", [])
    said = [f"{licence} is stated of {_names(named)}." for licence, named in sorted(of.items())]
    said += [f"No licence is stated of {_names(without)}."] if without else []
    return " ".join(said) or "Nothing came in from a file."


def _names(sources: list[str]) -> str:
    more = len(sources) - MOST_NAMED
    return ", ".join(sources[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def _format(told: Told) -> dict[str, Any]:
    """Rows of one format, labels that made none by reason, and what is to be known before it is trained on."""
    return {
        "rows": told.rows,
        "left_out": _sorted(told.left_out),
        "counts": _sorted(told.counts),
        "baselines": _baselines(told.counts),
    }


def _baselines(counts: dict[str, int]) -> dict[str, Any] | None:
    """How often the longer side, and the first one, is the better: what a reader of neither would get right."""
    pairs = counts.get(PAIRS, 0)
    if not pairs:
        return None
    return {"pairs": pairs} | {name: round(counts.get(name, 0) / pairs, 4) for name in (LONGER, FIRST)}


def _leak_check(tally: Tally, left_out: dict[str, int]) -> dict[str, Any]:
    if tally.held_out:
        return {
            "passed": True,
            "words": "Held-out labels alone, for evaluation; nothing to train with.",
        }
    passed = tally.leaks == 0
    kept = sum(count for name, count in left_out.items() if name.startswith("held_out"))
    words = (
        f"No row comes from a held-out task or family; {kept} were left out for that."
        if passed
        else f"{tally.leaks} rows come from held-out tasks or families."
    )
    return {"passed": passed, "words": words}


def _sorted(counts: dict[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items()))


def write(document: dict[str, Any], folder: Path) -> None:
    """The manifest as a file beside the data."""
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    (folder / MANIFEST_NAME).write_text(text, encoding="utf-8")
