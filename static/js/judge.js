// Joins the parts of the judge page, again for each item that comes in, and gives them their keys.
import { ask } from "./asking.js";
import { close, coach } from "./coach.js";
import { Judgment } from "./judging.js";
import { Preference } from "./preference.js";
import { TaskReview } from "./tasking.js";
import { listen, namesOf, once, typing } from "./keys.js";
import * as reader from "./reader.js";

let judgment;
let url;

function start() {
  const main = document.getElementById("run") ?? document.getElementById("sides");
  const form = document.getElementById("judgment");
  if (!main || !form) return;
  const newRun = reader.open({ onCame: () => judgment?.reread() });
  const run = reader.current();
  const another = url && url !== run.url;
  url = run.url;
  if (newRun) readKeys();
  if (newRun && matchMedia("(max-width: 900px)").matches) foldContext();
  if (judgment?.form !== form) judgment = new (main.dataset.task === undefined ? (main.id === "sides" ? Preference : Judgment) : TaskReview)(form, run);
  if (newRun) {
    // A new item is read first; without this the focus would stay in the field that was written in last,
    // and on a narrow screen, where the page scrolls as a whole, the run would be out of sight.
    if (another) scrollTo({ top: 0, behavior: "instant" });
    (run.at?.main ?? main).focus({ preventScroll: true });
    coach();
    const undo = document.getElementById("undo");
    if (undo) setTimeout(() => undo.remove(), Number(undo.dataset.seconds) * 1_000);
  }
}

// On a narrow screen the run comes first; what stands beside it is a tap away.
function foldContext() {
  for (const fold of document.querySelectorAll("[data-folds]")) fold.open = false;
}

function escape(event) {
  if (close()) return true;
  if (typing(event.target) && !event.target.closest("#find")) return judgment.leaveText() ?? true;
  if (judgment.labels?.on) return judgment.back();
  return reader.closeFind();
}

const inForm = () => judgment.form.contains(document.activeElement);
const popover = (id) => document.getElementById(id).togglePopover();

// By the names that the keymap has for them; those that read the run are the reader's.
const ACTS = {
  next_question: (event) => (judgment.labels?.on ? judgment.back() : inForm() && judgment.move(1, event)),
  previous_question: (event) => (judgment.labels?.on ? judgment.back() : inForm() && judgment.move(-1, event)),
  pass: once((_event, key) => judgment.answer(key)),
  fail: once((_event, key) => judgment.answer(key)),
  unsure: once((_event, key) => judgment.answer(key)),
  cite: once(() => judgment.cite()),
  failed_here: once(() => judgment.failHere()),
  mark: once(() => judgment.toMarks?.() ?? false),
  note: once(() => judgment.note()),
  label: once(() => judgment.labels?.next() ?? false),
  label_rest: once(() => judgment.labels?.rest() ?? false),
  first_wrong: once(() => judgment.labels?.toWrong() ?? false),
  correct: once(() => void judgment.corrections.write()),
  why: () => judgment.form.elements.rationale.focus(),
  ask: once(() => ask("item")),
  ask_here: once(() => ask("step", reader.current().number, reader.current().shown)),
  skip: once(() => popover("skip")),
  undo: once(() => document.getElementById("undo")?.click() ?? false),
  sheet: once(() => popover("keys")),
};
const FIXED = {
  digit: once((_event, key) => (judgment.labels?.on ? judgment.labels.answer(key) : judgment.answer(key))),
  Escape: (event) => escape(event),
  "Control+Enter": once(() => judgment.submit()),
};

let keys = {};
function readKeys() {
  const chosen = JSON.parse(document.getElementById("keys").dataset.keys);
  keys = { ...FIXED };
  for (const [act, key] of Object.entries(chosen)) keys[key] = reader.ACTS[act] ?? ACTS[act];
  // While a question for a yes or a no is marked these answer it; else they do what they are chosen for.
  for (const key of ["y", "n"]) {
    const otherwise = keys[key];
    keys[key] = (event, name) => (!event.repeat && judgment.answer(key)) || (otherwise?.(event, name) ?? false);
  }
}
listen(() => keys);

document.addEventListener("click", (event) => {
  const line = event.target.closest("[data-cite-policy]");
  if (line) judgment.cite({ policy_line: Number(line.dataset.citePolicy) });
  if (event.target.closest("[data-coach-again]")) { document.getElementById("keys").hidePopover(); coach({ again: true }); }
});

// Why an item is skipped is chosen by a digit, where all other keys of the page are silent.
document.addEventListener("keydown", (event) => {
  const dialog = event.target.closest?.("#skip");
  if (!dialog || typing(event.target)) return;
  const reason = namesOf(event).map((name) => dialog.querySelector(`input[aria-keyshortcuts="${CSS.escape(name)}"]`)).find(Boolean);
  if (!reason) return;
  reason.checked = true;
  reason.focus();
  event.preventDefault();
});

document.addEventListener("htmx:load", (event) => {
  start();
  const { target } = event;
  if (target.id === "skip" && "open" in target.dataset) target.showPopover();
});

// What was asked for beside the judgment did not come.
for (const trouble of ["htmx:sendError", "htmx:responseError", "htmx:timeout"]) {
  document.addEventListener(trouble, (event) => {
    if (!judgment || event.target === judgment.form) return;
    const signedOut = event.detail.xhr?.status === 401;
    judgment.draft.tell(signedOut ? "You are signed out, so this could not be fetched." : "This could not be fetched. Try again when there is a connection.", signedOut ? "signed out" : "");
  });
}

addEventListener("online", () => judgment?.draft.again());
document.addEventListener("visibilitychange", () => judgment?.draft.again());
// What is not saved yet must not stay behind when somebody signs out.
document.addEventListener("submit", async (event) => {
  const { draft } = judgment ?? {};
  if (!event.target.matches("[data-sign-out]") || !draft?.form.isConnected || !draft.dirty) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  if (await draft.save()) event.target.requestSubmit();
  else draft.tell("Not signed out: what you entered last is not saved yet.");
}, { capture: true });

start();
