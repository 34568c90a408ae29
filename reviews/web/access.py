"""Loads what a page is about and checks the right to it in one step, so that no view can forget the check."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django_htmx.middleware import HtmxDetails

from reviews.errors import NotFound
from reviews.models import Project, Queue
from reviews.queries.disagreements import waiting_count
from reviews.queries.home import queue_by_uid
from reviews.queries.projects import project_by_slug
from reviews.queries.questions import open_count
from reviews.queries.training import training_by_uid
from reviews.rules import can, check


class HtmxRequest(HttpRequest):
    """A request as the middleware of django-htmx hands it on."""

    htmx: HtmxDetails


class May:
    """Asks the rules for one person in one project as `may.export` in a template; each rule once a page."""

    def __init__(self, user: Any, project: Project | None = None) -> None:
        self.user, self.project = user, project
        self.known: dict[str, bool] = {}

    def __getitem__(self, permission: str) -> bool:
        if permission not in self.known:
            self.known[permission] = can(self.user, permission, self.project)
        return self.known[permission]


def project_for(request: HttpRequest, slug: str, permission: str) -> Project:
    """The project, for whoever may do this in it. Raises NotFound or Forbidden."""
    project = project_by_slug(slug)
    if project is None:
        raise NotFound("There is no such project, or you are not a member of it.")
    check(request.user, permission, project)
    return project


def queue_for(request: HttpRequest, uid: Any, permission: str) -> Queue:
    """The queue with project, rubric and guideline, for whoever may do this in its project."""
    queue = queue_by_uid(uid)
    if queue is None:
        raise NotFound("There is no such queue.")
    check(request.user, permission, queue.project)
    return queue


def training_for(request: HttpRequest, uid: Any, permission: str) -> Queue:
    """A practice set, qualification or norming session, for whoever may do this in its project."""
    queue = training_by_uid(uid)
    if queue is None:
        raise NotFound("There is no such practice set, qualification or session.")
    check(request.user, permission, queue.project)
    return queue


def project_page(
    request: HttpRequest, template: str, *, project: Project, at: str, status: int = 200, **context: Any
) -> HttpResponse:
    """A page under the project's tabs; `at` names the tab it stands under."""
    may = May(request.user, project)
    waiting = open_count(project, request.user) if may["answer_questions"] else 0
    context |= {"project": project, "at": at, "may": may, "question_count": waiting}
    return render(request, template, context, status=status)


def queue_page(
    request: HttpRequest, template: str, *, queue: Queue, at: str, status: int = 200, **context: Any
) -> HttpResponse:
    """A page under the queue's tabs; `at` names the tab it stands under."""
    context |= {"project": queue.project, "queue": queue, "at": at, "may": May(request.user, queue.project)}
    return render(request, template, context | {"waiting_count": waiting_count(queue)}, status=status)
