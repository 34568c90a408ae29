// What every page with a run on it shares: the keys to read by, search, links to steps, and how changes are shown.
import { announce, once, typing } from "./keys.js";
import { Sides } from "./sides.js";
import { preference, prefer, Run } from "./steps.js";

let run;
let onSteps = () => {};

// Takes up the run on the page. True when it is another than before.
export function open({ onCame } = {}) {
  const main = document.getElementById("run") ?? document.getElementById("sides");
  if (onCame) onSteps = onCame;
  if (!main || run?.main === main) return false;
  run?.keepPlace();
  run = main.id === "sides" ? new Sides(main) : new Run(main, document.getElementById("map"));
  const { find } = run.state;
  if (find) { openFind(); findText().value = find; findText().dispatchEvent(new Event("input", { bubbles: true })); }
  showPreferences();
  return true;
}

export const current = () => run;

// --- how texts are shown, for this reader on every run ---
function showPreferences() {
  const { dataset } = document.documentElement;
  for (const name of ["diff", "raw"]) {
    if (preference(name)) dataset[name] = preference(name);
    else delete dataset[name];
  }
  for (const button of document.querySelectorAll("[data-diff-toggle]")) button.ariaPressed = String(dataset.diff === "side");
  run?.refresh();
}

function toggleDiff() {
  prefer("diff", preference("diff") ? "" : "side");
  showPreferences();
  announce(preference("diff") ? "Changes side by side" : "Changes below each other");
}

function toggleRaw() {
  prefer("raw", preference("raw") ? "" : "yes");
  showPreferences();
  announce(preference("raw") ? "The text of every step as it is" : "Steps as they are read");
}

// --- search ---
const findText = () => document.getElementById("find-text");

function openFind(text) {
  const bar = document.getElementById("find");
  if (!bar) return;
  bar.hidden = false;
  if (text) findText().value = text;
  findText().focus();
  if (!text) findText().select();
}

export function closeFind() {
  const bar = document.getElementById("find");
  if (!bar || bar.hidden) return false;
  bar.hidden = true;
  findText().value = "";
  document.getElementById("hits").replaceChildren();
  run.mention("", []);
  (run.at ?? run).main.focus({ preventScroll: true });
  return true;
}

// Enter in the search goes to the step whose number was written, or to the next hit, with Shift to the one before.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.target.id !== "find-text" || !run) return;
  const number = Number(/^#(\d+)$/.exec(event.target.value.trim())?.[1]);
  if (!number && !run.hits.size) return;
  event.preventDefault();
  if (!number) { run.nextHit(event.shiftKey ? -1 : 1); return; }
  closeFind();
  void run.jump(number);
});

// Esc closes the search, from anywhere but another field.
export function escape(event) {
  return event.target.closest("#find") || !typing(event.target) ? closeFind() : false;
}

// By the names that the keymap has for them.
export const ACTS = {
  next_step: () => void run?.move(1),
  previous_step: () => void run?.move(-1),
  go_to: once(() => openFind("#")),
  fold: once(() => run?.toggle()),
  fold_parts: once(() => run?.foldAll()),
  raw: once(() => (preference("raw") ? toggleRaw() : run?.raw())),
  raw_all: once(() => toggleRaw()),
  diff: once(() => toggleDiff()),
  next_telling: () => void run?.toTelling(1),
  previous_telling: () => void run?.toTelling(-1),
  next_candidate: () => run?.next?.(1) ?? false,
  previous_candidate: () => run?.next?.(-1) ?? false,
  differences: once(() => void (run?.differences?.() ?? false)),
  only: once(() => void run?.showNext()),
  find: () => openFind(),
  next_hit: () => void run?.nextHit(1),
  previous_hit: () => void run?.nextHit(-1),
};

// What each key of this reader does to the run.
export function keys() {
  const chosen = JSON.parse(document.getElementById("keys").dataset.keys);
  return Object.fromEntries(Object.entries(chosen).flatMap(([act, key]) => (ACTS[act] ? [[key, ACTS[act]]] : [])));
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#step-'], a[href^='#policy-']");
  const kind = event.target.closest("[data-only]");
  if (event.target.closest("[data-find-open]")) openFind();
  if (event.target.closest("[data-find-close]")) closeFind();
  if (event.target.closest("[data-diff-toggle]")) toggleDiff();
  if (!run || event.ctrlKey || event.metaKey) return;
  if (kind) { event.preventDefault(); void run.showOnly(kind.dataset.only); }
  if (!link) return;
  const step = /^#step-(\d+)$/.exec(link.hash);
  if (step) void run.go(Number(step[1]));
  else document.querySelector(link.hash)?.scrollIntoView({ block: "nearest" });
  event.preventDefault();
  history.replaceState(history.state, "", link.hash);
});

document.addEventListener("htmx:load", ({ target }) => {
  if (!run?.main.contains(target)) return;
  run.refresh();
  onSteps();
});

document.addEventListener("htmx:afterSwap", ({ target }) => {
  if (target.id === "hits") run?.mention(findText().value, [...target.querySelectorAll("[data-hit]")]);
  if (run?.main.contains(target)) onSteps();
});

addEventListener("pagehide", () => run?.keepPlace());
