"""The pictures in a step: which there are, and their bytes once these have shown themselves to be a raster picture.

A picture is shown only from what the run itself holds, never from an address somebody wrote into it. SVG is a document
that can run script, so it is no picture here.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from reviews.trajectories import jsontext
from reviews.trajectories.render import fields
from reviews.trajectories.schema import RowError, Step

MOST_IMAGES = 12
LARGEST_IMAGE = 8_000_000
DATA_URI = re.compile(r"data:image/(?:png|jpe?g|gif|webp);base64,([A-Za-z0-9+/]{20,}={0,2})")
MEDIA_NAMES = ("media_type", "mime_type", "mimeType", "mediaType")
BASE64_OF_SIGNATURE = 16  # characters


class Source(msgspec.Struct, frozen=True):
    """Where a picture is: its base64 text, or the JSON pointer into the original of the part that holds it."""

    data: str = ""
    pointer: str = ""


def sources(step: Step, *, original: bool = True) -> list[Source]:
    """What may be pictures in a step, in the order of reading; without `original` only what the step itself holds."""
    found: list[Source] = []
    for part in fields(step):
        found += [Source(data) for data in DATA_URI.findall(part.text) if _type_of(_begin(data))]
    for attachment in step.attachments:
        if attachment.raw:
            found += [Source(data) for data in _inside(jsontext.parse_text(attachment.raw)) if _type_of(_begin(data))]
        elif attachment.pointer and original and "image" in attachment.kind:
            found.append(Source(pointer=attachment.pointer))
    return found[:MOST_IMAGES]


def picture(data: str) -> tuple[str, bytes] | None:
    """The media type and the bytes of a picture in base64; None for whatever else it is, or what is too large."""
    if len(data) > LARGEST_IMAGE * 4 // 3 + 4:
        return None
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None
    media = _type_of(content)
    return (media, content) if media else None


def picture_at(original: bytes, pointer: str) -> tuple[str, bytes] | None:
    """The picture in the part of the original that a pointer leads to."""
    try:
        value = jsontext.parse(original)
        for name in pointer.split("/")[1:]:
            name = name.replace("~1", "/").replace("~0", "~")
            value = value[int(name)] if isinstance(value, list) else value[name]
    except (RowError, KeyError, IndexError, TypeError, ValueError):
        return None
    return next((found for data in _inside(value) if (found := picture(data))), None)


def _inside(value: Any) -> Iterator[str]:
    """Base64 texts inside a part of a message, however its format wraps them."""
    if isinstance(value, str):
        yield from DATA_URI.findall(value)
    elif isinstance(value, list):
        for child in value:
            yield from _inside(child)
    elif isinstance(value, dict):
        data = value.get("data")
        if isinstance(data, str) and any(str(value.get(name, "")).startswith("image/") for name in MEDIA_NAMES):
            yield data
        for child in value.values():
            yield from _inside(child)


def _begin(data: str) -> bytes:
    try:
        return base64.b64decode(data[:BASE64_OF_SIGNATURE], validate=True)
    except (binascii.Error, ValueError):
        return b""


def _type_of(content: bytes) -> str:
    """The media type the first bytes say, or "" for anything but the four kinds of raster pictures."""
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if content.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if content.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if content[:4] == b"RIFF" and content[8:12] == b"WEBP" else ""
