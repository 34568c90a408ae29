"""What a browser reads comes compressed, and what it downloads comes as it is."""

import gzip
import io

import pytest
from django.http import FileResponse, HttpResponse
from django.test import RequestFactory

from annotator.compressing import CompressedTextMiddleware

pytestmark = pytest.mark.django_db


def test_a_page_comes_compressed_to_whoever_can_read_it(client):
    plain = client.get("/accounts/login/")
    packed = client.get("/accounts/login/", headers={"accept-encoding": "gzip, deflate, br"})
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in plain.headers["Vary"]
    assert len(packed.content) < len(plain.content) / 2
    assert "<h1" in gzip.decompress(packed.content).decode()


@pytest.mark.parametrize(
    "given",
    [
        lambda: FileResponse(io.BytesIO(b"{}" * 500), filename="labels.json", as_attachment=True),
        lambda: HttpResponse(b"0" * 1000, content_type="image/svg+xml"),
    ],
)
def test_a_file_comes_as_it_is(given):
    asked = RequestFactory().get("/", headers={"accept-encoding": "gzip"})
    answer = CompressedTextMiddleware(lambda _request: given())(asked)
    assert "Content-Encoding" not in answer.headers
