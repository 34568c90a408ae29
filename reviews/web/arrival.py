"""Pages of what happens on arrival: rules that put new items into queues, and what is redacted."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from reviews.actions.redacting import set_redaction
from reviews.actions.routing import change_rule, create_rule, remove_rule, try_rule
from reviews.arrival import in_a_line
from reviews.errors import Conflict, NotFound
from reviews.forms import RedactionForm, RuleForm, attempt
from reviews.models import ArrivalRule, Project
from reviews.queries.arrivals import MOST_TRIED, redaction_of, rule_by_uid, rules_of, tried
from reviews.web.access import project_for, project_page


@dataclass(frozen=True)
class RuleRow:
    """A rule in the table, with how many of the items that are there it fits."""

    rule: ArrivalRule
    fits: int

    @property
    def lines(self) -> list[str]:
        return [in_a_line(condition) for condition in self.rule.conditions]

    @property
    def percent(self) -> str:
        return f"{self.rule.share * 100:g}%"


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def rules(request: HttpRequest, slug: str) -> HttpResponse:
    """The rules with what each would take, and the form for a new one."""
    project = project_for(request, slug, "manage_rules")
    form = RuleForm(request.POST or None, project=project)
    if request.method == "POST" and form.is_valid():
        if "try" in request.POST:
            return _tried(request, project, form)
        made = attempt(form, create_rule, actor=request.user, project=project, **form.given)
        if made:
            messages.success(request, f"{made.name} holds for what comes in from now on.")
            return redirect("reviews:rules", slug=slug)
    return _rules(request, project, form)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def rule(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """One rule, to change it."""
    project = project_for(request, slug, "manage_rules")
    found = _rule(project, uid)
    form = RuleForm(request.POST or None, project=project, initial=RuleForm.initial_of(found))
    if request.method == "POST" and form.is_valid():
        if "try" in request.POST:
            return _tried(request, project, form, rule=found)
        if attempt(form, change_rule, actor=request.user, rule=found, **form.given):
            messages.success(request, "Saved. Items that it brought stay where they are.")
            return redirect("reviews:rules", slug=slug)
    return _rules(request, project, form, rule=found)


@login_required
@require_POST
def remove(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    project = project_for(request, slug, "manage_rules")
    try:
        removed = remove_rule(actor=request.user, rule=_rule(project, uid))
    except (Conflict, NotFound) as error:
        messages.warning(request, error.message)
    else:
        messages.success(request, f"{removed.name} is removed. Items that it brought stay where they are.")
    return redirect("reviews:rules", slug=slug)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def redaction(request: HttpRequest, slug: str) -> HttpResponse:
    """What is replaced in runs as they come in."""
    project = project_for(request, slug, "manage_redaction")
    form = RedactionForm(request.POST or None, initial=RedactionForm.initial_of(redaction_of(project)))
    sent = request.method == "POST" and form.is_valid()
    if sent and attempt(form, set_redaction, actor=request.user, project=project, **form.given):
        messages.success(request, "Saved. It holds for runs that come in from now on.")
        return redirect("reviews:redaction", slug=slug)
    status = 422 if form.errors else 200
    return project_page(request, "reviews/redaction.html", project=project, at="imports", status=status, form=form)


def _tried(request: HttpRequest, project: Project, form: RuleForm, **context: Any) -> HttpResponse:
    """The form as it was sent, with what such a rule would have taken."""
    asked = {name: value for name, value in form.given.items() if name != "position"}
    trial = attempt(form, try_rule, actor=request.user, project=project, **asked)
    return _rules(request, project, form, trial=trial, **context)


def _rules(request: HttpRequest, project: Project, form: RuleForm, **context: Any) -> HttpResponse:
    standing = list(rules_of(project))
    counts, seen = tried(project, standing)
    rows = [RuleRow(each, count) for each, count in zip(standing, counts, strict=True)]
    context |= {"form": form, "rows": rows, "seen": seen, "most": MOST_TRIED}
    status = 422 if form.errors else 200
    return project_page(request, "reviews/rules.html", project=project, at="imports", status=status, **context)


def _rule(project: Project, uid: Any) -> ArrivalRule:
    found = rule_by_uid(project, uid)
    if found is None:
        raise NotFound("This project has no such rule.")
    return found
