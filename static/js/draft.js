// Saves what is entered within a second, says so, and loses nothing: without a connection, between tabs and machines,
// when the session ends or the server dies. Until the server has it, this browser keeps it.
import { announce } from "./keys.js";
import { drop, fill, keep, kept } from "./kept.js";

const WAIT = 500;
const PATIENCE = 20_000;
const LONGEST_PAUSE = 15_000;
// What a proxy or a server that is just starting says.
const ABSENT = [502, 503, 504];
const clock = () => new Date().toLocaleTimeString("en-GB");

export class Draft {
  // `refresh` asks for the form as it stands on the server; `send` submits; `worked` counts the reader's time.
  constructor(form, { reread, refresh, send, worked }) {
    Object.assign(this, { form, reread, refresh, send, worked });
    this.name = form.dataset.kept;
    this.status = document.getElementById("saved");
    this.aloud = document.getElementById("saved-aloud");
    this.notice = document.getElementById("unsent");
    this.dialog = document.getElementById("conflict");
    this.retries = 0;
    this.savedAt = clock();
    if (this.status.dataset.state === "busy") this.say("Not submitted yet", "idle");
    this.dialog.oncancel = () => this.notChosen();
    this.dialog.onclick = (event) => this.settle(event.target.closest("[data-conflict]"));
    this.notice.onclick = (event) => { if (event.target.closest("[data-wait-no-longer]")) this.waitNoLonger("Not submitted."); };
  }

  // Whether there is nobody here any more to save for.
  get gone() { return !this.form.isConnected || this.sent; }
  get version() { return this.form.elements.version; }

  say(words, state) {
    this.status.textContent = words;
    this.status.dataset.state = state;
  }

  // What the reader should know or do, above the buttons; said aloud when it changes.
  tell(words, action = "") {
    if (words === this.told) return;
    this.told = words;
    this.notice.hidden = !words;
    this.notice.querySelector("p").textContent = words;
    for (const one of this.notice.querySelectorAll("[data-when]")) one.hidden = one.dataset.when !== action;
    if (words) announce(words);
  }

  // With what is kept goes the save whose answer is not there yet, so that nobody takes it for another tab's later.
  keep(more = {}) {
    const unanswered = this.unanswered && [...this.unanswered].filter(([name]) => name !== "csrfmiddlewaretoken");
    this.stays = keep(this.name, this.form, { unanswered, ...more });
  }

  // --- saving ---
  changed() {
    this.dirty = true;
    this.unsent = false;
    this.keep();
    if (this.waiting) this.waitNoLonger("You changed your judgment, so it is not sent by itself. Submit it when it is done.");
    if (this.retries === 0 && !this.conflicting) this.say("Saving", "idle");
    if (this.retries === 0) this.timer ??= setTimeout(() => this.save(), WAIT);
  }

  async save(more = {}) {
    this.timer = clearTimeout(this.timer);
    if (this.gone || this.saving || this.conflicting) return;
    this.saving = true;
    freshToken(this.form);
    // Whether an earlier save arrived is not known where its answer was lost. It goes first, word for word, or what came
    // after it would seem to be in conflict with it.
    const body = new URLSearchParams(this.unanswered ?? new FormData(this.form));
    this.dirty = Boolean(this.unanswered);
    const worked = this.worked.claim();
    body.set("worked", worked);
    body.set("csrfmiddlewaretoken", this.form.elements.csrfmiddlewaretoken.value);
    if (!more.take) this.unanswered = body;
    for (const [name, values] of Object.entries(more)) for (const value of values) body.append(name, value);
    let answer, taken;
    try {
      answer = await ask(this.form.dataset.draft, body);
      // The answer is not over before its body is there: a save in between would come with the version before.
      if (answer.ok) taken = await answer.json();
    } catch { /* no connection */ }
    this.saving = false;
    if (taken || answer?.status < 500) this.unanswered = undefined;
    if (this.gone) return;
    if (taken) { this.worked.counted(worked); this.taken(taken); }
    else if (answer?.status === 409) await this.conflict(answer);
    else await this.failed(answer);
    return Boolean(taken);
  }

  taken({ version }) {
    this.version.value = version;
    this.savedAt = clock();
    if (this.retries) announce("Saved again");
    this.retries = 0;
    this.tell(this.unsent ? "It is saved, but not submitted yet. Submit it again." : "");
    this.say(`Saved ${this.savedAt}`, "saved");
    // Aloud once; each time would drown what is read.
    if (!this.aloud.textContent) this.aloud.textContent = "Saved";
    if (this.dirty) this.changed();
    else drop(this.name);
  }

