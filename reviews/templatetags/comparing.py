"""Shows a field of a step beside its like in another run: escaped, with the words that differ marked."""

from collections.abc import Mapping
from html import escape

from django import template
from django.utils.safestring import SafeString, mark_safe

from reviews.queries.judging import FieldView
from reviews.trajectories.alignment import Span

register = template.Library()


@register.filter
def compared(field: FieldView, changed: Mapping[str, tuple[Span, ...]]) -> SafeString:
    """As much of the field's text as is shown, every character in its place; as ever where nothing in it differs."""
    if not changed.get(field.path):
        return mark_safe(field.html)  # noqa: S308 - escaped by display
    out: list[str] = []
    place = 0
    for span in changed[field.path]:
        start, end = min(span.start, len(field.text)), min(span.end, len(field.text))
        out.append(escape(field.text[place:start], quote=False))
        out.append(f'<mark class="diff">{escape(field.text[start:end], quote=False)}</mark>' if start < end else "")
        place = end
    out.append(escape(field.text[place:], quote=False))
    return mark_safe("".join(out))  # noqa: S308 - every piece is escaped above
