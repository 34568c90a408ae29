"""Speaks to the API as its users do: with a token, over HTTP."""

from typing import Any

from knox.models import AuthToken
from rest_framework.test import APIClient


def by(user: Any) -> APIClient:
    """A client that says who it is by an API token."""
    client = APIClient(raise_request_exception=False)
    _, token = AuthToken.objects.create(user)
    client.credentials(HTTP_AUTHORIZATION=f"Token {token}")
    return client


def nobody() -> APIClient:
    return APIClient(raise_request_exception=False)


def is_problem(response: Any, status: int) -> dict[str, Any]:
    """The problem document, after a look at what every one of them must have."""
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/problem+json"
    body = response.json()
    assert body["status"] == status
    assert body["type"] == "about:blank"
    assert body["title"]
    assert body["detail"]
    return body
