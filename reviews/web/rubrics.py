"""Rubrics and guidelines: the versions there are, how each reads, and the next version."""

import json
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils.text import slugify
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from reviews.actions.rubrics import write_guideline, write_principle, write_rubric
from reviews.enums import Block
from reviews.errors import Conflict, Invalid, NotFound
from reviews.forms import GuidelineForm, attempt
from reviews.keymap import keymap
from reviews.models import Guideline, Project, Rubric
from reviews.queries.projects import guideline_by_uid, guidelines, rubric_by_uid
from reviews.queries.projects import rubrics as rubrics_of
from reviews.queries.questions import all_notes, by_line, folded_text, notes_to_fold
from reviews.queries.rubric_versions import changes_between, difference, open_work, open_work_by_guideline, versions_of
from reviews.queries.rubrics import as_asked, principles_of, rubric_as_written, rubric_file
from reviews.web import rubric_builder
from reviews.web.access import project_for, project_page
from reviews.web.pages import go, is_uid
from reviews.web.rubric_starts import STARTS, started

MOST_BYTES = 1024**2


# --- Rubrics ----------------------------------------------------------------------------------------------------------
@login_required
@require_GET
def rubrics(request: HttpRequest, slug: str) -> HttpResponse:
    project = project_for(request, slug, "view_items")
    return project_page(request, "reviews/rubrics.html", project=project, at="rubrics", rubrics=rubrics_of(project))


