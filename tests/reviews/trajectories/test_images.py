"""Pictures are shown from what a run holds, and only once their bytes say that they are raster pictures."""

import base64
import json

from reviews.trajectories.building import attachment_of
from reviews.trajectories.images import LARGEST_IMAGE, MOST_IMAGES, picture, picture_at, sources
from reviews.trajectories.schema import Attachment, Step, ToolCall, ToolResult

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(40)).decode()
SVG = base64.b64encode(b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>").decode()


def test_pictures_are_found_however_a_format_wraps_them():
    wrapped = [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
        {"inline_data": {"mime_type": "image/png", "data": PNG}},
    ]
    attachments = tuple(attachment_of("image", part, "/messages/0/content/1") for part in wrapped)
    assert [source.data for source in sources(Step(role="user", attachments=attachments))] == [PNG] * 4


def test_pictures_in_texts_and_results_are_found_and_counted():
    uri = f"data:image/png;base64,{PNG}"
    call = ToolCall(id="1", name="look", arguments_text="{}")
    step = Step(role="tool", text=f"![a]({uri})", call=call, result=ToolResult(text=f"{uri} {uri}"))
    assert len(sources(step)) == 3
    assert len(sources(Step(role="user", text=f"{uri} " * 50))) == MOST_IMAGES


def test_nothing_else_is_a_picture():
    for text in (
        f"data:image/svg+xml;base64,{SVG}",
        f"data:image/png;base64,{SVG}",
        f"data:text/html;base64,{SVG}",
        "https://example.com/tracker.png",
        "data:image/png;base64,====",
    ):
        assert sources(Step(role="user", text=text)) == []
        raw = json.dumps({"type": "image_url", "image_url": {"url": text}})
        assert sources(Step(role="user", attachments=(Attachment("image_url", raw=raw),))) == []
    assert picture(SVG) is None
    assert picture("not base64!") is None
    assert picture("A" * (LARGEST_IMAGE * 2)) is None


def test_a_picture_has_the_type_of_its_bytes():
    assert picture(PNG) == ("image/png", base64.b64decode(PNG))
    jpeg = base64.b64encode(b"\xff\xd8\xff\xe0" + bytes(20)).decode()
    webp = base64.b64encode(b"RIFF\x00\x00\x00\x00WEBPVP8 " + bytes(20)).decode()
    gif = base64.b64encode(b"GIF89a" + bytes(20)).decode()
    assert [picture(data)[0] for data in (jpeg, webp, gif)] == ["image/jpeg", "image/webp", "image/gif"]


def test_a_large_picture_is_read_from_the_original():
    large = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(9_000)).decode()
    part = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{large}"}}
    original = json.dumps({"messages": [{"content": ["Look", part]}]}).encode()
    step = Step(role="user", attachments=(attachment_of("image_url", part, "/messages/0/content/1"),))
    (source,) = sources(step)
    assert source.pointer == "/messages/0/content/1"
    assert picture_at(original, source.pointer) == ("image/png", base64.b64decode(large))
    assert sources(step, original=False) == []
    for pointer in ("/messages/7", "/messages/x", "/nowhere/1", "/messages/0/content/0"):
        assert picture_at(original, pointer) is None
    assert picture_at(b"{", "/messages") is None


def test_a_picture_among_many_large_ones_is_found_by_its_pointer():
    large = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(2_000_000)).decode()
    parts = [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{large}"}}] * 3
    parts.insert(2, {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}})
    original = b'  {"a/b": {"messages":\n[1, ' + json.dumps(parts).encode() + b'], "~": "' + b"x" * 100 + b'"}}'
    assert picture_at(original, "/a~1b/messages/1/2") == ("image/png", base64.b64decode(PNG))
    assert picture_at(original, "/a~1b/messages/1/3")[1] == base64.b64decode(large)
    for nowhere in ("/a~1b/messages/9", "/a~1b/~0/0", "/messages", "/a~1b/messages/x", "/a~1b/messages/0"):
        assert picture_at(original, nowhere) is None


def test_a_picture_in_json_that_is_read_leniently_is_found_too():
    original = f'{{"n": NaN, "m": [{{"url": "data:image/png;base64,{PNG}"}}]}}'.encode()
    assert picture_at(original, "/m/0") == ("image/png", base64.b64decode(PNG))
