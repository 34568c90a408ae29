"""Shows keys as the reader has them."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from reviews.keymap import BY_NAME, shown

register = template.Library()


@register.simple_tag(takes_context=True)
def key(context: Any, act: str) -> SafeString:
    """The key of an act. Read aloud are the words beside it; `aria-keyshortcuts` says the key."""
    return format_html('<kbd aria-hidden="true">{}</kbd>', shown(key_for(act, context.get("keys"))))


@register.filter
def key_for(act: str, keys: Mapping[str, str] | None) -> str:
    """The key of an act by name, for `aria-keyshortcuts`."""
    return keys[act] if keys else BY_NAME[act].key


@register.filter
def key_of(choice: Any, keys: Mapping[str, str] | None) -> str:
    """The key that chooses an answer: a gate's are the reader's own, all others are digits."""
    return key_for(choice.value, keys) if choice.value in BY_NAME else str(choice.key)


@register.filter
def as_written(name: str) -> str:
    """A key as it is written on it."""
    return shown(name)
