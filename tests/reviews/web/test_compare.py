"""Two runs side by side: what the page shows, how it stays small, who may see what of it, and what it refuses."""

import json
import re
import uuid

import pytest
from django.urls import reverse

from reviews.actions.dealing import claim
from reviews.trajectories.schema import Step, ToolCall, ToolResult
from tests import factories as make
from tests.factories.furnished import judge
from tests.factories.runs import another_run
from tests.reviews.web.test_judging import HTMX, enter

pytestmark = pytest.mark.django_db


def called(name, result="ok", **arguments):
    text = json.dumps(arguments)
    return Step(role="tool", call=ToolCall("c1", name, text, arguments), result=ToolResult(result))


HASTY = (
    *make.STEPS[:2],
    called("read_account", '{"account_id": "A-9", "name": "Daniel Osei"}', account_id="A-9"),
    Step(role="agent", text="A refund of $64.20 is on its way."),
    Step(role="user", text="That was not my account!"),
)


class Two:
    """A project with two runs of one task, and a client for its lead."""

    def __init__(self, left=make.STEPS, right=HASTY):
        self.project = make.project()
        self.lead = make.lead_of(self.project)
        self.left = make.item(self.project, steps=left)
        self.right = another_run(self.left, right)
        self.address = reverse("reviews:compare", args=[self.project.slug])
        self.pair = {"left": str(self.left.uid), "right": str(self.right.uid)}

    def get(self, who=None, headers=None, **asked):
        return enter(who or self.lead).get(self.address, self.pair | asked, headers=headers)

    def page(self, **asked):
        response = self.get(**asked)
        assert response.status_code == 200
        return response.content.decode()


@pytest.fixture
def two():
    return Two()


def test_the_page_says_where_two_runs_part_and_leads_there(two):
    page = two.page()
    assert '<a class="button primary" href="#parted">They part at A3 and B3</a>' in page
    assert page.index("I will look at the order now") < page.index('id="parted"') < page.index('id="row-3"')
    assert "3 steps the same, 1 differs, 0 in A only, 1 in B only" in page


def test_what_differs_is_named_and_marked_word_by_word(two):
    page = two.page()
    assert "account_id, result: account_id" in page
    assert 'A-<mark class="diff">5071</mark>' in page
    assert 'A-<mark class="diff">9</mark>' in page
    assert '<mark class="diff">Daniel' not in page


def test_a_step_that_one_run_lacks_stands_beside_nothing(two):
    page = two.page()
    assert "B only" in page
    assert "no step" in page
    assert "That was not my account!" in page


def test_runs_that_do_not_part_say_so():
    two = Two(right=make.STEPS)
    page = two.page()
    assert "Every step is the same in both." in page
    assert "They part" not in page


def test_runs_of_two_tasks_are_compared_with_a_warning(two):
    other = make.item(two.project)
    page = enter(two.lead).get(two.address, {"left": two.left.uid, "right": other.uid}).content.decode()
    assert "These are runs of two tasks." in page
    assert "These are runs of two tasks." not in two.page()


def test_text_of_a_run_is_never_markup():
    two = Two(right=(Step(role="user", text="My order came <img src=x onerror=alert(1)> late. & so on"),))
    page = two.page()
    assert "<img src=x" not in page
    assert "&lt;" in page


def test_a_call_that_writes_is_told_apart():
    two = Two()
    tool = {"name": "pay", "access": "write"}
    left = make.item(two.project, steps=(called("pay", amount="1"),), tools=(tool,))
    right = another_run(left, (called("pay", amount="2"),))
    page = enter(two.lead).get(two.address, {"left": left.uid, "right": right.uid}).content.decode()
    assert page.count('<span class="tag write">') == 2


