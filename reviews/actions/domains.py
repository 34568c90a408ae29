"""Fields of knowledge: those of a member, and those of which a queue asks its raters to know one."""

from typing import Any

from reviews.errors import Invalid, NothingToDeal
from reviews.models import Membership, Queue
from reviews.trajectories import jsontext

MOST, LONGEST = 20, 40


def read_domains(given: Any) -> list[str]:
    """Names in small letters, each once, from a list or from text with commas. Raises Invalid."""
    names = given.split(",") if isinstance(given, str) else given
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise Invalid({"domains": "Fields are a list of names."})
    found = list(dict.fromkeys(jsontext.clean(" ".join(name.lower().split())) for name in names if name.strip()))
    if len(found) > MOST or any(len(name) > LONGEST for name in found):
        raise Invalid({"domains": f"Give at most {MOST} fields of at most {LONGEST} characters each."})
    return found


def check_domain(*, queue: Queue, rater: Any) -> None:
    """Raises NothingToDeal where the queue asks for fields of which the rater is not known to know one."""
    known = Membership.objects.filter(project=queue.project_id, user=rater).values_list("domains", flat=True).first()
    if not set(queue.domains) & {str(name).lower() for name in known or ()}:
        wanted = " or ".join(queue.domains)
        raise NothingToDeal(f"This queue is for people who know {wanted}. If that is you, ask a lead to note it.")
