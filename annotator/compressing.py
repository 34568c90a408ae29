"""Pages and the API's answers leave compressed, in about a fifth of the bytes; what is downloaded stays as it is."""

from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

TEXTS = ("text/html", "application/json")


class CompressedTextMiddleware(GZipMiddleware):
    """What lengths could tell of a secret is blurred, which makes guessing it slow, not impossible.

    The token in a form is another each time, and Django adds bytes at random.
    """

    def process_response(self, request: HttpRequest, response: Any) -> HttpResponseBase:
        if response.streaming or not response.get("Content-Type", "").startswith(TEXTS):
            return response
        return super().process_response(request, response)
