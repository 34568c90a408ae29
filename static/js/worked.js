// Counts how long the reader works on the item, and tells the server, which counts no more than has passed there.
import { ask, freshToken } from "./draft.js";

const BEAT = 15_000;
// A tick that comes later than this was a sleeping machine, not a reader.
const LONGEST_TICK = 2_000;
const SIGNS = ["keydown", "pointerdown", "pointermove", "wheel", "scroll", "touchmove"];

export class Worked {
  // `heard` is given what the server says of the draft.
  constructor(form, heard) {
    this.form = form;
    this.heard = heard;
    this.shown = document.getElementById("worked");
    this.idle = Number(form.dataset.idle) * 1_000;
    this.total = Number(form.dataset.worked);
    this.waits = 0;
    this.ticked = performance.now();
    this.sign();
    for (const name of SIGNS) document.addEventListener(name, this.sign, { passive: true, capture: true });
    this.ticking = setInterval(() => this.tick(), 1_000);
    this.show();
  }

  sign = () => { this.signed = performance.now(); };

  tick() {
    if (!this.form.isConnected) return this.end();
    const now = performance.now();
    const passed = Math.min(now - this.ticked, LONGEST_TICK);
    this.ticked = now;
    if (!document.hidden && now - this.signed < this.idle) this.waits += passed;
    this.show();
    if (this.form.dataset.alive && this.waits >= BEAT && now > (this.next ?? 0)) this.beat(now);
  }

  end() {
    clearInterval(this.ticking);
    for (const name of SIGNS) document.removeEventListener(name, this.sign, { capture: true });
  }

  async beat(now) {
    this.next = now + BEAT;
    freshToken(this.form);
    const worked = this.claim();
    const body = new URLSearchParams({ worked, csrfmiddlewaretoken: this.form.elements.csrfmiddlewaretoken.value });
    try {
      const answer = await ask(this.form.dataset.alive, body);
      if (!answer.ok) return;
      const { active_seconds: total, version } = await answer.json();
      this.counted(worked);
      this.total = total;
      this.heard(version);
    } catch { /* no connection: the next one says it */ }
  }

  // Whole seconds that the server does not know of yet; `counted` when it does.
  claim() { return Math.floor(this.waits / 1_000); }
  counted(seconds) {
    this.waits -= seconds * 1_000;
    this.total += seconds;
  }

  show() {
    const minutes = Math.floor((this.total + this.waits / 1_000) / 60);
    this.shown.textContent = minutes ? `${minutes} min` : "< 1 min";
  }
}
