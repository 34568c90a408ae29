"""What Alice enters stays: through tunnels, ended sessions, a server that is killed, two tabs and two machines."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from playwright.sync_api import expect

from reviews.actions.dealing import claim
from reviews.actions.judging import save_draft
from reviews.models import Draft, Event, Judgment
from tests import factories as make

pytestmark = pytest.mark.django_db(transaction=True)

ROOT = Path(__file__).resolve().parents[2]
SAVED = re.compile(r"^Saved \d\d:\d\d:\d\d$")


class WebServer:
    """gunicorn as in production, on the tests' database, to be killed and started again on its port."""

    def __init__(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        database = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}")
        # Static files come from where they lie, which is for developers only.
        ours = {"DATABASE_URL": database.geturl(), "BIND": f"127.0.0.1:{self.port}", "WEB_WORKERS": "1", "DEBUG": "1"}
        command = [sys.executable, "-m", "gunicorn", "-c", "annotator/gunicorn_conf.py", "annotator.wsgi"]
        self.running = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **ours})
        end = time.monotonic() + 60
        while not self.answers():
            assert time.monotonic() < end
            time.sleep(0.1)

    def answers(self) -> bool:
        try:
            urllib.request.urlopen(f"{self.url}/accounts/login/", timeout=5)  # noqa: S310 (our own address)
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False
        return True

    def kill(self) -> None:
        """As the kernel kills who takes too much memory: at once, master and worker, with no chance to tidy up."""
        each = [psutil.Process(self.running.pid), *psutil.Process(self.running.pid).children(recursive=True)]
        for process in each:
            process.send_signal(signal.SIGKILL)
        psutil.wait_procs(each, timeout=20)
        self.running.wait()


@pytest.fixture
def web(transactional_db):
    server = WebServer()
    server.start()
    yield server
    server.kill()


@pytest.fixture
def desk(transactional_db):
    return make.project()


@pytest.fixture
def alice(desk):
    return make.expert(desk, "Alice")


@pytest.fixture
def machine(browser):
    """A browser of its own, with its own storage, in which somebody is signed in at an address."""
    contexts = []

    def opened(person, url):
        context = browser.new_context(base_url=url)
        contexts.append(context)
        enter(context, person, url)
        return context.new_page()

    yield opened
    for context in contexts:
        context.close()


def enter(context, person, url):
    client = Client()
    client.force_login(person, backend="allauth.account.auth_backends.AuthenticationBackend")
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": url}])


def read(page, assignment):
    page.goto(f"/assignments/{assignment.uid}/")
    page.wait_for_selector("#judgment .criterion.at")


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def why(page):
    return page.locator("#rationale")


def kept(page):
    return page.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('draft:'))")


def rationale():
    return Draft.objects.get().data["rationale"]


# --- Saved as it grows ------------------------------------------------------------------------------------------------
def test_who_writes_without_a_pause_is_saved_all_the_same(desk, alice, live_server, machine):
    page = machine(alice, live_server.url)
    read(page, claim(actor=alice, queue=make.queue(desk)))
    press(page, "r")
    page.keyboard.type("On and on and on and on and on and on", delay=60)
    assert Draft.objects.get().version >= 2
    expect(page.locator("#saved")).to_have_text(SAVED)
    assert rationale() == "On and on and on and on and on and on"
    assert kept(page) == []


# --- Without a connection ---------------------------------------------------------------------------------------------
def test_a_judgment_submitted_in_a_tunnel_is_sent_once_behind_it(desk, alice, live_server, machine):
    page = machine(alice, live_server.url)
    mine = claim(actor=alice, queue=make.queue(desk, items=2))
    read(page, mine)
    page.context.set_offline(True)
    press(page, "p", "p", "3", "2", "3", "r")
    page.keyboard.type("Written in a tunnel")
    press(page, "Control+Enter", "Control+Enter")
    notice = page.locator("#unsent")
    expect(notice).to_contain_text("is sent as soon as there is one")
    expect(page.locator("#announce")).to_contain_text("is sent as soon as there is one")
    expect(why(page)).to_have_value("Written in a tunnel")
    assert not Judgment.objects.exists()
    page.context.set_offline(False)
    expect(page.locator("#announce")).to_have_text("Submitted. The next item is here.", timeout=20_000)
    assert Judgment.objects.get().rationale == "Written in a tunnel"
    assert kept(page) == []


