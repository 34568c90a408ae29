"""The house stands as drawn: who may touch the database, who may know of gold, what may stand in a page."""

import ast
import re
from collections import Counter
from pathlib import Path

from tests.architecture.source import ROOT, files, lines_with, named, tracked, tree

EDGE = {"web", "api", "templatetags"}


def test_the_top_level_has_three_rooms_and_the_usual_files():
    folders = {path.relative_to(ROOT).parts[0] for path in tracked() if len(path.relative_to(ROOT).parts) > 1}
    assert folders <= {".ci", "annotator", "docs", "goldsets", "reviews", "static", "templates", "tests"}


def test_the_http_edge_leaves_the_database_to_queries_and_actions():
    offenders = [
        f"{named(path)}:{node.lineno}"
        for path in files("*.py", "reviews", "goldsets")
        if EDGE & set(path.relative_to(ROOT).parts)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and node.attr in {"objects", "_default_manager"}
    ]
    assert offenders == []


def test_reviews_knows_nothing_of_gold():
    gold = re.compile("gold", re.IGNORECASE)
    everything = [*files("*", "reviews"), *files("*", "templates/reviews"), *files("*", "templates/components")]
    offenders = [named(path) for path in everything if gold.search(path.name)]
    offenders += [place for path in everything for place in lines_with(path, gold)]
    assert offenders == []


def test_what_is_kept_in_another_form_is_counted_anew():
    """Figures outlast an update: the name they are kept under says in which form."""
    keeps = re.compile(r"\b(?:count_and_keep|cache\.set)\(")
    elsewhere = {"goldsets/queries/keeping.py"}
    offenders = [
        named(path)
        for path in files("*.py", "goldsets/queries")
        if keeps.search(path.read_text()) and "-{FORM}-" not in path.read_text()
    ]
    assert set(offenders) == elsewhere


def test_a_statistic_on_a_page_stands_with_its_interval():
    """Or in a word why it has none. Of the three that never have one, what they were counted from stands beside."""
    without = {"average_precision", "ece", "spread"}
    offenders = [
        f"{named(path)}: {shown}"
        for path in files("*.html", "templates")
        for text in [path.read_text()]
        for shown in re.findall(r"([\w.]+)\|value\b", text)
        if not re.search(rf"{re.escape(shown)}\|(?:interval|beneath|why)\b", text)
        and shown.split(".")[-1] not in without
    ]
    assert offenders == []


def test_no_page_has_script_or_style_in_it():
    handler = re.compile(r"<[^>]*\son[a-z]+\s*=", re.IGNORECASE)
    style = re.compile(r"<style\b|<[^>]*\sstyle\s*=", re.IGNORECASE)
    script = re.compile(r"<script\b(?![^>]*\bsrc\s*=)(?![^>]*type=\"application/json\")", re.IGNORECASE)
    evaluated = re.compile(r"\bhx-on\b|hx-vals=['\"]js:|\bhx-vars\b|javascript:", re.IGNORECASE)
    elsewhere = re.compile(r"<(?:script|link|img)\b[^>]*(?:src|href)\s*=\s*['\"](?:https?:)?//", re.IGNORECASE)
    offenders = [
        f"{named(path)}: {found.group(0)[:80]}"
        for path in files("*.html", "templates", "annotator", "reviews", "goldsets")
        for pattern in (handler, style, script, evaluated, elsewhere)
        for found in pattern.finditer(path.read_text())
    ]
    assert offenders == []


def test_every_module_says_what_it_is_for():
    silent = [
        named(path)
        for path in files("*.py", "annotator", "reviews", "goldsets")
        if "migrations" not in path.parts and path.read_text().strip() and not ast.get_docstring(tree(path))
    ]
    assert silent == []


def test_a_command_has_a_name_of_its_own():
    """Of two with one name Django would run whichever app it finds first."""
    commands = Counter(
        path.stem
        for path in files("*.py", "annotator", "reviews", "goldsets")
        if path.parent.name == "commands" and path.stem != "__init__"
    )
    assert [name for name, times in commands.items() if times > 1] == []


def test_imports_inside_functions_carry_their_reason():
    offenders = []
    for path in files("*.py", "annotator", "reviews", "goldsets"):
        lines = path.read_text().splitlines()
        for function in ast.walk(tree(path)):
            if not isinstance(function, ast.FunctionDef):
                continue
            for node in ast.walk(function):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    around = lines[max(0, node.lineno - 4) : node.end_lineno]
                    if not any("#" in line for line in around):
                        offenders.append(f"{named(path)}:{node.lineno}")
    assert offenders == []


def test_nothing_names_a_machine_or_a_place_to_download_from():
    # Written in two halves, so that this file does not find itself.
    words = [
        "/wo" + "rk/",
        "/ro" + "ot/",
        "/ho" + "me/",
        "pythonhos" + "ted",
        "py" + "pi.org",
        "npm" + "js.",
        "deb" + "ian.org",
    ]
    forbidden = re.compile("|".join(re.escape(word) for word in words))
    offenders = [place for path in _texts() for place in lines_with(path, forbidden)]
    assert offenders == []


def test_nothing_is_left_for_later():
    forbidden = re.compile("TO" + "DO|FIX" + "ME|XX" + "X|raise " + "NotImplemented")
    offenders = [
        place for path in files("*.py") + files("*.html") + files("*.js") for place in lines_with(path, forbidden)
    ]
    assert offenders == []


def _texts() -> list[Path]:
    data = {".zst", ".parquet", ".png", ".jpg", ".woff2", ".ico"}
    return [path for path in tracked() if path.suffix not in data]
