"""The card of an export (README.md) in the layout of the Hugging Face hub, and the same for machines in Croissant."""

import json
import re
from pathlib import Path
from typing import Any

from goldsets.writers.files import WrittenFile

CARD_NAME, CROISSANT_NAME = "README.md", "croissant.json"
LOADED = (".parquet", ".jsonl", ".csv")
# A licence that is called as in the list of SPDX, say CC-BY-4.0; the hub knows these in lower case.
SPDX = re.compile(r"[A-Za-z0-9]+([.-][A-Za-z0-9]+)*\+?")
OTHER_LICENCE = "https://choosealicense.com/licenses/other/"
MEDIA_TYPES = {
    ".parquet": "application/vnd.apache.parquet",
    ".jsonl": "application/jsonlines",
    ".json": "application/json",
    ".csv": "text/csv",
}


def card(document: dict[str, Any], files: list[WrittenFile], split: str) -> str:
    """The card, with a configuration for each format that loads as rows.

    A repository on the hub is loaded by one reader alone, so only files of one kind are named: tables if any.
    """
    ending = next((one for one in LOADED if any(file.format and file.name.endswith(one) for file in files)), "")
    named: dict[str, list[str]] = {}
    for file in files:
        if file.format and ending and file.name.endswith(ending):
            named.setdefault(file.format, []).append(file.name)
    lines = ["---", f"pretty_name: {json.dumps(document['dataset']['name'], ensure_ascii=False)}"]
    lines += _licence_of_all(document["licences"])
    lines += ["configs:"] if named else []
    for name, paths in named.items():
        lines += [f"- config_name: {name}", "  data_files:", f"  - split: {split}", "    path:"]
        lines += [f"    - {json.dumps(path)}" for path in paths]
    dataset = document["dataset"]
    lines += [
        "---",
        f"# {dataset['name']}, version {dataset['version']}",
        "",
        _summary(document),
        "",
        f"**Leaks.** {document['leak_check']['words']}",
        "",
        "| Format | Rows | Left out |",
        "|---|---|---|",
    ]
    for name, found in document["formats"].items():
        reasons = ", ".join(f"{why} ({count:,})" for why, count in found["left_out"].items())
        lines.append(f"| `{name}` | {found['rows']:,} | {reasons or 'nothing'} |")
    lines += ["", "## What was decided", ""]
    lines += [f"- {words}" for words in document["policies"].values()]
    lines += ["", "Every file's SHA-256 stands in `manifest.json`, with versions, counts and what was left out.", ""]
    return "\n".join(lines)


def _licence_of_all(licences: dict[str, str]) -> list[str]:
    """How the hub is told: one licence where it is stated of every source, else “other”, with the words below."""
    stated = set(licences.values())
    licence = stated.pop() if len(stated) == 1 else ""
    if licence and SPDX.fullmatch(licence):
        return [f"license: {licence.lower()}"]
    return ["license: other", *([f"license_name: {json.dumps(licence, ensure_ascii=False)}"] if licence else [])]


def _licences_for_machines(licences: dict[str, str]) -> list[str]:
    """Every licence that is stated, as an address where it is one of SPDX's; “other” where one is not stated."""
    return [
        f"https://spdx.org/licenses/{licence}" if SPDX.fullmatch(licence) else licence or OTHER_LICENCE
        for licence in sorted(set(licences.values()) or {""})
    ]


def _summary(document: dict[str, Any]) -> str:
    counts = document["counts"]
    what = f"{counts['rows']:,} labels on {counts['judgments']:,} judgments by {counts['raters']} raters"
    return f"{what}, written {document['created_at']}. Purpose: {document['definition']['purpose']}."


def croissant(document: dict[str, Any], files: list[WrittenFile]) -> dict[str, Any]:
    """Croissant 1.0 with the fields of responsible AI: every file with its SHA-256."""
    dataset, counts = document["dataset"], document["counts"]
    per_item = counts["judgments"] / counts["rows"] if counts["rows"] else 0
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": dataset["name"],
        "description": f"Labels of experts on runs of agents: {counts['rows']} labels, purpose "
        f"{document['definition']['purpose']}.",
        "version": f"{dataset['version']}.0.0",
        "datePublished": document["created_at"],
        "license": _licences_for_machines(document["licences"]),
        "url": f"urn:uuid:{dataset['uid']}",
        "citeAs": f"{dataset['name']}, version {dataset['version']}, {dataset['version_uid']}",
        "rai:annotationsPerItem": f"{per_item:.2f}",
        "rai:dataAnnotationProtocol": "Experts judge by a rubric; gates come before quality, and differences are "
        f"settled by a lead. {', '.join(document['versions'].get('guideline', []))}.",
        "rai:dataAnnotationPlatform": "Assay",
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": file.name,
                "name": file.name,
                "contentUrl": file.name,
                "contentSize": f"{file.bytes} B",
                "encodingFormat": MEDIA_TYPES.get(Path(file.name).suffix, "application/octet-stream"),
                "sha256": file.sha256,
            }
            for file in files
        ],
    }


CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


def write(document: dict[str, Any], files: list[WrittenFile], split: str, folder: Path) -> None:
    (folder / CARD_NAME).write_text(card(document, files, split), encoding="utf-8")
    text = json.dumps(croissant(document, files), indent=2, ensure_ascii=False) + "\n"
    (folder / CROISSANT_NAME).write_text(text, encoding="utf-8")
