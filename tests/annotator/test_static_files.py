"""Scripts and style sheets as production serves them: whatever one names of another is there under its hashed name."""

import gzip
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.test import Client

ROOT = Path(__file__).resolve().parents[2]
NAMED = re.compile(r"""(?:\bfrom\s*|\bimport\s*\(?\s*)["'](\.[^"']+)["']|url\(\s*["']?([^"')]+)""")


@pytest.fixture(scope="module")
def collected(tmp_path_factory):
    """All static files as `make demo` and an image collect them."""
    folder = tmp_path_factory.mktemp("static")
    environment = {**os.environ, "HASHED_STATIC": "1", "STATIC_ROOT": str(folder)}
    command = [sys.executable, "manage.py", "collectstatic", "--noinput", "--verbosity=0"]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    return folder


def named_by(file):
    """The files that a script or style sheet refers to."""
    for match in NAMED.finditer(file.read_text()):
        name = (match[1] or match[2]).split("#")[0].split("?")[0]
        if name and not name.startswith(("data:", "http:", "https:")):
            yield (file.parent / name).resolve()


def test_every_module_finds_the_modules_it_imports(collected):
    scripts = list((collected / "js").rglob("*.js"))
    named = [target for script in scripts for target in named_by(script)]
    assert len(named) >= 5, "the judge page's script is made of modules"
    assert [target.name for target in named if not target.exists()] == []


def test_the_scripts_of_the_judge_pages_are_small(collected):
    """All that a rater's page may fetch, compressed as it is sent: less than 60 KB, whatever kind of item it is."""
    wanted = [script for name in ("theme", "assay", "judge") for script in (collected / "js").glob(f"{name}.*.js")]
    sent = {}
    while wanted:
        script = wanted.pop()
        if script not in sent:
            sent[script] = len(gzip.compress(script.read_bytes()))
            wanted += named_by(script)
    names = {script.name.partition(".")[0] for script in sent}
    assert {"judging", "preference", "steps", "draft", "theme"} <= names
    (library,) = (collected / "django_htmx").glob("htmx-2.min.*.js")
    assert sum(sent.values()) + len(gzip.compress(library.read_bytes())) < 60_000


def test_every_style_sheet_finds_what_it_refers_to(collected):
    assert [t.name for sheet in (collected / "css").rglob("*.css") for t in named_by(sheet) if not t.exists()] == []


def test_pages_without_an_icon_of_their_own_find_ours():
    answer = Client().get("/favicon.ico")
    assert answer.status_code == 302
    assert answer["Location"].endswith(".svg")
