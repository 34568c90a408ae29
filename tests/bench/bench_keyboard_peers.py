"""A scripted expert in Chromium judges the same items in Assay and in Label Studio 1.23: actions, waits, bytes, time.

Both sites show the same runs and ask the same: two gates, two levels, how sure, a step that shows it, and why in words.
The expert knows every key, and takes the pointer only where a site has no key for it. Items are judged in turn, one
here and one there, so that a busy machine slows both. At the end each site is asked whether all answers are there.
"""

from abc import ABC, abstractmethod
from time import perf_counter
from typing import Any

from playwright.sync_api import Page, sync_playwright

from annotator.embedded.servers import Servers
from reviews.models import Judgment
from reviews.trajectories.schema import Step
from tests import factories as make
from tests.bench import label_studio
from tests.bench.bench_pages import access_of
from tests.bench.figures import Figure, count, milliseconds, ratio
from tests.bench.http import Client, assay, expect
from tests.bench.seeding import World
from tests.bench.servers import in_process, make_database, manage
from tests.chromium import LAUNCH

ITEMS = 20
SCREEN = {"width": 1280, "height": 800}
WHY = "Done as asked."
# One more than is judged, so that there is a next item behind the last one too.
RUNS = [make.saying(f"Order {number} came a week late. I want my money back.") for number in range(ITEMS + 1)]
LEVELS = [level["name"] for level in make.LEVELS]
# What is asked, and in Label Studio the keys of the choices: a row of the keyboard for each question.
QUESTIONS = {
    "authorised": ("12", ["Pass", "Fail"]),
    "consent": ("qw", ["Pass", "Fail"]),
    "success": ("asdf", LEVELS),
    "process": ("zxcv", LEVELS),
    "confidence": ("tyi", ["Low", "Medium", "High"]),
}
CITES = "e"
CITED = 3  # the step
ANSWERS = {"authorised": "Pass", "consent": "Pass", "success": "Strong", "process": "Sound", "confidence": "High"}


class Expert(ABC):
    """Counts what a person does in a browser, and what comes over the network meanwhile."""

    # Tells the item on the screen from others, once it can be judged.
    SHOWN = ""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.shown: Any = ""
        self.presses = self.clicks = 0
        self.waits: list[float] = []
        self.times: list[float] = []
        self.bytes = self.script_bytes = self.bytes_at_first = 0
        self._scripts: set[str] = set()
        network = page.context.new_cdp_session(page)
        network.send("Network.enable")
        network.on("Network.responseReceived", self._answered)
        network.on("Network.loadingFinished", self._loaded)

    def _answered(self, event: dict[str, Any]) -> None:
        if event["type"] == "Script":
            self._scripts.add(event["requestId"])

    def _loaded(self, event: dict[str, Any]) -> None:
        self.bytes += event["encodedDataLength"]
        if event["requestId"] in self._scripts:
            self.script_bytes += event["encodedDataLength"]

    def press(self, *keys: str) -> None:
        """Keys, one after another; those held down together count as one."""
        for key in keys:
            self.page.keyboard.press(key)
        self.presses += len(keys)

    def click(self, selector: str) -> None:
        """At once, without the pauses by which a test makes sure of its target."""
        box = self.page.locator(selector).bounding_box()
        assert box, f"there is no {selector} to be seen"
        self.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        self.clicks += 1

    def write(self, words: str) -> None:
        """What is written is the same on both sites, so it counts on neither."""
        self.page.keyboard.type(words)

    def look(self) -> None:
        """Waits until there is another item, and it can be judged."""
        self.shown = self.page.wait_for_function(f"before => {self.SHOWN} !== before && {self.SHOWN}", arg=self.shown)

    def begin(self, address: str) -> None:
        self.open(address)
        self.look()
        self.bytes_at_first = self.bytes

    def judge_one(self) -> None:
        started = perf_counter()
        self.answer()
        sent = perf_counter()
        self.press("Control+Enter")
        self.look()
        self.waits.append(perf_counter() - sent)
        self.times.append(perf_counter() - started)

    @property
    def actions(self) -> int:
        return self.presses + self.clicks

    @property
    def bytes_an_item(self) -> float:
        return (self.bytes - self.bytes_at_first) / ITEMS

    @abstractmethod
    def open(self, address: str) -> None:
        """Asks for the first item, signed in or not."""

    @abstractmethod
    def answer(self) -> None:
        """All answers to the item on the screen, up to where it can be submitted."""


