"""The OpenAPI description: complete, without warnings, true; and its page needs nothing that the CSP forbids."""

from io import StringIO

import pytest
import yaml
from django.core.management import call_command

from tests.reviews.api.talking import nobody

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def schema():
    out = StringIO()
    call_command("spectacular", "--validate", "--fail-on-warn", stdout=out)
    return yaml.safe_load(out.getvalue())


def operations(schema):
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            yield f"{method} {path}", operation


def test_every_operation_says_what_it_does_and_how_it_refuses(schema):
    for name, operation in operations(schema):
        assert operation["description"], name
        problem = operation["responses"]["4XX"]["content"]["application/problem+json"]["schema"]
        assert problem == {"$ref": "#/components/schemas/Problem"}, name


def test_the_schema_is_served_to_anybody_who_asks():
    response = nobody().get("/api/v1/schema/")
    assert response.status_code == 200
    assert yaml.safe_load(response.content)["info"]["title"] == "Assay"


def test_the_page_has_no_inline_script_or_style_and_loads_from_here_alone():
    response = nobody().get("/api/v1/docs/")
    page = response.content.decode()
    assert response.status_code == 200
    assert "default-src 'self'" in response["Content-Security-Policy"]
    assert "<style" not in page
    assert "style=" not in page
    assert page.count("<script") == page.count('<script src="/')
    script = nobody().get("/api/v1/docs/?script=")
    assert script["Content-Type"].startswith("application/javascript")
    assert b"/api/v1/schema/" in script.content


# The description is written anew for each server, which takes a while on a busy machine.
LONG = 180_000


def test_the_page_works_in_a_browser(page, live_server):
    """Swagger UI renders the groups of operations and opens one, and the browser has nothing to object to."""
    said = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(f"{live_server.url}/api/v1/docs/")
    page.get_by_role("heading", name="Assay").first.wait_for(timeout=LONG)
    page.locator("#operations-tag-judging").click()
    page.locator("#operations-judging-queues_claim").wait_for(timeout=LONG)
    assert said == []
