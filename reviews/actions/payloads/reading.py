"""Small readers that every part of a payload shares."""

from collections.abc import Mapping
from typing import Any

TEXT_LENGTH = 20_000


def read_text(value: Any, name: str, errors: dict[str, str]) -> str:
    """Plain text of at most 20,000 characters that the database can hold."""
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > TEXT_LENGTH:
        errors[name] = f"This is text of at most {TEXT_LENGTH:,} characters."
        return ""
    if not storable(value):
        errors[name] = "The text has characters that cannot be stored."
        return ""
    return value.strip()


def storable(text: str) -> bool:
    """Whether Postgres can hold the text: no NUL, no lone surrogate."""
    return "\x00" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def read_object(value: Any, name: str, errors: dict[str, str]) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        errors[name] = "This is an object of criterion keys and values."
        return {}
    return value
