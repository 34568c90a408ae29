"""What people set for themselves. It concerns no project, so no audit log has it, and everybody may for themselves."""

from typing import Any

from django.utils import timezone

from reviews.errors import Invalid
from reviews.keymap import ACTS, BY_NAME, keymap, refusals
from reviews.models import Preferences


def choose_keys(*, actor: Any, keys: Any) -> dict[str, str]:
    """Give acts of the judge page other keys; acts that are not named keep theirs. Returns the whole keymap.

    Raises Invalid with a sentence per act whose key cannot be used or is taken.
    """
    if not isinstance(keys, dict):
        raise Invalid({"keys": "Say a key for each act: an object such as {“cite”: “c”}."})
    known = Preferences.objects.filter(user=actor).values_list("keys", flat=True).first()
    whole = {**keymap(known), **keys}
    if errors := refusals(whole):
        raise Invalid(errors)
    differing = {act.name: whole[act.name] for act in ACTS if whole[act.name] != BY_NAME[act.name].key}
    Preferences.objects.update_or_create(user=actor, defaults={"keys": differing})
    return whole


def reset_keys(*, actor: Any) -> dict[str, str]:
    """Back to the keys that everybody begins with."""
    Preferences.objects.filter(user=actor).update(keys={})
    return keymap()


def remember_coached(*, actor: Any) -> None:
    """The first steps were seen, or sent away, and need not come by themselves again."""
    Preferences.objects.update_or_create(user=actor, defaults={"coached_at": timezone.now()})


def remember_decisions_read(*, actor: Any) -> None:
    """What leads decided differently was looked at: only what opens from now on is new."""
    Preferences.objects.update_or_create(user=actor, defaults={"decisions_read_at": timezone.now()})
