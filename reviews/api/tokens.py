"""Signing in to the API by token: `Authorization: Token assay_…`."""

from typing import Any

from drf_spectacular.contrib.knox_auth_token import KnoxTokenScheme
from knox.auth import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed


class ApiToken(TokenAuthentication):
    def authenticate_credentials(self, token: bytes) -> Any:
        """Tokens are plain ASCII; anything else would fail on its way to the database."""
        if not token.replace(b"_", b"").isalnum():
            raise AuthenticationFailed("Invalid token.")
        return super().authenticate_credentials(token)


class ApiTokenScheme(KnoxTokenScheme):
    """How the OpenAPI description speaks of it."""

    target_class = ApiToken
    name = "token"
