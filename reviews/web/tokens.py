"""A person's own API tokens: which there are, making one, and ending one."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from reviews.actions.tokens import make_token, revoke_token
from reviews.errors import NotFound
from reviews.forms import TokenForm, attempt
from reviews.queries.tokens import tokens_of


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: HttpRequest) -> HttpResponse:
    """The list. A new token's secret is in the answer to its POST and nowhere else: it is not kept."""
    form, made = TokenForm(request.POST or None), None
    if request.method == "POST" and form.is_valid():
        made = attempt(form, make_token, actor=request.user, **form.cleaned_data)
    token, secret = made or (None, "")
    context = {
        "form": TokenForm() if made else form,
        "token": token,
        "secret": secret,
        "tokens": tokens_of(request.user),
    }
    return render(request, "reviews/tokens.html", context, status=422 if form.errors else 200)


@login_required
@require_POST
def revoke(request: HttpRequest) -> HttpResponse:
    try:
        revoke_token(actor=request.user, starts=request.POST.get("starts", ""))
    except NotFound as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "The token is revoked. Whatever still sends it is refused from now on.")
    return redirect("reviews:tokens")