  // --- trouble: it is kept here and tried again ---
  async failed(answer) {
    this.dirty = true;
    this.keep({ waiting: this.waiting });
    this.say(`Not saved since ${this.savedAt}`, "trouble");
    const where = this.stays ? "kept in this browser" : "kept on this page only, for this browser stores nothing";
    if (answer?.status === 401) this.tell(`You are signed out. Not saved since ${this.savedAt}, ${where}.`, "signed out");
    else if (this.waiting) this.tell(`No connection. Your judgment is ${where} and is sent as soon as there is one.`, "waiting");
    else if (!answer || ABSENT.includes(answer.status)) this.tell(`No connection. Not saved since ${this.savedAt}, ${where}.`);
    else this.tell(`${await reason(answer)} Not saved since ${this.savedAt}, ${where}.`);
    this.later();
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.again(), Math.min(LONGEST_PAUSE, 1_000 * 2 ** this.retries++));
  }

  // A connection may be back: send what waits.
  again() {
    if (this.gone) return;
    if (this.waiting) this.send();
    else if (this.dirty) this.save();
  }

  // --- submitting ---
  sending() {
    this.timer = clearTimeout(this.timer);
    this.sent = true;
    this.keep({ waiting: true });
    this.say("Sending", "busy");
  }

  // The server wants something else first and sends the form back: the next one goes on from what this one saved.
  sentBack() { this.keep({ sentBack: true }); }

  // The judgment did not arrive, or nobody knows. It is sent again when somebody is there; twice is once for the server.
  notSent(status, words) {
    this.sent = false;
    this.unsent = true;
    this.waiting = !status || ABSENT.includes(status);
    this.failed(status === 401 || this.waiting ? { status } : { status, words });
  }

  waitNoLonger(words) {
    this.waiting = this.unsent = false;
    this.keep();
    this.tell(words);
    this.again();
  }

  // --- two tabs, two machines ---
  // Another tab or machine has saved. Where nothing is unsaved here its text is shown; else both are, on the next save.
  stands(version) {
    if (version > Number(this.version.value) && !this.dirty && !this.saving && !this.conflicting && !this.gone) {
      this.refresh("Saved elsewhere since; this is how it stands now.");
    }
  }

  async conflict(answer) {
    this.conflicting = true;
    this.keep();
    this.say("Not saved", "trouble");
    this.dialog.innerHTML = await answer.text();
    if (!this.dialog.open) this.dialog.showModal();
  }

  async settle(button) {
    if (!button) return;
    const choice = button.dataset.conflict;
    const take = [...this.dialog.querySelectorAll("[value=there]:checked")].map((one) => one.name);
    this.dialog.close();
    refocus();
    if (choice === "close") return;
    if (choice === "over") {
      drop(this.name);
      location.reload();
      return;
    }
    this.conflicting = false;
    if (choice === "other") {
      drop(this.name);
      this.refresh("The other text is here now.");
      return;
    }
    const before = this.version.value;
    this.version.value = button.dataset.version;
    if (choice === "mine" || !take.length) this.save();
    else if (await this.save({ take })) this.refresh("What you chose is here now.");
    else this.version.value = before; // what was chosen did not arrive: both texts will be shown again
  }

  notChosen() {
    this.conflicting = false;
    this.dirty = true;
    this.tell("Not saved: another text was saved elsewhere. You choose again with your next change.");
  }

  // What an earlier page could not save before it was closed. Where another text was saved since, both are shown.
  restore() {
    const before = kept(this.name);
    if (!before) return;
    fill(this.form, before.entries);
    if (before.unanswered) this.unanswered = new URLSearchParams(before.unanswered);
    this.reread();
    this.changed();
    if (before.sentBack) return;
    if (before.waiting) this.tell("Not submitted: the page was closed before it had arrived. Look it over and submit it.");
    else announce("What was not saved before is here again.");
  }
}

export function ask(url, body) {
  const large = body.toString().length > 60_000;
  return fetch(url, { method: "POST", body, keepalive: !large, headers: { Accept: "application/json" }, signal: AbortSignal.timeout(PATIENCE) });
}

async function reason(answer) {
  if (answer.words) return answer.words;
  try { return (await answer.json()).message ?? "The server did not take it."; } catch { return "The server did not take it."; }
}

// A dialog that is closed by mouse gives a text its focus back without the caret, and what is typed goes nowhere.
function refocus() {
  const field = document.activeElement;
  field.blur();
  field.focus({ preventScroll: true });
}

// Signing in again gives another token; a form that was open before takes it over.
export function freshToken(form) {
  const token = /(?:^|; )csrftoken=([^;]+)/.exec(document.cookie)?.[1];
  if (token) form.elements.csrfmiddlewaretoken.value = token;
}
