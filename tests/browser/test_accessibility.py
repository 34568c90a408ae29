"""Nobody is kept out: axe finds nothing on any page a rater sees, in both themes, on a desk and on a phone."""

import pytest

from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.actions.projects import invite
from reviews.actions.questions import ask, publish
from tests import factories as make

pytestmark = pytest.mark.django_db(transaction=True)

SIZES = {"desk": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_every_page_of_a_rater(transactional_db, browser, live_server, sign_in, no_barriers, theme, size):
    project = make.project()
    queue = make.queue(project, items=3, overlap=1, unsure_allowed=True)
    alice = make.expert(project, "Alice")
    done = claim(actor=alice, queue=queue)
    submit(actor=alice, uid=done.uid, payload=make.failing(rationale="A stranger's. " * 20), idempotency_key="1")
    mine = claim(actor=alice, queue=queue)
    for about in ("policy", "guideline"):
        asked = ask(actor=alice, uid=mine.uid, about=about, place=1, text="What is late?")
        publish(actor=make.lead_of(project), uid=asked.uid, text="After the day.", about=about, line=1)
    _invitation, token = invite(actor=make.lead_of(project), project=project, role="expert")

    context = browser.new_context(color_scheme=theme, viewport=SIZES[size])
    page = context.new_page()
    for path in ("/accounts/login/", f"/join/{token}/", "/join/nonsense/", "/accounts/password/reset/"):
        page.goto(live_server.url + path)
        no_barriers(page)

    sign_in(context, alice)
    for path in (
        "/",
        f"/queues/{queue.uid}/judge/",
        f"/assignments/{done.uid}/",
        f"/assignments/{done.uid}/run/",
        "/judgments/",
        "/questions/",
        "/decisions/",
        "/nowhere/",
        "/settings/keys/",
        "/settings/tokens/",
        "/accounts/password/change/",
        "/accounts/logout/",
        "/accounts/2fa/",
    ):
        page.goto(live_server.url + path)
        no_barriers(page)

    page.goto(f"{live_server.url}/assignments/{mine.uid}/")
    page.wait_for_selector("#judgment .criterion.at")
    no_barriers(page)
    page.keyboard.press("Escape")
    for keys in (("p", "p", "3"), ("ArrowUp", "ArrowUp", "f", "e", "x"), ("Control+Enter",), ("/",)):
        for key in keys:
            page.keyboard.press(key)
        page.wait_for_timeout(400)
        no_barriers(page)
    page.keyboard.press("Escape")
    for key in ("?", "s", "Q"):
        page.keyboard.press(key)
        no_barriers(page)
        page.keyboard.press("Escape")
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]
    context.close()
