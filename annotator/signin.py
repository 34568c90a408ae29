"""Who may come in: people who were invited. Nobody signs up by themselves."""

from typing import Any

import structlog
from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.models import EmailAddress
from allauth.account.utils import perform_login
from allauth.mfa.models import Authenticator
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialAccount
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET
from knox.models import AuthToken
from sesame.utils import get_user

from annotator.models import User

log = structlog.get_logger(__name__)


class ClosedAccountAdapter(DefaultAccountAdapter):
    """Closes allauth's sign-up; an invitation makes the account instead."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False


class KnownPeopleOnlyAdapter(DefaultSocialAccountAdapter):
    """Lets a single sign-on provider in for addresses that already have an account, and for no others."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        return False

    def authenticate_by_email(self, sociallogin: Any) -> Any:
        """The person whose address the provider vouches for, with everything ended that was there before it did."""
        found = super().authenticate_by_email(sociallogin)
        if found is not None:
            _vouched_for(*found)
        return found


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


@transaction.atomic
def _vouched_for(user: Any, email: str) -> None:
    """Whoever opens an invitation may give any address; nobody checks it. So the account may have been made by another.

    The first time a provider says whose the address is, that person has the account to themselves: password and
    sessions, one-time links, API tokens, second factors and other linked identities end.
    """
    if EmailAddress.objects.filter(user=user, email__iexact=email, verified=True).exists():
        return
    user.set_unusable_password()  # Sessions and one-time links hang on it, too.
    user.save(update_fields=["password"])
    for model in (AuthToken, Authenticator, SocialAccount, EmailAddress):
        model.objects.filter(user=user).delete()
    EmailAddress.objects.create(user=user, email=email.lower(), verified=True, primary=True)
    log.info("address vouched for", person=user.pk)


def _use_up(user: User) -> bool:
    """A link is bound to the time of the last sign-in; moving that on spends it. Of two at once only one wins."""
    unspent = User.objects.filter(pk=user.pk, is_active=True, last_login=user.last_login)
    return unspent.update(last_login=timezone.now()) == 1
