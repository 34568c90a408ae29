"""What a rater reads of a run: kinds of steps alone, its tools, its pictures."""

import base64
import io
import json
import re

import pytest

from reviews.actions.dealing import claim
from reviews.actions.importing import run_import, start_import
from reviews.models import Trajectory
from reviews.queries.blind_item import blind_item
from reviews.queries.judging import run_map
from reviews.trajectories.render import locate
from reviews.trajectories.schema import Attachment, Step, ToolCall, ToolResult
from tests import factories as make
from tests.reviews.trajectories.test_spent import ATIF
from tests.reviews.web.test_judging import HTMX, enter, numbers

pytestmark = pytest.mark.django_db

PNG = b"\x89PNG\r\n\x1a\n" + bytes(60)
TOOLS = (
    {"name": "refund", "description": "Gives <b>money</b> back.", "changes": "the balance"},
    {"name": "read_account", "access": "read", "parameters": {"type": "object", "required": ["id"]}},
)


def call(name, *, error=False):
    return Step(
        role="tool",
        call=ToolCall(id="1", name=name, arguments_text='{"id": "A-1"}'),
        result=ToolResult(text="done", error=error),
    )


@pytest.fixture
def mine(project, alice):
    """A run of 120 steps: two writes, far apart, an error, and messages."""
    steps = [Step(role="agent" if number % 2 else "user", text=f"Message {number}") for number in range(120)]
    steps[9], steps[99], steps[49] = call("refund"), call("refund"), call("read_account", error=True)
    return claim(actor=alice, queue=make.queue(project, items=[make.item(project, steps=tuple(steps), tools=TOOLS)]))


def test_writes_errors_and_the_agent_are_read_alone_over_the_whole_run(alice, mine):
    client = enter(alice)

    def read(only):
        return client.get(f"/assignments/{mine.uid}/steps/?only={only}").content.decode()

    assert numbers(read("writes")) == [10, 100]
    assert numbers(read("errors")) == [50]
    assert numbers(read("agent"))[:3] == [2, 4, 6]
    assert numbers(read("nonsense")) == list(range(1, 41))
    assert "Show 17 more, from step 86 to 120" in read("agent")
    assert "&amp;only=agent" in read("agent")


def test_without_script_a_kind_of_steps_is_a_link(alice, mine):
    page = enter(alice).get(f"/assignments/{mine.uid}/?only=writes").content.decode()
    assert numbers(page) == [10, 100]
    assert re.search(r'only=writes" data-only="writes" aria-current="true">Writes <span class="num">2</span>', page)


def test_a_jump_inside_a_kind_of_steps_brings_what_is_near(alice, mine):
    text = enter(alice).get(f"/assignments/{mine.uid}/steps/?only=writes&at=60").content.decode()
    assert numbers(text) == [10, 100]


def test_no_step_of_a_kind_is_said(project, alice):
    mine = claim(actor=alice, queue=make.queue(project))
    text = enter(alice).get(f"/assignments/{mine.uid}/steps/?only=errors").content.decode()
    assert "No step of this run is of this kind." in text


def test_tools_say_what_they_do_and_take(alice, mine):
    for headers in ({}, HTMX):
        text = enter(alice).get(f"/assignments/{mine.uid}/tools/", headers=headers).content.decode()
        assert "changes the balance" in text
        assert "Gives &lt;b&gt;money&lt;/b&gt; back." in text
        assert '"required"' in text


def test_what_a_tool_only_simulates_is_said_at_every_call_of_it(project, alice):
    tools = ({"name": "refund", "changes": "the balance", "simulated": True}, {"name": "look", "simulated": "yes"})
    item = make.item(project, steps=(call("refund"), call("look")), tools=tools)
    mine = claim(actor=alice, queue=make.queue(project, items=[item]))
    page = enter(alice).get(f"/assignments/{mine.uid}/").content.decode()
    tags = re.findall(r'<bdi class="tag (\w+)">([^<]+)</bdi>', page)
    assert tags == [("write", "changes the balance"), ("simulated", "simulated")]
    assert "simulated" in enter(alice).get(f"/assignments/{mine.uid}/tools/").content.decode()


def with_picture(project, data):
    uri = f"data:image/png;base64,{base64.b64encode(data).decode()}"
    raw = json.dumps({"type": "image_url", "image_url": {"url": uri}})
    return make.item(project, steps=(Step(role="user", attachments=(Attachment("image_url", raw=raw),)),))


def test_a_picture_is_given_with_the_type_of_its_bytes(project, alice):
    mine = claim(actor=alice, queue=make.queue(project, items=[with_picture(project, PNG)]))
    client = enter(alice)
    assert (
        f'<img src="/assignments/{mine.uid}/steps/1/images/0/"'
        in client.get(f"/assignments/{mine.uid}/").content.decode()
    )
    answer = client.get(f"/assignments/{mine.uid}/steps/1/images/0/")
    assert (answer["Content-Type"], answer["X-Content-Type-Options"]) == ("image/png", "nosniff")
    assert answer.content == PNG
    for address in ("steps/1/images/1/", "steps/2/images/0/"):
        assert client.get(f"/assignments/{mine.uid}/{address}").status_code == 404
    assert enter(make.expert(project, "Bob")).get(f"/assignments/{mine.uid}/steps/1/images/0/").status_code == 404


