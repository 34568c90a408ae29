"""Every refusal is a page with a sentence and a way on, even when all else is broken."""

import pytest
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.template.loader import render_to_string
from django.test import Client, RequestFactory

from reviews.errors import AssayError, Conflict, Forbidden, Invalid, NotFound
from reviews.web.refusals import RefusalPages


@pytest.fixture
def request_of():
    def make(**headers):
        request = RequestFactory().get("/", headers=headers)
        request.user = AnonymousUser()
        return request

    return make


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (AssayError("No."), 400),
        (Forbidden("No."), 403),
        (NotFound("No."), 404),
        (Conflict("No."), 409),
        (Invalid({"name": "No."}), 422),
    ],
)
def test_an_error_of_ours_becomes_a_page_with_its_sentence_and_status(request_of, error, status):
    answer = RefusalPages(lambda request: None).process_exception(request_of(), error)
    assert answer.status_code == status
    assert "<p>No.</p>" in answer.content.decode()
    assert 'href="/"' in answer.content.decode()


def test_a_script_gets_the_sentence_as_json(request_of):
    answer = RefusalPages(lambda request: None).process_exception(
        request_of(accept="application/json"), NotFound("No.")
    )
    assert (answer.status_code, answer.content) == (404, b'{"message": "No."}')


def test_any_other_error_is_left_to_the_500_page(request_of):
    assert RefusalPages(lambda request: None).process_exception(request_of(), ValueError("bug")) is None


@pytest.mark.parametrize("name", ["400.html", "404.html", "403.html", "403_csrf.html", "500.html"])
def test_the_standing_pages_need_nothing_from_the_view(name):
    page = render_to_string(name)
    assert "Back to the first page" in page
    assert "<h1>" in page


@pytest.mark.django_db
def test_an_unknown_address_is_answered_in_words():
    answer = Client().get("/nowhere/")
    assert answer.status_code == 404
    assert "There is nothing here" in answer.content.decode()


def test_no_page_carries_a_script_or_a_style_in_itself():
    inline = [
        str(path)
        for path in (settings.BASE_DIR / "templates").rglob("*.html")
        for text in [path.read_text()]
        if " style=" in text or "<style" in text or "<script>" in text or " onclick=" in text
    ]
    assert inline == []
