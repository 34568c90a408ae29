"""Groups of runs of one task, from which training by comparison within a group (GRPO) learns.

They are counted once, when it is chosen what leaves: a row says how large its group is before the last of it is read.
"""

from typing import Any

from django.db import connection
from django.db.models import Count, F, Q

from goldsets.models import DatasetGroup, DatasetVersion

# Of each task the labels that make a completion, by the rules of `Reading.completions`: one run with a gate, in text
# alone, that begins with somebody else than the agent and has an answer of it.
COUNT = """
    INSERT INTO goldsets_datasetgroup (version_id, task_id, first, size, passing)
    SELECT chosen.version_id, run.task_id, min(chosen.position), count(*), count(*) FILTER (WHERE gates.pass)
    FROM goldsets_datasetrow chosen
    JOIN reviews_queueitem queue_item ON queue_item.id = chosen.queue_item_id
    JOIN reviews_item item ON item.id = queue_item.item_id
    JOIN reviews_trajectory run ON run.id = item.trajectory_id
    CROSS JOIN LATERAL (
        SELECT bool_and(said.value = 1) AS pass FROM reviews_labelvalue said
        JOIN reviews_criterion criterion ON criterion.id = said.criterion_id AND criterion.kind = 'gate'
        WHERE said.label_id = chosen.label_id AND said.candidate IS NULL
    ) gates
    CROSS JOIN LATERAL (
        SELECT
            bool_or(step.body LIKE '%%"attachments":[%%') AS more_than_text,
            min(step.position) FILTER (WHERE step.role = 'agent' OR step.body LIKE '%%"call":{%%') AS first_answer
        FROM reviews_step step WHERE step.trajectory_id = run.id
    ) told
    WHERE chosen.version_id = %s AND gates.pass IS NOT NULL AND NOT told.more_than_text AND told.first_answer > 1
    GROUP BY chosen.version_id, run.task_id
"""


def count_groups(version: DatasetVersion) -> None:
    """Write down the groups of what leaves in the version, inside the caller's transaction. Two statements."""
    with connection.cursor() as cursor:
        # It reads every step of a million runs once, which may take longer than any page may let a statement run.
        cursor.execute("SET LOCAL statement_timeout = 0")
        cursor.execute(COUNT, [version.pk])


def groups_told(version: DatasetVersion) -> dict[str, Any] | None:
    """How many groups leave and how many have no variance; None where no format has groups."""
    same = Q(passing=0) | Q(passing=F("size"))
    found = DatasetGroup.objects.filter(version=version).aggregate(groups=Count("pk"), same=Count("pk", filter=same))
    if not found["groups"]:
        return None
    return {"by": "task", "groups": found["groups"], "no_variance": found["same"]}