@login_required
@require_GET
def rubric(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    project = project_for(request, slug, "view_items")
    found = _rubric(project, uid)
    versions = versions_of(project, found.name)
    context: dict[str, Any] = {
        "rubric": found,
        "others": [version for version in versions if version.pk != found.pk],
        "is_latest": versions[0].pk == found.pk,
        "work": open_work(project, found.name, but=found),
    }
    return project_page(request, "reviews/rubric.html", project=project, at="rubrics", **context)


@login_required
@require_GET
def rubric_changes(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """What differs between a version and the one named by `since`, by itself the one before it."""
    project = project_for(request, slug, "view_items")
    after = _rubric(project, uid)
    versions = versions_of(project, after.name)
    earlier = [version for version in versions if version.version < after.version]
    asked = request.GET.get("since")
    before = _rubric(project, asked) if asked else earlier[0] if earlier else None
    if before is None:
        raise NotFound("This is the first version: there is nothing to compare it with.")
    context: dict[str, Any] = {
        "rubric": after,
        "before": before,
        "versions": versions,
        "changes": changes_between(before, after),
        "work": open_work(project, after.name, but=after),
    }
    return project_page(request, "reviews/rubric_changes.html", project=project, at="rubrics", **context)


@login_required
@require_GET
def rubric_download(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """The version as a JSON file, which `rubric_upload` and the API take."""
    project = project_for(request, slug, "view_items")
    found = _rubric(project, uid)
    body = json.dumps(rubric_file(found), ensure_ascii=False, indent=2) + "\n"
    name = f"{slugify(found.name) or 'rubric'}-{found.version}.json"
    return HttpResponse(
        body, content_type="application/json", headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )


@login_required
@require_POST
def rubric_upload(request: HttpRequest, slug: str) -> HttpResponse:
    """A file opened in the builder: nothing is saved before somebody has looked at it."""
    project = project_for(request, slug, "write_rubric")
    try:
        return _builder(request, project, rubric_builder.from_file(_text_of(request.FILES.get("file"))))
    except Invalid as error:
        context: dict[str, Any] = {"rubrics": rubrics_of(project), "mistakes": error.errors}
        return project_page(request, "reviews/rubrics.html", project=project, at="rubrics", status=422, **context)


def _text_of(file: UploadedFile | None) -> str:
    if file is None or (file.size or 0) > MOST_BYTES:
        raise Invalid({"file": f"Choose a JSON file of at most {MOST_BYTES // 1024} KB."})
    try:
        return file.read().decode()
    except UnicodeDecodeError:
        raise Invalid({"file": "This is no text in UTF-8."}) from None


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_rubric(request: HttpRequest, slug: str) -> HttpResponse:
    """The builder. Every button posts the whole form; only `save` writes a version."""
    project = project_for(request, slug, "write_rubric")
    if request.method != "POST":
        return _builder(request, project, _start(project, request.GET))
    draft, do = rubric_builder.read(request.POST), request.POST.get("do", "save")
    if do != "save":
        return _builder(request, project, draft, focus=rubric_builder.edit(draft, do))
    try:
        made = write_rubric(actor=request.user, project=project, **draft)
    except Invalid as error:
        return _builder(request, project, draft, errors=rubric_builder.told_once(draft, error.errors))
    except Conflict as error:
        return _builder(request, project, draft, errors={"name": error.message})
    messages.success(request, f"{made} is saved. It never changes; a change is the next version.")
    return go(request, "reviews:rubric", slug=slug, uid=made.uid)


def _start(project: Project, asked: QueryDict) -> dict[str, Any]:
    """What the builder opens with: a version that is there, a starting point, or an empty rubric."""
    if source := asked.get("from"):
        return rubric_builder.from_rubric(_rubric(project, source))
    return started(asked.get("start", "")) or rubric_builder.empty()


def _builder(
    request: HttpRequest,
    project: Project,
    draft: dict[str, Any],
    *,
    focus: str = "",
    errors: dict[str, str] | None = None,
) -> HttpResponse:
    errors = errors or {}
    versions, known = versions_of(project, draft["name"].strip()), list(principles_of(project))
    return project_page(
        request,
        "reviews/rubric_new.html",
        project=project,
        at="rubrics",
        status=422 if errors else 200,
        draft=draft,
        rows=rubric_builder.furnished(draft, errors=errors, focus=focus),
        focus=focus,
        errors=errors,
        preview=as_asked(draft, known),
        principles=known,
        latest=versions[0] if versions else None,
        changes=difference(rubric_as_written(versions[0]), draft) if versions else [],
        work=open_work(project, draft["name"].strip()) if versions else [],
        keys=keymap(),
        starts=STARTS,
        blocks=Block.choices,
        **rubric_builder.OPTIONS,
    )


def _rubric(project: Project, uid: Any) -> Rubric:
    found = rubric_by_uid(project, uid) if is_uid(uid) else None
    if found is None:
        raise NotFound("There is no such rubric in this project.")
    return found


# --- Principles -------------------------------------------------------------------------------------------------------
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def principles(request: HttpRequest, slug: str) -> HttpResponse:
    """Every version, and a form for the next one."""
    writes = request.method == "POST"
    project = project_for(request, slug, "write_rubric" if writes else "view_items")
    entered = {"name": request.POST.get("name", ""), "text": request.POST.get("text", "")}
    errors: dict[str, str] = {}
    if writes:
        try:
            made = write_principle(actor=request.user, project=project, **entered)
        except (Invalid, Conflict) as error:
            errors = error.errors if isinstance(error, Invalid) else {"name": error.message}
        else:
            messages.success(request, f"{made} is saved. Criteria refer to it from the builder.")
            return go(request, "reviews:principles", slug=slug)
    context: dict[str, Any] = {"principles": principles_of(project), "entered": entered, "errors": errors}
    status = 422 if errors else 200
    return project_page(request, "reviews/principles.html", project=project, at="rubrics", status=status, **context)


# --- Guidelines -------------------------------------------------------------------------------------------------------
@login_required
@require_GET
def guideline_list(request: HttpRequest, slug: str) -> HttpResponse:
    project = project_for(request, slug, "view_items")
    context: dict[str, Any] = {"guidelines": guidelines(project)}
    return project_page(request, "reviews/guidelines.html", project=project, at="guidelines", **context)


@login_required
@require_GET
def guideline(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    project = project_for(request, slug, "view_items")
    found = _guideline(project, uid)
    notes = all_notes(found)
    context: dict[str, Any] = {
        "guideline": found,
        "is_latest": not guidelines(project).filter(name=found.name, version__gt=found.version).exists(),
        "work": open_work_by_guideline(project, found.name, but=found),
        "notes": by_line(notes),
        "on_policy": [note for note in notes if note.policy_id],
        "to_fold": sum(note.folded_into_id is None for note in notes),
    }
    return project_page(request, "reviews/guideline.html", project=project, at="guidelines", **context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_guideline(request: HttpRequest, slug: str) -> HttpResponse:
    """The editor; `do=preview` shows the text as raters will read it and saves nothing. `fold` puts the notes in."""
    project = project_for(request, slug, "write_rubric")
    source = request.GET.get("from")
    start = _guideline(project, source) if source else None
    notes = notes_to_fold(start) if start and "fold" in request.GET else []
    if request.method == "POST":
        notes = [note for note in notes if str(note.uid) in request.POST.getlist("notes")]
    text = folded_text(start, notes) if start else ""
    form = GuidelineForm(request.POST or None, initial={"name": start.name, "text": text} if start else None)
    preview = request.POST.get("text", "") if request.POST.get("do") == "preview" else ""
    if request.method == "POST" and not preview and form.is_valid():
        into = [uid for uid in request.POST.getlist("notes") if is_uid(uid)]
        made = attempt(form, write_guideline, actor=request.user, project=project, notes=into, **form.cleaned_data)
        if made:
            messages.success(request, f"{made} is saved. It never changes; a change is the next version.")
            return go(request, "reviews:guideline", slug=slug, uid=made.uid)
    status = 422 if form.errors and not preview else 200
    context = {"form": form, "preview": preview or text, "notes": notes}
    return project_page(
        request, "reviews/guideline_new.html", project=project, at="guidelines", status=status, **context
    )


def _guideline(project: Project, uid: Any) -> Guideline:
    found = guideline_by_uid(project, uid) if is_uid(uid) else None
    if found is None:
        raise NotFound("There is no such guideline in this project.")
    return found
