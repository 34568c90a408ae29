"""JSON from strangers: read within limits, never a crash, and made fit for storage.

What JSON allows and other software does not is settled here, in one place:
a key given twice keeps its last value; numbers too large for a float, integers of more than 4,300 digits, NaN and
Infinity become their own text; anything nested deeper than `MAX_DEPTH` is refused; NUL and lone surrogates, which
PostgreSQL cannot hold, are replaced by characters that can be seen. The original bytes are kept beside all of it.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from typing import Any

import msgspec

from reviews.trajectories.schema import RowError

MAX_DEPTH = 100
MAX_INTEGER_DIGITS = 4300  # what Python converts without being told otherwise

_CONTAINERS = (dict, list)
NUL_SYMBOL = "\u2400"  # ␀ SYMBOL FOR NULL
REPLACEMENT = "\ufffd"  # �
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
# Text that can turn into NUL or a surrogate when it is decoded, once or (arguments inside a row) twice.
_SUSPECT = re.compile(rb"\\u0000|\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]")


def parse(data: bytes) -> Any:
    """The value of a row's bytes, or RowError with the reason."""
    try:
        value = msgspec.json.decode(data)
    except RecursionError:
        raise RowError(_too_deep()) from None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        value = _parse_leniently(data)
    if data.count(b"{") + data.count(b"[") > MAX_DEPTH:  # with fewer brackets it cannot be that deep
        check_depth(value)
    return value


def parse_text(text: str) -> Any:
    """The value of JSON found inside a text (a call's arguments), or None when it is not JSON."""
    try:
        return parse(text.encode("utf-8", "surrogatepass"))
    except RowError:
        return None


def check_depth(value: Any) -> None:
    """Refuse what is nested so deep that walking it later could fail."""
    level = [value] if isinstance(value, _CONTAINERS) else []
    depth = 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise RowError(_too_deep())
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, _CONTAINERS)
        ]


def canonical_hash(value: Any) -> str:
    """SHA-256 of the row's value with sorted keys and no white space: the same run in another file hashes the same."""
    try:
        data = msgspec.json.encode(value, order="deterministic")
    except UnicodeEncodeError:  # lone surrogates
        data = json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
    return hashlib.sha256(data).hexdigest()


def may_hold_unstorable(data: bytes) -> bool:
    """Whether decoding these bytes could give NUL or a lone surrogate; quick, and wrong only towards yes."""
    return (b"\\u" in data or b"\xed" in data) and _SUSPECT.search(data) is not None


def clean(text: str) -> str:
    """The text with NUL shown as ␀ and broken surrogates as �, character by character, so places stay the same."""
    return _UNSTORABLE.sub(lambda found: NUL_SYMBOL if found.group() == "\x00" else REPLACEMENT, text)


def clean_value(value: Any) -> Any:
    """`clean` for every text inside a value, keys too."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean_value(key): clean_value(child) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return [clean_value(child) for child in value]
    return value


def number(value: Any) -> float | None:
    """A number as a float; None for everything else, and for integers no float can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def dump(value: Any) -> str:
    """A value as compact JSON text, as people write it (é, not an escape)."""
    return json.dumps(value, ensure_ascii=False)


def _parse_leniently(data: bytes) -> Any:
    if b"\x00" in data:
        raise RowError(f"It holds a NUL byte (at byte {data.index(0) + 1}).")
    try:
        text = data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise RowError(f"It is not UTF-8: byte 0x{data[error.start]:02x} at byte {error.start + 1}.") from None
    try:
        return json.loads(text, parse_int=_integer, parse_float=_float, parse_constant=str)
    except RecursionError:
        raise RowError(_too_deep()) from None
    except json.JSONDecodeError as error:
        raise RowError(_malformed(text, error)) from None


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits) <= MAX_INTEGER_DIGITS else digits


def _float(digits: str) -> float | str:
    number = float(digits)
    return number if math.isfinite(number) else digits


def _malformed(text: str, error: json.JSONDecodeError) -> str:
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        return "It is not valid JSON: it is cut off before its end."
    where = f"line {error.lineno}, column {error.colno}" if error.lineno > 1 else f"column {error.colno}"
    return f"It is not valid JSON: {error.msg[0].lower()}{error.msg[1:]} at {where}."


def _too_deep() -> str:
    return f"It is nested more than {MAX_DEPTH} levels deep."
