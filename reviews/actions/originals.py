"""Gives out a run's original, the row exactly as it came in, to those who may see it. Each reading leaves an Event.

The original of a run that came in while its project redacted is for admins alone: it is what the redaction can be
undone by.
"""

from typing import Any

import zstandard
from django.db import transaction

from reviews.actions.events import record
from reviews.enums import Verb
from reviews.errors import Forbidden, NotFound
from reviews.models import Item, Original
from reviews.queries.listings import item_by_uid, phase_of, role_in, viewer_of
from reviews.rules import check
from reviews.visibility import Thing, visible


@transaction.atomic
def read_original(*, actor: Any, uid: Any) -> tuple[Item, bytes]:
    """The item and the bytes of its run's original. Raises NotFound, or Forbidden where it would show the outcome."""
    item = item_by_uid(uid, reader=actor)
    if item is None:
        raise NotFound("There is no such item.")
    if item.run.redactions is not None:
        check(actor, "read_redacted", item.project)
        return item, _open(actor, item)
    check(actor, "view_items", item.project)
    if Thing.ORIGINAL not in visible(viewer_of(item, role_in(actor, item.project)), phase_of(item)):
        raise Forbidden("The original holds how the run ended. It opens to you once the item is settled.")
    return item, _open(actor, item)


def _open(actor: Any, item: Item) -> bytes:
    compressed = Original.objects.values_list("compressed", flat=True).get(trajectory=item.run.pk)
    record(project=item.project, actor=actor, verb=Verb.ORIGINAL_READ, target=item)
    return zstandard.ZstdDecompressor().decompressobj().decompress(bytes(compressed))