class AssayExpert(Expert):
    """Has a key for everything."""

    SHOWN = "document.querySelector('#judgment:has(.criterion.at)')?.getAttribute('action')"

    def open(self, address: str) -> None:
        self.page.goto(address)
        self.page.get_by_role("button", name="Start judging").press("Enter")

    def answer(self) -> None:
        """The gates, to the third step and its citation, levels and confidence, and why."""
        self.press("p", "p", "j", "j", "e", "3", "2", "3", "r")
        self.write(WHY)


class LabelStudioExpert(Expert):
    """Has a key for every choice; selects text and gets into the field with the pointer.

    While somebody writes no key does anything, not even the one that submits. So the text comes before the citation,
    which leads out of the field again.
    """

    SHOWN = "document.querySelector('input[name=why]') && document.querySelector('[class*=phrase--]')?.textContent"

    def open(self, address: str) -> None:
        self.page.goto(address)
        self.page.locator("[name=email]").fill("rater0@example.com")
        self.page.locator("[name=password]").fill(label_studio.PASSWORD)
        self.bytes = self.script_bytes = 0  # signing in does not count
        self.page.keyboard.press("Enter")

    def answer(self) -> None:
        for name, (keys, choices) in QUESTIONS.items():
            self.press(keys[choices.index(ANSWERS[name])])
        self.press(CITES)
        self.click("input[name=why]")
        self.write(WHY)
        self.click("[class*=phrase--] >> nth=2 >> [class*=selectAllBtn--]")


def run(servers: Servers) -> list[Figure]:
    database = make_database(servers, "keyboard_assay")
    queue, access = in_process(database, fill)
    manage("collectstatic", "--verbosity", "0", "--no-input", HASHED_STATIC="1")
    with (
        assay(servers, database, HASHED_STATIC="1") as port,
        label_studio.running(servers, raters=1) as (peer_port, tokens),
    ):
        peer = Client(peer_port, {"Authorization": f"Token {tokens[0]}"})
        project = make_project(peer)
        found = judge_in_turn(port, queue, access[0]["session"], peer_port, project)
        if (arrived := in_process(database, judged_as_meant)) != ITEMS:
            raise AssertionError(f"Assay has {arrived} of {ITEMS} judgments as they were meant")
        if (arrived := annotated_as_meant(peer, project)) != ITEMS:
            raise AssertionError(f"Label Studio has {arrived} of {ITEMS} annotations as they were meant")
    return found


def judge_in_turn(port: int, queue: str, session: str, peer_port: int, project: int) -> list[Figure]:
    """Each expert has a browser context of their own, in which nothing is cached."""
    with sync_playwright() as playwright, playwright.chromium.launch(**LAUNCH) as browser:
        ours = AssayExpert(browser.new_context(viewport=SCREEN).new_page())
        theirs = LabelStudioExpert(browser.new_context(viewport=SCREEN).new_page())
        site = f"http://127.0.0.1:{port}"
        ours.page.context.add_cookies([{"name": "sessionid", "value": session, "url": site}])
        ours.begin(f"{site}/queues/{queue}/judge/")
        theirs.begin(f"http://127.0.0.1:{peer_port}/projects/{project}/data?labeling=1")
        for _ in range(ITEMS):
            ours.judge_one()
            theirs.judge_one()
        return compare(ours, theirs)


def compare(ours: Expert, theirs: Expert) -> list[Figure]:
    peer = f"Label Studio {label_studio.VERSION}"
    return [
        ratio(f"actions: Assay / {peer}", [ours.actions], [theirs.actions], at_most=0.5, note=f"{ITEMS} items"),
        ratio(f"waiting for the next item: Assay / {peer}", ours.waits, theirs.waits, at_most=0.1),
        count("Assay: scripts, compressed", ours.script_bytes / 1000, unit="KB", at_most=60),
        *counts("Assay", ours),
        *counts("Label Studio", theirs),
        count("  Label Studio: scripts", theirs.script_bytes / 1000, unit="KB"),
    ]


