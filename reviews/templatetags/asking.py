"""Shows a guideline with what stands at each of its lines: notes, and for a rater the way to ask about it."""

from collections.abc import Mapping

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from reviews.models import GuidelineNote
from reviews.trajectories.guideline import guideline_html

register = template.Library()


@register.simple_tag
def guideline_text(text: str, notes: Mapping[int, list[GuidelineNote]], ask: bool = False) -> SafeString:
    """The guideline as safe HTML, with its notes by line; with `ask` each line has a button."""

    def at_end(number: int) -> str:
        shown = {"about": "guideline", "number": number, "notes": notes.get(number, ()), "ask": ask}
        return render_to_string("components/_line_end.html", shown).strip()

    return mark_safe(guideline_html(text, at_end))  # noqa: S308 - cleaned there; what is put in is a template's