def test_a_judgment_that_waits_is_not_sent_when_it_is_changed_or_called_back(desk, alice, live_server, machine):
    page = machine(alice, live_server.url)
    read(page, claim(actor=alice, queue=make.queue(desk, items=2)))
    page.context.set_offline(True)
    press(page, "p", "p", "3", "2", "3", "Control+Enter")
    page.get_by_role("button", name="Do not send").click()
    press(page, "Control+Enter")
    expect(page.get_by_role("button", name="Do not send")).to_be_visible()
    press(page, "r")
    page.keyboard.type("One thing more")
    expect(page.locator("#unsent")).to_contain_text("Not saved since")
    page.context.set_offline(False)
    expect(page.locator("#saved")).to_have_text(SAVED, timeout=20_000)
    assert rationale() == "One thing more"
    assert not Judgment.objects.exists()


def test_a_page_closed_in_a_tunnel_is_restored_from_the_browser(desk, alice, live_server, machine):
    page = machine(alice, live_server.url)
    mine = claim(actor=alice, queue=make.queue(desk))
    read(page, mine)
    page.context.set_offline(True)
    press(page, "f", "e", "r")
    page.keyboard.type("Half a thought")
    expect(page.locator("#unsent")).to_contain_text("kept in this browser")
    assert kept(page) == [f"draft:{alice.pk}:{mine.uid}"]
    context = page.context
    page.close()
    context.set_offline(False)
    later = context.new_page()
    read(later, mine)
    expect(why(later)).to_have_value("Half a thought")
    expect(later.locator("#c-authorised .chip")).to_contain_text("step 1")
    expect(later.locator("#saved")).to_have_text(SAVED)
    assert rationale() == "Half a thought"
    assert kept(later) == []


def test_what_a_closed_page_kept_does_not_take_the_place_of_what_was_saved_since(desk, alice, live_server, machine):
    page = machine(alice, live_server.url)
    mine = claim(actor=alice, queue=make.queue(desk))
    read(page, mine)
    page.context.set_offline(True)
    press(page, "r")
    page.keyboard.type("In the tunnel")
    expect(page.locator("#unsent")).to_contain_text("kept in this browser")
    context = page.context
    page.close()
    save_draft(actor=alice, uid=mine.uid, data={"rationale": "At home"}, version=0)
    context.set_offline(False)
    later = context.new_page()
    read(later, mine)
    expect(later.get_by_role("dialog")).to_contain_text("In the tunnel")
    expect(later.get_by_role("dialog")).to_contain_text("At home")
    assert rationale() == "At home"


# --- The session ends -------------------------------------------------------------------------------------------------
def test_whoever_is_signed_out_while_judging_comes_back_to_everything(desk, alice, live_server, machine):
    alice.set_password("a long password")
    alice.save()
    page = machine(alice, live_server.url)
    mine = claim(actor=alice, queue=make.queue(desk))
    read(page, mine)
    page.context.clear_cookies(name="sessionid")
    press(page, "p", "f", "j", "j", "e", "r")
    page.keyboard.type("Written when nobody was in")
    notice = page.locator("#unsent")
    expect(notice).to_contain_text("You are signed out.")
    expect(page.locator("#judgment")).to_be_visible()
    notice.get_by_role("link", name="Sign in").click()
    page.locator("[name=login]").fill(alice.email)
    page.locator("[name=password]").fill("a long password")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_selector("#judgment .criterion.at")
    assert page.url.endswith(f"/assignments/{mine.uid}/")
    expect(why(page)).to_have_value("Written when nobody was in")
    expect(page.locator("#of-failure-step .chip")).to_contain_text("step 3")
    expect(page.locator("#saved")).to_have_text(SAVED)
    assert Draft.objects.get().data["gates"] == {"authorised": "pass", "consent": "fail"}


