"""Who may come in: people who were invited. Nobody signs up by themselves."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.utils import perform_login
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET
from sesame.utils import get_user

from annotator.models import User


class ClosedAccountAdapter(DefaultAccountAdapter):
    """Closes allauth's sign-up; an invitation makes the account instead."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False


class KnownPeopleOnlyAdapter(DefaultSocialAccountAdapter):
    """Lets a single sign-on provider in for addresses that already have an account, and for no others."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        return False


@never_cache
@require_GET
def enter(request: HttpRequest) -> HttpResponse:
    """Signs in whoever opens a one-time link, once. A second factor, where set up, is still asked for."""
    user = get_user(request, update_last_login=False)
    if user is None or not _use_up(user):
        refusal = {
            "title": "This link does not work any more",
            "reason": "A sign-in link works once and for a limited time. Ask whoever sent it for a new one.",
            "href": "/accounts/login/",
            "action": "Sign in another way",
        }
        return render(request, "error.html", refusal, status=403)
    return perform_login(request, user)


def address(request: HttpRequest) -> HttpResponse:
    """Takes the place of allauth's page where people give themselves another address, which nobody would verify.

    The audit log and single sign-on know people by it, so whoever runs Assay changes it.
    """
    refusal = {
        "title": "Your address stays as it is",
        "reason": "Others know you by it, and so does single sign-on. Ask whoever runs this Assay to change it.",
        "href": "/",
        "action": "Back to the first page",
    }
    return render(request, "error.html", refusal, status=403)


def _use_up(user: User) -> bool:
    """A link is bound to the time of the last sign-in; moving that on spends it. Of two at once only one wins."""
    unspent = User.objects.filter(pk=user.pk, is_active=True, last_login=user.last_login)
    return unspent.update(last_login=timezone.now()) == 1
