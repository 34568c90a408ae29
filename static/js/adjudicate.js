// The adjudication page by keyboard: answers, the way through questions, steps and items.
import { ask, narrow } from "./asked.js";
import { ask as send } from "./draft.js";
import { announce, listen } from "./keys.js";
import { Labels } from "./labels.js";
import * as reader from "./reader.js";

const form = () => document.getElementById("decision");
const open = (group) => group.offsetParent !== null;
const groups = () => [...form().querySelectorAll(".you .yours")].filter(open);
let current;
let labels;

function mark(group) {
  current?.closest(".differs, .agreed")?.classList.remove("at");
  current = group;
  const section = group?.closest(".differs, .agreed");
  section?.classList.add("at");
  section?.scrollIntoView({ block: "nearest" });
}

// What is entered is kept a second after the last change, and it says so.
let keeping;
function keepSoon() {
  clearTimeout(keeping);
  keeping = setTimeout(keep, 800);
}
async function keep() {
  keeping = clearTimeout(keeping);
  const kept = form();
  if (!kept) return;
  try {
    const answer = await send(kept.dataset.draft, new URLSearchParams(new FormData(kept)));
    if (kept !== form()) return;
    document.getElementById("saved").textContent = answer.ok ? `Saved ${new Date().toLocaleTimeString("en-GB")}` : "Not saved";
  } catch {
    if (kept === form()) document.getElementById("saved").textContent = "Not saved: no connection";
  }
}

const unanswered = (group) => !group.querySelector(":checked") && !group.querySelector("[data-writes]:not([data-narrow])")?.value;
const here = () => (current && form().contains(current) && open(current) ? current : groups().find(unanswered) ?? groups()[0]);

function answer(key) {
  const group = [here(), ...groups().filter(unanswered)].find((one) => one?.querySelector(`[aria-keyshortcuts="${key}"]`));
  const radio = group?.querySelector(`[aria-keyshortcuts="${key}"]`);
  if (!radio) return false;
  radio.checked = radio.type === "radio" || !radio.checked;
  radio.dispatchEvent(new Event("change", { bubbles: true }));
  announce(`${group.closest(".you").ariaLabel}: ${radio.parentElement.textContent.replace(key, "").trim()}`);
  mark(radio.type === "checkbox" ? group : groups().find((one) => unanswered(one)) ?? group);
  return true;
}

function move(by) {
  const all = groups();
  mark(all[Math.min(Math.max(all.indexOf(here()) + (current ? by : 0), 0), all.length - 1)]);
}

// A level that no rater gave is asked for as soon as every gate passes.
function openWhatIsAsked() {
  const failed = form().querySelector(".gate [value=fail]:checked");
  for (const fold of form().querySelectorAll("[data-open-when-passed]")) fold.open = !failed;
}

function take(failure) {
  for (const [name, value] of Object.entries(failure)) form().elements[`failure.${name}`].value = value;
  form().elements["failure.step"].focus();
  keepSoon();
}

listen({
  ...reader.keys(),
  p: () => answer("p"),
  f: () => answer("f"),
  y: () => answer("y"),
  n: (event) => answer("n") || (reader.keys().n?.(event) ?? false),
  l: () => labels?.next() ?? false,
  "=": () => labels?.rest() ?? false,
  L: () => labels?.toWrong() ?? false,
  digit: (event) => (labels?.on ? labels.answer(event.key) : answer(event.key)),
  ArrowDown: () => { labels?.be(false); move(1); },
  ArrowUp: () => { labels?.be(false); move(-1); },
  r: () => form().elements.note.focus(),
  "]": () => document.querySelector(".inbox [rel=next]")?.click(),
  "[": () => document.querySelector(".inbox [rel=prev]")?.click(),
  "?": () => document.getElementById("keys").togglePopover(),
  Escape: (event) => {
    if (labels?.on) labels.be(false);
    else if (!reader.escape(event)) event.target.blur();
    return true;
  },
  "Control+Enter": () => form().requestSubmit(),
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-take]");
  if (button) take(JSON.parse(button.dataset.take));
});
document.addEventListener("change", (event) => {
  if (!form()?.contains(event.target)) return;
  ask(form());
  openWhatIsAsked();
  keepSoon();
});
document.addEventListener("input", ({ target }) => {
  if (target.matches("[data-narrow]")) narrow(target);
  else if (form()?.contains(target)) keepSoon();
});
document.addEventListener("submit", () => { keeping = clearTimeout(keeping); });
// Whoever leaves within that second loses nothing either.
addEventListener("pagehide", () => { if (keeping) keep(); });
// On a narrow screen the run comes first; what stands beside it is a tap away.
function foldContext() {
  if (!matchMedia("(max-width: 900px)").matches) return;
  for (const fold of document.querySelectorAll("[data-folds]")) fold.open = false;
}

// A citation may point into what is folded.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#']");
  const fold = link && document.querySelector(link.hash)?.closest("details:not([open])");
  if (fold) fold.open = true;
});

let shown;
function start() {
  reader.open();
  if (!form() || form() === shown) return;
  const came = shown && shown.dataset.item !== form().dataset.item;
  const first = came || !shown;
  shown = form();
  ask(form());
  openWhatIsAsked();
  labels = Labels.of(form(), reader.current(), () => {});
  if (first) foldContext();
  if (first) mark(here());
  if (!came) return;
  // On a narrow screen the page scrolls as a whole, and the next item begins at its top.
  scrollTo({ top: 0, behavior: "instant" });
  document.getElementById("run").focus({ preventScroll: true });
}
document.addEventListener("htmx:load", start);
start();
