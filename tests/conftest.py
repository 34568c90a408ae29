"""What every test has: real servers, a real worker on request, Debian's Chromium, nothing left over in between."""

import os
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest

from tests.servers import prepare_environment

# Before Django is asked for anything, and before any other conftest imports a model.
prepare_environment()

import django  # noqa: E402

django.setup()

from celery.contrib.testing.worker import start_worker  # noqa: E402
from django.conf import settings as django_settings  # noqa: E402
from django.core.cache import cache  # noqa: E402

from annotator.celery import app as celery_app  # noqa: E402
from tests import factories as make  # noqa: E402
from tests.chromium import CHROMIUM, LAUNCH  # noqa: E402
from tests.flushing import flush_patiently  # noqa: E402
from tests.settling import settled_at_once  # noqa: E402

flush_patiently()

# How long one example takes says nothing on a machine that does other things too.
hypothesis.settings.register_profile("assay", deadline=None)
hypothesis.settings.load_profile("assay")

# A slow hash protects passwords; there are none to protect here.
django_settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# In use a page is better without its cache than late. Here the machine may be busy, and what was kept has to be there.
django_settings.CACHES["default"]["OPTIONS"] |= {"socket_timeout": 30, "socket_connect_timeout": 30}


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Workers read the settings once they know which Redis database is theirs (see `tests.servers`).

    With the name of the settings in their environment they would read them before, and share the first database: what
    one keeps, the other would throw away.
    """
    del os.environ["DJANGO_SETTINGS_MODULE"]


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """The databases go with their server, right after the run: dropping them one by one could only fail."""
    return True


@pytest.fixture
def project() -> Any:
    """A project led by Lea, in which nothing has happened yet."""
    return make.project()


@pytest.fixture
def lead(project: Any) -> Any:
    return make.lead_of(project)


@pytest.fixture
def alice(project: Any) -> Any:
    """An expert of the project."""
    return make.expert(project, "Alice")


@pytest.fixture(autouse=True)
def empty_cache() -> Iterator[None]:
    """Nothing that one test put into Redis is there for the next."""
    yield
    cache.clear()


@pytest.fixture(autouse=True)
def own_files(settings: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Uploads and exports of a test go to a folder of its own."""
    settings.MEDIA_ROOT = tmp_path_factory.mktemp("files")


@pytest.fixture(autouse=True)
def prompt_worker(request: pytest.FixtureRequest) -> Iterator[None]:
    """Settles what raters do at once, but not in tests marked `worker_away`."""
    if request.node.get_closest_marker("worker_away"):
        yield
        return
    with settled_at_once():
        yield


@pytest.fixture
def worker(transactional_db: None) -> Iterator[None]:
    """A real Celery worker on the real queue, for as long as the test runs."""
    with start_worker(celery_app, pool="solo", perform_ping_check=False, shutdown_timeout=30):
        yield


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Debian's Chromium."""
    if CHROMIUM is None:
        if os.environ.get("CI"):
            pytest.fail("There is no Chromium, and in CI the browser tests must run.", pytrace=False)
        pytest.skip("there is no Chromium: install the package `chromium`, or set CHROMIUM to its path")
    return {**browser_type_launch_args, **LAUNCH}


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """A run without a browser says so where nobody can miss it."""
    if CHROMIUM is None:
        terminalreporter.section("NOTHING WAS TRIED IN A BROWSER", red=True, bold=True)
        terminalreporter.line("There is no Chromium on this machine. Install the package `chromium` and run again.")
