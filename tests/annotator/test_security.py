"""Headers on every answer, and what no honest client sends."""

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse

pytestmark = pytest.mark.django_db

STRICT = {
    "default-src 'self'",
    "img-src 'self' data:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
}


@pytest.mark.parametrize("address", ["/accounts/login/", "/healthz", "/no/such/page/"])
def test_every_answer_carries_the_strict_policy(client, address):
    headers = client.get(address).headers
    assert set(headers["Content-Security-Policy"].split("; ")) == STRICT
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "camera=()" in headers["Permissions-Policy"]


@pytest.mark.parametrize("address", ["/", "/projects/", "/api/v1/projects/", "/api/v1/queues/", "/no/such/page/"])
def test_no_answer_is_kept_for_somebody_else(client, address):
    client.force_login(get_user_model().objects.create_user("bob@example.org"))
    assert "private" in client.get(address).headers["Cache-Control"]


@pytest.mark.parametrize("address", ["/?q=a%00b", "/?a%00b=q", "/accounts/login/?next=%00", "/join/a%00b/"])
def test_a_nul_byte_in_the_address_is_refused(client, address):
    assert client.get(address).status_code == 400


@pytest.mark.parametrize("address", ["/accounts/login/", "/join/no-such-link/", "/no/such/page/"])
@pytest.mark.parametrize("multipart", [True, False])
def test_a_nul_byte_in_a_form_is_refused(client, multipart, address):
    if multipart:
        answer = client.post(address, {"login": "alice\x00@example.org", "name": "x"})
    else:
        body = "login=alice%00@example.org&name=x"
        answer = client.post(address, body, content_type="application/x-www-form-urlencoded")
    assert answer.status_code in {400, 404}  # no form is read where there is no page
    assert (answer.status_code == 404) == (address == "/no/such/page/")


@pytest.mark.parametrize("body", ["=", "%", "login=%ff%fe", "a&&&=&", "\x00"])
def test_a_broken_form_is_no_error_of_ours(client, body):
    answer = client.post("/accounts/login/", body, content_type="application/x-www-form-urlencoded")
    assert answer.status_code in {200, 400}


@pytest.mark.parametrize("address", ["/accounts/login/", "/join/no-such-link/", "/api/v1/projects/"])
def test_a_form_in_another_encoding_is_refused(client, address):
    form = "application/x-www-form-urlencoded; charset=utf-16"
    assert client.post(address, "login=a", content_type=form).status_code == 400


def test_what_is_larger_than_any_upload_is_refused_unread(client, settings):
    settings.UPLOAD_MAX_BYTES = 1024**2
    answer = client.post("/accounts/login/", {"login": "a" * 1024**2})
    assert answer.status_code == 413
    assert answer.content.decode().startswith("This is larger than the 1 MB that may be uploaded")


def test_an_error_shows_no_stack(client, settings):
    settings.ROOT_URLCONF = "tests.annotator.urls_that_break"
    client.raise_request_exception = False
    answer = client.get("/break/")
    assert answer.status_code == 500
    assert "Something broke on our side" in answer.content.decode()
    assert "Traceback" not in answer.content.decode()
    assert "a secret of the code" not in answer.content.decode()


def test_the_admin_is_for_admins(client):
    client.force_login(get_user_model().objects.create_user("bob@example.org"))
    assert client.get(reverse("admin:index")).status_code == 302
