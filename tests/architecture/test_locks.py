"""Queues and projects are referred to by every claim and Event: whoever locks one keeps nobody from writing these."""

import ast
from collections.abc import Iterator

from tests.architecture.source import files, named, tree

REFERRED_TO = {"Queue", "Project"}


def too_strong(source: ast.AST) -> Iterator[int]:
    """Lines that lock a queue or project FOR UPDATE, which waits for and keeps out each row that refers to it."""
    for node in ast.walk(source):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "select_for_update":
            told = {keyword.arg for keyword in node.keywords}
            if _model(node.func) in REFERRED_TO and "no_key" not in told:
                yield node.lineno


def _model(node: ast.AST) -> str:
    """The name at the beginning of a chain of calls."""
    while isinstance(node, ast.Attribute | ast.Call):
        node = node.value if isinstance(node, ast.Attribute) else node.func
    return node.id if isinstance(node, ast.Name) else ""


def test_no_lock_of_a_queue_or_project_keeps_out_what_refers_to_it():
    paths = files("*.py", "reviews", "goldsets", "annotator")
    assert [f"{named(path)}:{line}" for path in paths for line in too_strong(tree(path))] == []


def test_such_locks_are_found():
    strong = [
        "Queue.objects.select_for_update().get(pk=1)",
        'Project.every.filter(pk=1).select_for_update(of=("self",))',
    ]
    weak = ['Queue.objects.select_for_update(no_key=True, of=("self",))', "QueueItem.objects.select_for_update()"]
    assert [len(list(too_strong(ast.parse(line)))) for line in [*strong, *weak]] == [1, 1, 0, 0]
