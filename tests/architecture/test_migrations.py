"""The tables are what the models say, and there is one way to get there."""

import io

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader

OURS = ["annotator", "goldsets", "reviews"]


@pytest.mark.django_db
def test_models_and_migrations_agree():
    out = io.StringIO()
    try:
        call_command("makemigrations", *OURS, check=True, dry_run=True, stdout=out, verbosity=2)
    except (SystemExit, CommandError):
        pytest.fail(f"The models have changed and no migration says so:\n{out.getvalue()}", pytrace=False)


@pytest.mark.django_db
def test_migrations_stand_in_one_line():
    loader = MigrationLoader(connection)
    for app in OURS:
        names = sorted(name for label, name in loader.disk_migrations if label == app)
        numbers = [name[:4] for name in names]
        assert numbers == [f"{number:04}" for number in range(1, len(names) + 1)], app
        assert len(loader.graph.leaf_nodes(app)) == 1, app


def test_migrations_are_named_by_what_they_are_for():
    loader = MigrationLoader(None)
    automatic = [
        name for label, name in loader.disk_migrations if label in OURS and ("auto" in name or "initial" in name)
    ]
    assert automatic == []