def counts(name: str, expert: Expert) -> list[Figure]:
    return [
        count(f"  {name}: key presses an item", expert.presses / ITEMS, unit=""),
        count(f"  {name}: pointer actions an item", expert.clicks / ITEMS, unit=""),
        milliseconds(f"  {name}: waiting for the next item", expert.waits),
        count(f"  {name}: waiting in all", sum(expert.waits), unit="s"),
        count(f"  {name}: wall time, without thinking", sum(expert.times), unit="s"),
        count(f"  {name}: over the network until the first item", expert.bytes_at_first / 1000, unit="KB"),
        count(f"  {name}: over the network for each item after it", expert.bytes_an_item / 1000, unit="KB"),
    ]


def fill() -> tuple[str, list[dict[str, Any]]]:
    """A queue of all runs for one rater; its public id, and how the rater gets in."""
    project = make.project()
    queue = make.queue(project, items=[make.item(project, steps=steps) for steps in RUNS], overlap=1)
    alice = make.expert(project)
    return access_of(World(queue=queue.pk, bare=queue.pk, raters=(alice.pk,), veteran=alice.pk, lead=alice.pk))


def judged_as_meant() -> int:
    """How many judgments in Assay's database say what the expert meant."""
    meant = {"authorised": 1, "consent": 1, "success": 3, "process": 2}
    return sum(
        judgment.rationale == WHY
        and judgment.confidence == 3
        and [cited.step for cited in judgment.evidence.all()] == [CITED]
        and {rating.criterion.key: rating.value for rating in judgment.ratings.all()} == meant
        for judgment in Judgment.objects.prefetch_related("evidence", "ratings__criterion")
    )


def make_project(client: Client) -> int:
    """A project with the same runs, in Label Studio; everything is in sight without scrolling."""
    choices = "".join(
        f'<Header value="{name}" size="5"/><Choices name="{name}" toName="run" showInline="true" required="true">'
        + "".join(f'<Choice value="{value}" hotkey="{key}"/>' for key, value in zip(keys, values, strict=True))
        + "</Choices>"
        for name, (keys, values) in QUESTIONS.items()
    )
    label_config = (
        '<View style="display: flex; gap: 1em"><View style="flex: 2"><ParagraphLabels name="cited" toName="run">'
        f'<Label value="Cited" hotkey="{CITES}"/></ParagraphLabels>'
        '<Paragraphs name="run" value="$run" layout="dialogue" nameKey="role" textKey="text"/></View>'
        f'<View style="flex: 1">{choices}<TextArea name="why" toName="run" required="true"/></View></View>'
    )
    project = expect(client.post("/api/projects/", {"title": "Bench", "label_config": label_config}), 201).json()["id"]
    tasks = [{"run": [{"role": step.role, "text": words_of(step)} for step in steps]} for steps in RUNS]
    expect(client.post(f"/api/projects/{project}/import", tasks), 201)
    return project


def words_of(step: Step) -> str:
    """A step as one text: what is said, or the call with its result."""
    return step.text or f"{step.call.name} {step.call.arguments_text} {step.result.text}"


def annotated_as_meant(client: Client, project: int) -> int:
    """How many annotations in Label Studio say what the expert meant."""
    meant = {
        **{name: [answer] for name, answer in ANSWERS.items()},
        "why": [WHY],
        "cited": words_of(RUNS[0][CITED - 1]),
    }
    tasks = expect(client.get(f"/api/projects/{project}/export?exportType=JSON"), 200).json()
    return sum(said_by(annotation) == meant for task in tasks for annotation in task["annotations"])


def said_by(annotation: dict[str, Any]) -> dict[str, Any]:
    """By question, the choices or the text."""
    values = {result["from_name"]: result["value"] for result in annotation["result"]}
    return {name: value.get("choices", value.get("text")) for name, value in values.items()}
