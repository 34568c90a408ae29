"""The first page, and the invitations people come in by."""

from django.contrib.auth import login
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from reviews.actions.projects import accept_invitation, open_invitation
from reviews.enums import Role
from reviews.errors import AssayError, Conflict, Invalid
from reviews.queries.home import home_page
from reviews.queries.judging import judged_today
from reviews.queries.training import first_practice
from reviews.web.access import May
from reviews.web.refusals import refusal

# New people come in by their link; which backend they sign in through later does not matter here.
BACKEND = "allauth.account.auth_backends.AuthenticationBackend"
CLOSED = "This invitation cannot be used"


@require_safe
@login_required
def home(request: HttpRequest) -> HttpResponse:
    person = request.user
    context = {"home": home_page(person), "judged_today": judged_today(person), "may": May(person)}
    return render(request, "reviews/home.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def join(request: HttpRequest, token: str) -> HttpResponse:
    """An invitation: whoever is signed in becomes a member; anybody else gives name and address first."""
    try:
        invitation = open_invitation(token=token)
    except AssayError as error:
        return refusal(request, error, title=CLOSED, href="/", action="Sign in")
    given = {"email": request.POST.get("email", ""), "name": request.POST.get("name", "")}
    errors: dict[str, str] = {}
    if request.method == "POST":
        try:
            membership = accept_invitation(token=token, user=request.user, **given)
        except Invalid as error:
            errors = error.errors
        except Conflict as error:
            return refusal(request, error, title=CLOSED)
        else:
            if not request.user.is_authenticated:
                login(request, membership.user, backend=BACKEND)
            practice = first_practice(membership.project) if membership.role == Role.EXPERT else None
            return redirect("reviews:judge", uid=practice.uid) if practice else redirect("reviews:home")
    context = {"invitation": invitation, "given": given, "errors": errors}
    return render(request, "reviews/join.html", context, status=422 if errors else 200)