# --- Long runs --------------------------------------------------------------------------------------------------------
def long_runs(steps=1_000):
    text = "The record says that the parcel has left the depot and is on its way to the customer. " * 3
    left = tuple(called("read_record", text, record=f"R-{number}") for number in range(steps))
    right = tuple(
        called("read_record", text, record=f"R-{number}" + "-b" * (number >= steps // 2 and number % 2))
        for number in range(steps)
    )
    return Two(left, right)


def test_a_thousand_steps_answer_in_less_than_a_hundred_kilobytes_at_the_point_where_they_part():
    two = long_runs()
    page = two.page()
    assert len(page.encode()) < 100_000
    assert "495 more, the same in both" in page
    assert 'href="#parted"' in page
    assert 'id="row-502"' in page


def test_steps_of_many_parts_marks_and_escapes_stay_as_small():
    def run(word):
        lines = "\n".join(f"& {word} <{number}> & b" for number in range(30))
        many = {f"argument_{number}": lines for number in range(40)}
        return tuple(called("write", lines * 20, **many, place=place) for place in range(50))

    assert len(Two(run("a"), run("c")).page().encode()) < 150_000


def test_rows_that_were_shortened_are_fetched_as_rows_alone():
    two = long_runs(60)
    page = two.get(headers=HTMX, **{"from": 4, "to": 28}).content.decode()
    assert "<html" not in page
    assert 'id="row-4"' in page
    assert 'id="row-28"' in page
    assert 'id="row-29"' not in page
    assert "the same in both" not in page


def test_what_follows_is_fetched_window_by_window_to_the_end():
    two = long_runs(200)
    seen, first = set(), 1
    while first:
        rows = two.get(headers=HTMX, **{"from": first}).content.decode()
        seen |= {int(number) for number in re.findall(r'id="row-(\d+)"', rows)}
        for start, stop in re.findall(r"from=(\d+)&amp;to=(\d+)#", rows):
            seen |= set(range(int(start), int(stop) + 1))
        following = re.search(r'data-more><a href="[^"]*from=(\d+)#', rows)
        first = int(following[1]) if following else None
    assert seen == set(range(1, 201))


def test_without_script_a_page_begins_where_its_address_says():
    two = long_runs(200)
    page = two.page(**{"from": 4, "to": 97})
    assert 'id="row-4"' in page
    assert 'id="row-30"' in page
    assert "From the beginning, 3 rows above" in page
    assert "&amp;from=102#parted" in page


def test_an_address_beyond_the_end_shows_the_end(two):
    assert 'id="row-5"' in two.page(**{"from": 999_999, "to": "nonsense"})


def test_a_long_text_is_cut_and_the_rest_is_a_link_away():
    long = "one line of a long log\n" * 2_000
    two = Two(right=(*make.STEPS[:3], called("read_log", long)))
    page = two.page()
    assert len(page.encode()) < 20_000 + 10_000
    assert "/steps/4/field/?path=result&amp;from=" in page


# --- Who may see what -------------------------------------------------------------------------------------------------
def test_a_lead_sees_how_a_run_ended_only_once_it_is_settled(two):
    queue = make.queue(two.project, items=[two.left, two.right], overlap=1)
    assert "secret-model" not in two.page()
    judge(queue, make.expert(two.project), make.passing())
    page = two.page()
    assert ("secret-model-9" in page) != ("secret-model-7" in page)


def test_an_engineer_sees_how_both_ended(two):
    engineer = make.person("Eli")
    make.member(two.project, engineer, "engineer")
    page = two.get(engineer).content.decode()
    assert "secret-model-9" in page
    assert "secret-model-7" in page


def test_who_judges_one_of_them_just_now_learns_of_neither_how_it_ended(two):
    queue = make.queue(two.project, items=[two.left], overlap=1)
    judge(queue, make.expert(two.project), make.passing())
    assert "secret-model-9" in two.page()
    claim(actor=two.lead, queue=make.queue(two.project, items=[two.right]))
    page = two.page()
    assert "You are judging one of these just now" in page
    assert "secret-model" not in page


def test_experts_and_strangers_compare_nothing(two):
    assert two.get(make.expert(two.project)).status_code == 403
    assert two.get(make.person("Sam")).status_code == 404


# --- What is refused --------------------------------------------------------------------------------------------------
def test_an_item_of_another_project_is_not_found(two):
    other = make.item(make.project())
    for side in ("left", "right"):
        assert two.get(**{side: str(other.uid)}).status_code == 404


def test_missing_and_broken_ids_are_not_found(two):
    client = enter(two.lead)
    assert client.get(two.address).status_code == 404
    assert client.get(two.address, {"left": two.left.uid}).status_code == 404
    assert two.get(right="nonsense").status_code == 404
    assert two.get(right=str(uuid.uuid4())).status_code == 404


def test_a_run_is_not_compared_with_itself(two):
    response = two.get(right=str(two.left.uid))
    assert response.status_code == 422
    assert "one and the same run" in response.content.decode()
    assert two.get(right=str(two.left.uid).upper()).status_code == 422


# --- Ways in ----------------------------------------------------------------------------------------------------------
def test_two_ticked_runs_are_compared(two):
    client = enter(two.lead)
    answer = client.get(two.address, {"run": [two.right.uid, two.left.uid]})
    assert answer.url == f"{two.address}?left={two.right.uid}&right={two.left.uid}"
    for ticked in ([two.left.uid], [two.left.uid, two.right.uid, two.left.uid]):
        answer = client.get(two.address, {"run": ticked})
        assert answer.status_code == 422
        assert "Tick two runs" in answer.content.decode()


def test_an_item_leads_to_the_other_runs_of_its_task(two):
    make.item(two.project)
    item = reverse("reviews:item", args=[two.project.slug, two.left.uid])
    page = enter(two.lead).get(item).content.decode()
    assert page.count(f"{two.address}?left={two.left.uid}") == 1
    assert f"{two.address}?left={two.left.uid}&amp;right={two.right.uid}" in page
    assert "secret-model-7" not in page


def test_who_judges_a_run_is_led_to_no_other(two):
    claim(actor=two.lead, queue=make.queue(two.project, items=[two.left]))
    item = reverse("reviews:item", args=[two.project.slug, two.left.uid])
    assert "Other runs of this task" not in enter(two.lead).get(item).content.decode()


def test_any_two_items_of_the_list_can_be_ticked(two):
    page = enter(two.lead).get(reverse("reviews:items", args=[two.project.slug])).content.decode()
    assert page.count('type="checkbox" name="run"') == 2
    assert f'action="{two.address}"' in page
