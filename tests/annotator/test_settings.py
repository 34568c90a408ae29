"""Settings: what is missing or wrong is said in a sentence, and the handbook lists them all."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NEEDED = {
    "DATABASE_URL": "postgresql:///unused",
    "REDIS_URL": "unix:///run/valkey.sock?db=3",
    "SECRET_KEY": "not secret",
}


def load(**environment: str) -> subprocess.CompletedProcess[str]:
    """The settings in a process of their own; prints what the environment asked for in SHOW."""
    program = "import annotator.settings as s, os; print(*(getattr(s, n) for n in os.environ['SHOW'].split()))"
    environment = {"PATH": os.environ["PATH"], "SHOW": "DEBUG", **environment}
    return subprocess.run([sys.executable, "-c", program], env=environment, cwd=ROOT, capture_output=True, text=True)


@pytest.mark.parametrize("missing", NEEDED)
def test_what_is_missing_is_named_with_an_example(missing):
    loaded = load(**{name: value for name, value in NEEDED.items() if name != missing})
    assert loaded.returncode == 1
    assert f"{missing} is not set. Set it, for example {missing}=" in loaded.stderr


def test_a_command_says_it_in_one_line():
    command = [sys.executable, "manage.py", "agreement", "support-runs"]
    ran = subprocess.run(command, env={"PATH": os.environ["PATH"]}, cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 1
    assert ran.stderr.startswith("DATABASE_URL is not set. ")
    assert ran.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SECURE", "perhaps"),
        ("DATABASE_POOL_SIZE", "many"),
        ("EMAIL_URL", "pigeon://post"),
        ("DATABASE_URL", "nonsense"),
        ("JUDGE_BASE_URL", "api.example.org"),
        ("JUDGE_API_KEY", "a\nb"),
    ],
)
def test_what_is_wrong_is_named(name, value):
    loaded = load(**{**NEEDED, name: value})
    assert loaded.returncode == 1
    assert name in loaded.stderr.splitlines()[-1]


def test_the_default_is_safe():
    shown = "DEBUG SECURE_SSL_REDIRECT SESSION_COOKIE_HTTPONLY ACCOUNT_ADAPTER HASHED_STATIC"
    loaded = load(**NEEDED, SHOW=shown)
    assert loaded.stdout.split() == ["False", "False", "True", "annotator.signin.ClosedAccountAdapter", "True"]


def test_secure_means_https_everywhere():
    shown = "SECURE_SSL_REDIRECT SESSION_COOKIE_SECURE CSRF_COOKIE_SECURE SECURE_HSTS_SECONDS"
    loaded = load(**NEEDED, SECURE="1", SHOW=shown)
    assert loaded.stdout.split() == ["True", "True", "True", "31536000"]


def test_a_socket_is_spelled_for_celery():
    assert load(**NEEDED, SHOW="CELERY_BROKER_URL").stdout.strip() == "redis+socket:///run/valkey.sock?virtual_host=3"


def test_mail_goes_where_it_is_sent():
    loaded = load(
        **NEEDED, EMAIL_URL="submission://u:p@mail.example.org:587", SHOW="EMAIL_HOST EMAIL_PORT EMAIL_USE_TLS"
    )
    assert loaded.stdout.split() == ["mail.example.org", "587", "True"]


def test_the_handbook_lists_every_setting():
    asked = set()
    for module in ("settings.py", "gunicorn_conf.py"):
        for node in ast.walk(ast.parse((ROOT / "annotator" / module).read_text())):
            is_question = isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant)
            if is_question and ast.unparse(node.func).split(".")[0] in {"env", "needed"}:
                asked.add(node.args[0].value)
    handbook = (ROOT / "docs" / "operating.md").read_text()
    assert {name for name in asked if f"| `{name}`" not in handbook} == set()