def test_signing_out_saves_what_is_new_and_leaves_nothing_in_the_browser(desk, alice, live_server, machine):
    page = machine(alice, live_server.url)
    read(page, claim(actor=alice, queue=make.queue(desk)))
    page.evaluate(f"localStorage.setItem('draft:{alice.pk}:another', '{{}}')")
    page.evaluate(f"localStorage.setItem('draft:{alice.pk}1:of-somebody-else', '{{}}')")
    press(page, "r")
    page.keyboard.type("The last word")
    page.evaluate("document.querySelector('[data-sign-out]').requestSubmit()")
    page.wait_for_url("**/accounts/login/**")
    assert rationale() == "The last word"
    assert kept(page) == [f"draft:{alice.pk}1:of-somebody-else"]


# --- Two tabs, two machines -------------------------------------------------------------------------------------------
def test_alice_chooses_line_by_line_between_two_machines(desk, alice, live_server, machine):
    here, there = machine(alice, live_server.url), machine(alice, live_server.url)
    mine = claim(actor=alice, queue=make.queue(desk))
    read(here, mine)
    read(there, mine)
    press(there, "f", "j", "j", "e", "r")
    there.keyboard.type("From the office")
    expect(there.locator("#saved")).to_have_text(SAVED)
    press(here, "r")
    here.keyboard.type("From home")
    dialog = here.get_by_role("dialog")
    expect(dialog).to_contain_text("From the office")
    expect(dialog).to_contain_text("From home")
    dialog.locator("input[name='gates.authorised'][value=there]").check()
    dialog.get_by_role("button", name="Save what is chosen").click()
    expect(here.locator("input[name='gates.authorised'][value=fail]")).to_be_checked()
    expect(here.locator("#c-authorised .chip")).to_contain_text("step 3")
    expect(why(here)).to_have_value("From home")
    assert Draft.objects.get().data["gates"] == {"authorised": "fail"}
    assert rationale() == "From home"


def test_a_choice_put_off_comes_again_and_loses_neither_text(desk, alice, live_server, machine):
    page = machine(alice, live_server.url)
    mine = claim(actor=alice, queue=make.queue(desk))
    read(page, mine)
    save_draft(actor=alice, uid=mine.uid, data={"rationale": "By a script"}, version=0)
    press(page, "r")
    page.keyboard.type("By hand")
    expect(page.get_by_role("dialog")).to_contain_text("By a script")
    press(page, "Escape")
    expect(page.locator("#unsent")).to_contain_text("You choose again with your next change")
    why(page).focus()
    page.keyboard.type(" and with care")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("By hand")
    expect(dialog).to_contain_text("By a script")
    dialog.get_by_role("button", name="Take all of the other").click()
    expect(why(page)).to_have_value("By a script")


# --- The server dies --------------------------------------------------------------------------------------------------
def test_a_server_killed_while_alice_writes_and_submits_loses_nothing(desk, alice, web, machine):
    page = machine(alice, web.url)
    read(page, claim(actor=alice, queue=make.queue(desk, items=2)))
    press(page, "p", "p", "3", "2")
    expect(page.locator("#saved")).to_have_text(SAVED)
    press(page, "3", "r")
    page.keyboard.type("Before, ")
    web.kill()
    page.keyboard.type("during, ")
    expect(page.locator("#unsent")).to_contain_text("kept in this browser")
    web.start()
    expect(page.locator("#saved")).to_have_text(SAVED, timeout=30_000)
    assert rationale() == "Before, during, "
    page.keyboard.type("after.")
    web.kill()
    press(page, "Control+Enter")
    expect(page.locator("#unsent")).to_contain_text("is sent as soon as there is one")
    web.start()
    expect(page.locator("#announce")).to_have_text("Submitted. The next item is here.", timeout=30_000)
    assert Judgment.objects.get().rationale == "Before, during, after."
    assert Event.objects.filter(verb="judgment.submitted").count() == 1