def test_what_only_says_that_it_is_a_picture_is_not_shown(project, alice):
    mine = claim(actor=alice, queue=make.queue(project, items=[with_picture(project, b"<svg onload=alert(1)>" * 4)]))
    client = enter(alice)
    assert "<img" not in client.get(f"/assignments/{mine.uid}/").content.decode()
    assert client.get(f"/assignments/{mine.uid}/steps/1/images/0/").status_code == 404


def test_a_lead_reads_the_same_on_the_items_page(project, mine):
    client = enter(make.lead_of(project))
    address = f"/projects/{project.slug}/items/{mine.item.uid}/"
    assert numbers(client.get(f"{address}?only=writes").content.decode()) == [10, 100]
    assert "changes the balance" in client.get(f"{address}tools/").content.decode()
    assert client.get(f"{address}steps/1/images/0/").status_code == 404


def test_a_run_stored_before_outlines_were_kept_has_the_same_map(mine):
    run = mine.item.trajectory
    before = Trajectory(pk=run.pk, step_count=run.step_count, tools=run.tools)
    assert run_map(before) == run_map(run)


def test_what_a_run_took_is_told_by_page_and_api_and_no_date_is(project, alice):
    lead, queue = make.lead_of(project), make.queue(project, items=[], overlap=1)
    content = io.BytesIO(json.dumps(ATIF).encode())
    job = start_import(actor=lead, project=project, name="run.json", file=content, queue=queue)
    run_import(job_id=job.pk)
    mine = claim(actor=alice, queue=queue)
    page = enter(alice).get(f"/assignments/{mine.uid}/").content.decode()
    assert "The whole run: </span>6.5 s · tokens 2,000 in, 90 out" in page
    assert re.findall(r'<span class="spent num">(\+[^<]*)<', page) == [
        "+0:00",
        "+0:04 · tokens 1,204 in, 87 out",
        "+0:05 · 1.5 s",
    ]
    told = blind_item(mine)
    assert told["spent"] == {"seconds": 6.5, "tokens_in": 2000, "tokens_out": 90}
    assert [row.get("spent") for row in told["steps"]["rows"]] == [
        {"at": 0.0},
        {"at": 4.0, "tokens_in": 1204, "tokens_out": 87},
        {"at": 5.0, "seconds": 1.5},
    ]
    assert "2026-01-02" not in page + json.dumps(told)


EDIT = {"path": "desk.py", "old_str": "def f():\n    return 1\n", "new_str": "def f():\n    return 2\n"}


def test_an_edit_is_read_as_what_goes_and_what_comes(project, alice):
    call = ToolCall(id="1", name="edit", arguments_text=json.dumps(EDIT))
    item = make.item(project, steps=(Step(role="tool", call=call, result=ToolResult(text="ok")),))
    page = enter(alice).get(f"/assignments/{claim(actor=alice, queue=make.queue(project, items=[item])).uid}/")
    text = page.content.decode()
    assert text.count('data-field="arguments/') == 3
    assert '<span class="chunk del">    return <b>1</b>\n</span>' in text
    assert '<span class="chunk add">    return <b>2</b>\n</span>' in text


def test_several_edits_in_one_call_are_read_as_so_many_changes(project, alice):
    edits = [{"old_string": "a = 1", "new_string": "a = 2"}, {"old_string": "b\n", "new_string": "c\n", "all": True}]
    call = ToolCall(id="1", name="MultiEdit", arguments_text=json.dumps({"file_path": "desk.py", "edits": edits}))
    item = make.item(project, steps=(Step(role="tool", call=call, result=ToolResult(text="ok")),))
    page = enter(alice).get(f"/assignments/{claim(actor=alice, queue=make.queue(project, items=[item])).uid}/")
    text = page.content.decode()
    assert text.count('class="pair"') == 2
    assert '<span class="chunk del">a = <b>1</b></span>' in text
    assert '<span class="chunk add"><b>c</b>\n</span>' in text
    assert "all 2" in text
    assert locate(Step(role="tool", call=call), "arguments/edits/1/new_string", 0, 1, "c") is None


def test_words_are_found_as_they_are_read_and_as_they_are_written(project, alice):
    steps = (Step(role="agent", text="I will **refund** it `now`."), Step(role="agent", text="**refund** it"))
    mine = claim(actor=alice, queue=make.queue(project, items=[make.item(project, steps=steps)]))
    client = enter(alice)

    def hits(words):
        answer = client.get(f"/assignments/{mine.uid}/find/", {"q": words}, headers=HTMX).content.decode()
        return re.findall(r'data-hit="(\d+)"', answer)

    assert hits("refund it now") == ["1"]
    assert hits("**refund** it") == ["1", "2"]
    assert hits("refund it") == ["1", "2"]
    assert hits("refund now") == []


def test_more_of_a_message_goes_on_inside_its_block_of_code(project, alice):
    text = "```python\n" + "x = 1\n" * 2_000 + "```\n**end**"
    steps = (Step(role="agent", text=text),)
    mine = claim(actor=alice, queue=make.queue(project, items=[make.item(project, steps=steps)]))
    client = enter(alice)
    start = int(re.search(r"path=text&amp;from=(\d+)", client.get(f"/assignments/{mine.uid}/").content.decode())[1])
    assert text[:start].endswith("x = 1\n")
    piece = client.get(f"/assignments/{mine.uid}/steps/1/field/?path=text&from={start}", headers=HTMX).content.decode()
    assert piece.startswith('<div class="block">x = <span class="number">1</span>')
    assert "<b>end</b>" in piece
