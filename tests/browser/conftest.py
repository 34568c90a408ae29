"""What browser tests share: people who are signed in, and a clean bill of accessibility."""

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from django.test import Client

axe = Axe()

# The text, of forty characters and more, that is broken into lines of fewer than ten characters on average, on a phone
# of fewer than six.
CRAMPED = """() => {
  const found = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const words = texts.currentNode.data.trim().replace(/\\s+/g, " ");
    if (words.length < 40 || !texts.currentNode.parentElement.checkVisibility({ visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(texts.currentNode);
    const lines = new Set([...range.getClientRects()].map((line) => Math.round(line.top)));
    if (words.length / lines.size < (innerWidth > 900 ? 10 : 6)) found.push(words.slice(0, 60));
  }
  return found;
}"""


def cramped(page: Any) -> list[str]:
    """The beginnings of texts that stand in a column too narrow to be read."""
    return page.evaluate(CRAMPED)


@pytest.fixture
def sign_in(live_server: Any) -> Callable[[Any, Any], None]:
    """Sign a person in to a browser context, without the form."""

    def enter(context: Any, person: Any) -> None:
        client = Client()
        client.force_login(person, backend="allauth.account.auth_backends.AuthenticationBackend")
        context.add_cookies(
            [
                {
                    "name": settings.SESSION_COOKIE_NAME,
                    "value": client.cookies[settings.SESSION_COOKIE_NAME].value,
                    "url": live_server.url,
                }
            ]
        )

    return enter


@pytest.fixture
def no_barriers() -> Callable[[Any], None]:
    """Fail with axe's own words when a page keeps somebody out."""

    def check(page: Any) -> None:
        found = axe.run(page).response["violations"]
        report = [f"{one['id']}: {one['help']}: {[node['target'] for node in one['nodes']]}" for one in found]
        assert not report, f"{page.url}\n" + "\n".join(report)
        assert cramped(page) == [], page.url

    return check
