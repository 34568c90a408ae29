"""The ledger's page, its API and its command say the same, to whoever may see it."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from reviews.enums import Role
from reviews.models import Assignment, Event
from tests import factories as make
from tests.factories.furnished import judge
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db

PRICES = {"expert": "60", "lead": "90"}


@pytest.fixture
def project():
    """Six runs that Alice judged in two minutes each."""
    project = make.project()
    alice = make.expert(project, "Alice")
    queue = make.queue(project, items=6, overlap=1)
    for _ in range(6):
        judge(queue, alice, make.passing())
    Assignment.objects.filter(queue=queue).update(active_seconds=120)
    return project


def run(*arguments):
    out = StringIO()
    call_command("ledger", *arguments, stdout=out)
    return out.getvalue()


def test_a_lead_writes_prices_and_reads_what_a_label_cost(project):
    browser = enter(make.lead_of(project))
    place = reverse("goldsets:ledger", args=[project.slug])
    assert "No lead has written what an hour costs." in browser.get(place).content.decode()
    answer = browser.post(reverse("goldsets:prices", args=[project.slug]), PRICES)
    assert answer.url == place
    page = browser.get(place).content.decode()
    assert "US dollars at prices 1" in page
    # Two minutes at 60 dollars an hour.
    assert 'title="n 6. ratio of sums; 95% interval by the delta method on the logarithm, over tasks. ">2.00' in page
    assert Event.objects.filter(verb="prices.written").count() == 1


def test_a_price_that_is_none_comes_back_with_a_sentence(project):
    browser = enter(make.lead_of(project))
    answer = browser.post(reverse("goldsets:prices", args=[project.slug]), {"expert": "-3"})
    assert answer.status_code == 422
    assert "from 0 to 1000" in answer.content.decode()
    assert browser.post(reverse("goldsets:prices", args=[project.slug]), {"expert": ""}).status_code == 422


def test_engineers_and_admins_look_and_experts_do_not(project):
    engineer = make.person("Eli")
    make.member(project, engineer, Role.ENGINEER)
    places = [reverse(f"goldsets:{name}", args=[project.slug]) for name in ("ledger", "prices")]
    assert [enter(engineer).get(place).status_code for place in places] == [200, 200]
    assert enter(engineer).post(places[1], PRICES).status_code == 403
    assert [enter(make.expert(project, "Bob")).get(place).status_code for place in places] == [403, 403]
    assert enter(make.person("Sam")).get(places[0]).status_code == 404


def test_the_api_says_what_the_page_says(project):
    browser = enter(make.lead_of(project))
    place = f"/api/v1/projects/{project.slug}/"
    made = browser.post(f"{place}prices/", json.dumps({"prices": {"expert": 30}}), content_type="application/json")
    assert (made.status_code, made.json()["number"]) == (201, 1)
    found = browser.get(f"{place}ledger/").json()
    assert (found["currency"], found["prices"]["prices"], found["total"]["minutes"]) == ("USD", {"expert": 30.0}, 12)
    assert found["total"]["cost_per_label"]["value"] == 1.0
    assert found["kinds"][0] | {"money": 6.0, "n": 6} == found["kinds"][0] | {"n": 6}
    assert browser.get(f"{place}ledger/?prices=7").status_code == 404
    assert browser.get(f"{place}ledger/?queue=none").status_code == 404
    refused = browser.post(f"{place}prices/", json.dumps({"prices": {"boss": 3}}), content_type="application/json")
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["boss"])


def test_the_command_says_it_too_and_writes_prices(project):
    lines = run(project.slug, "--set", "expert=60", "--set", "lead=90").splitlines()
    assert lines[0] == "US dollars, at prices 1"
    assert lines[1].split() == ["Judging", "items", "12.0", "min", "100%", "n", "6"]
    assert "Everything: 12.0 min, $12.00, 6 labels, 0 kept" in lines
    assert "  minutes per kept item: Nothing of it is kept." in lines
    assert json.loads(run(project.slug, "--json"))["total"]["cost_per_label"]["value"] == 2.0
    for wrong in (["--set", "expert"], ["--set", "boss=3"], ["--prices", "9"], ["--queue", "none"]):
        with pytest.raises(CommandError):
            run(project.slug, *wrong)
