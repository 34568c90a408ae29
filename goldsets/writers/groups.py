"""Which rows are a group: the runs of one task, of which training by comparison within a group (GRPO) makes use.

A group in which all pass or all fail has no variance: nothing can be learnt from comparing its runs.
"""

from typing import Any

from goldsets.writers.document import Document
from goldsets.writers.label_row import UnfitRow


def group_of(document: Document) -> dict[str, Any]:
    """The group's key, how many rows of the export are in it, and whether their rewards are all the same."""
    group = document.group
    if group is None:
        raise UnfitRow(f"Label {document.label.uid} makes a run of a group that was not counted.")
    return {
        "group": document.task.key,
        "group_size": group.size,
        "no_variance": group.passing in (0, group.size),
    }
