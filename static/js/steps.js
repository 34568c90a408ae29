// The run: which step the reader is at, the map of steps, steps that are fetched later, search, folds that stay.
import { announce } from "./keys.js";

// As `reviews.trajectories.outline` writes them: a letter, and the number of the tool's name.
const KINDS = { s: "system", u: "user", a: "agent", t: "tool", w: "tool write", e: "tool error", x: "tool write error" };
const WHO = { s: "system", u: "requester", a: "agent" };
// What the map shows of several steps behind one mark: the first of these that is among them.
const LOUDEST = ["x", "e", "w", "u", "t", "a", "s"];
// What is shown alone, by the kinds it has.
const ONLY = { writes: "wx", errors: "ex", agent: "a" };
// As many marks as a screen has room for; a longer run has several steps behind each.
const MOST_MARKS = 400;

export class Run {
  // Of several runs on a page each has its own bar of kinds, and a prefix for the ids of its steps.
  constructor(main, map, bar = document.querySelector(".kinds")) {
    this.main = main;
    this.url = main.dataset.url;
    this.bar = bar;
    this.prefix = main.dataset.prefix ?? "";
    this.place = Number(main.dataset.place ?? 0);
    this.first = Number(main.dataset.first ?? 1);
    this.count = Number(main.dataset.count);
    this.hits = new Map();
    this.state = recall(this.url);
    this.readOutline(main.dataset.outline);
    if (map) this.buildMap(map);
    this.watch();
    this.refresh();
    void this.begin();
  }

  // Where the address leads, or else where the reader was before the page was loaded again.
  async begin() {
    const { at, top, only = "", hash } = this.state;
    const wanted = new RegExp(`^#${this.prefix}step-(\\d+)$`).exec(location.hash);
    const led = location.hash && hash !== location.hash;
    if (led && wanted) { await this.go(Number(wanted[1])); return; }
    this.select(this.steps[0], { scroll: false });
    if (!at || led) return;
    if (only !== this.only && this.bar) await this.show({ only, at });
    else await this.go(at);
    if (this.number === at) this.scroller.scrollBy({ top: this.current.getBoundingClientRect().top - this.view.top - top, behavior: "instant" });
  }

  get steps() { return [...this.main.querySelectorAll(".step")]; }
  get number() { return Number(this.current?.dataset.step ?? this.first); }
  label(number) { return this.labels[number - 1] ?? ""; }
  step(number) { return this.main.querySelector(`[data-step="${number}"]`); }

  // --- the map ---
  readOutline(outline) {
    const [marks, ...names] = outline.split("\n");
    this.kinds = [];
    this.labels = [];
    for (const [, kind, name] of marks.matchAll(/([a-z])(\d*)/g)) {
      this.kinds.push(kind);
      this.labels.push(name ? names[name] : WHO[kind] ?? "tool result");
    }
    this.marks = [];
  }

  // A map that the server has drawn, with raters in it, has a mark for some steps or for all.
  buildMap(map) {
    const drawn = [...map.querySelectorAll("a")];
    if (drawn.length) {
      this.marks = drawn;
      this.drawn = new Map(drawn.map((link) => [Number(link.hash.slice(6)), link]));
      return;
    }
    const steps = this.count - this.first + 1;
    this.per = Math.max(Math.ceil(steps / MOST_MARKS), 1);
    const list = map.querySelector("ol");
    list.classList.toggle("dense", steps > 120);
    for (let first = this.first; first <= this.count; first += this.per) {
      const item = document.createElement("li");
      item.append(this.drawMark(first));
      list.append(item);
    }
  }

  drawMark(first) {
    const last = Math.min(first + this.per - 1, this.count);
    const behind = this.kinds.slice(first - 1, last);
    const kind = LOUDEST.find((one) => behind.includes(one));
    const loudest = first + behind.indexOf(kind);
    const link = document.createElement("a");
    link.href = `#${this.prefix}step-${loudest}`;
    link.tabIndex = -1;
    link.className = KINDS[kind];
    const words = `${loudest} ${this.label(loudest)}${isWrite(kind) ? ", changes something" : ""}${isError(kind) ? ", error" : ""}`;
    link.title = this.per > 1 ? `${first} to ${last}: ${words}` : words;
    link.setAttribute("aria-label", this.per > 1 ? `Steps ${link.title}` : `Step ${link.title}`);
    this.marks.push(link);
    return link;
  }

  mark(number) { return this.drawn ? this.drawn.get(number) : this.marks[Math.floor((number - this.first) / this.per)]; }

  markEach(name, numbers) {
    for (const mark of this.marks) mark.classList.remove(name);
    for (const number of numbers) this.mark(number)?.classList.add(name);
  }

  markCited(numbers) {
    this.markEach("cited", numbers);
    for (const step of this.steps) step.classList.toggle("cited", numbers.has(Number(step.dataset.step)));
  }

  // --- where the reader is ---
  watch() {
    this.main.addEventListener("click", (event) => {
      const step = event.target.closest(".step");
      if (step) this.select(step, { scroll: false });
      const fold = event.target.closest(".fold");
      if (fold) { unfold(fold, fold.ariaExpanded !== "true"); this.keepPart(fold); }
    });
    let waiting = false;
    // Heard from the run itself, or from the page where that scrolls as a whole.
    const look = () => {
      if (!this.main.isConnected) { document.removeEventListener("scroll", look, { capture: true }); return; }
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => { waiting = false; this.follow(); });
    };
    document.addEventListener("scroll", look, { passive: true, capture: true });
    this.main.addEventListener("toggle", (event) => this.keepFold(event.target), true);
  }

  // What scrolls, and what of it is in sight.
  get scroller() { return this.main.scrollHeight > this.main.clientHeight + 1 && getComputedStyle(this.main).overflowY !== "visible" ? this.main : document.scrollingElement; }
  get view() {
    const { top, bottom } = this.main.getBoundingClientRect();
    return { top: Math.max(top, 0), bottom: Math.min(bottom, innerHeight), height: Math.min(bottom, innerHeight) - Math.max(top, 0) };
  }

  // When the reader has scrolled away from the current step, the first one in sight takes its place.
  follow() {
    const { view } = this;
    const inSight = (step) => { const box = step.getBoundingClientRect(); return box.bottom > view.top + 24 && box.top < view.bottom - 24; };
    if (!this.current || !inSight(this.current)) this.select(this.steps.find(inSight), { scroll: false });
    clearTimeout(this.keeping);
    this.keeping = setTimeout(() => this.keepPlace(), 300);
  }

  select(step, { scroll = true } = {}) {
    if (!step) return;
    this.current?.classList.remove("at");
    this.current?.removeAttribute("aria-current");
    this.mark(this.number)?.classList.remove("at");
    this.current = step;
    step.classList.add("at");
    step.setAttribute("aria-current", "step");
    this.mark(this.number)?.classList.add("at");
    if (scroll) step.scrollIntoView({ block: "nearest" });
    this.main.dispatchEvent(new CustomEvent("at-step"));
  }

  async move(by) {
    if (this.loading) return;
    const { view } = this;
    const box = this.current?.getBoundingClientRect();
    const hidden = box && (by > 0 ? box.bottom - view.bottom : view.top - box.top);
    if (hidden > 24 && box.height > view.height) {
      this.scroller.scrollBy({ top: by * Math.min(hidden + 24, view.height * 0.8) });
      return;
    }
    const number = this.nearest(by, (kind) => this.shows(kind)) ?? this.number;
    await this.go(number);
    announce(`Step ${number}, ${this.label(number)}`);
  }

  // The next step (or the one before) of a kind.
  nearest(by, wanted) {
    for (let number = this.number + by; number >= this.first && number <= this.count; number += by) {
      if (wanted(this.kinds[number - 1])) return number;
    }
    return null;
  }

  async go(number) {
    if (!this.shows(this.kinds[number - 1])) await this.show({ only: "", at: number });
    const step = this.step(number) ?? await this.fetch(number);
    this.select(step);
  }

  // To a step by its number, which may be higher than any.
  async jump(number) {
    await this.go(Math.min(Math.max(number, this.first), this.count));
    announce(`Step ${this.number}, ${this.label(this.number)}`);
  }

  async toTelling(by) {
    if (this.loading) return;
    const number = this.nearest(by, (kind) => isWrite(kind) || isError(kind));
    if (!number) return announce(by > 0 ? "No write or error after this step" : "No write or error before this step");
    await this.go(number);
    const kind = this.kinds[number - 1];
    announce(`Step ${number}, ${this.label(number)}, ${[isWrite(kind) && "write", isError(kind) && "error"].filter(Boolean).join(" and ")}`);
  }

  // --- which steps are shown ---
  get only() { return this.bar?.querySelector("[aria-current]")?.dataset.only ?? ""; }
  shows(kind) { return !this.only || ONLY[this.only].includes(kind); }

  async show({ only, at = this.number }) {
    if (this.loading || !this.bar) return;
    for (const link of this.bar.querySelectorAll("[data-only]")) {
      if (link.dataset.only === only) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    this.loading = htmx.ajax("GET", `${this.url}steps/?only=${only}&at=${at}`, { target: this.main.firstElementChild, swap: "innerHTML" });
    await this.arrival();
    const there = this.steps;
    this.select(there.find((step) => Number(step.dataset.step) >= at) ?? there.at(-1));
  }

  showOnly(only) { return this.show({ only }); }

  async showNext() {
    if (!this.bar) return;
    const links = [...this.bar.querySelectorAll("[data-only]")];
    const next = links[(links.findIndex((link) => link.dataset.only === this.only) + 1) % links.length];
    await this.show({ only: next.dataset.only });
    announce(`Shown: ${next.textContent}`);
  }

  // The text of a step without weight, colour or folds.
  raw() {
    if (!this.current) return;
    const raw = !this.current.classList.contains("raw");
    const others = (this.state.raw ?? []).filter((number) => number !== this.number);
    this.remember({ raw: raw ? [...others, this.number] : others });
    this.makeRaw(this.current, raw);
    announce(raw ? "The step’s text as it is" : "The step as it is read");
  }

  makeRaw(step, raw) {
    step.classList.toggle("raw", raw);
    if (!raw) return;
    for (const fold of step.querySelectorAll("details")) fold.open = true;
    for (const fold of step.querySelectorAll(".fold")) unfold(fold, true);
  }

  // Ask for the steps around one that is not on the page yet.
  async fetch(number) {
    const gap = [...this.main.querySelectorAll(".gap")].find((one) => Number(one.dataset.first) <= number && number <= Number(one.dataset.last));
    if (!gap) return null;
    this.loading ??= htmx.ajax("GET", `${this.url}steps/?from=${gap.dataset.first}&to=${gap.dataset.last}&at=${number}&only=${this.only}`, { target: gap, swap: "outerHTML" });
    await this.arrival();
    return this.step(number);
  }

  // Without a connection nothing comes, and the next key may ask again.
  async arrival() {
    try { await this.loading; } catch { /* the page says it */ }
    this.loading = null;
  }

  toggle() {
    const folds = [...(this.current?.querySelectorAll("details") ?? [])];
    const open = folds.some((fold) => fold.open);
    for (const fold of folds) fold.open = !open;
  }

  // Every part of the step's JSON folds, or where one is folded, all unfold. The outermost stays open, to show the names.
  foldAll() {
    const folds = [...(this.current?.querySelectorAll(".fold") ?? [])];
    const inner = folds.filter((fold) => fold.parentElement.closest(".kids"));
    const open = folds.some((fold) => fold.ariaExpanded === "false");
    for (const fold of open || !inner.length ? folds : inner) { unfold(fold, open); this.keepPart(fold); }
    if (folds.length) announce(open ? "All parts unfolded" : "All parts folded");
  }

  // --- what the reader left as it is stays so, until the browser is closed ---
  remember(changes) {
    Object.assign(this.state, changes);
    try { sessionStorage.setItem(this.url, JSON.stringify(this.state)); } catch { /* storage is closed: it holds for this page */ }
  }

  keepPlace() {
    if (!this.current?.isConnected) return;
    const top = this.current.getBoundingClientRect().top - this.view.top;
    this.remember({ at: this.number, top: Math.round(top), only: this.only, hash: location.hash });
  }

  keepFold(fold) {
    const step = fold.closest(".step");
    if (step) this.remember({ folds: { ...this.state.folds, [`${step.dataset.step} ${fold.className}`]: fold.open } });
  }

  keepPart(fold) {
    this.remember({ parts: { ...this.state.parts, [partName(fold)]: fold.ariaExpanded === "true" } });
  }

  // After steps have come in: folds as they were, changes laid out, hits marked.
  refresh() {
    const { folds = {}, parts = {}, raw = [] } = this.state;
    for (const fold of this.main.querySelectorAll(".step details")) {
      const open = folds[`${fold.closest(".step").dataset.step} ${fold.className}`];
      if (open !== undefined && open !== fold.open) fold.open = open;
    }
    for (const fold of Object.keys(parts).length ? this.main.querySelectorAll(".step .fold") : []) {
      const open = parts[partName(fold)];
      if (open !== undefined) unfold(fold, open);
    }
    for (const number of raw) if (this.step(number)) this.makeRaw(this.step(number), true);
    layOut(this.main);
    this.highlight();
  }

  // --- search ---
  mention(text, hits) {
    this.text = text;
    this.remember({ find: text });
    this.hits = new Map(hits.map((hit) => [Number(hit.dataset.hit), hit]));
    this.markEach("found", this.hits.keys());
    this.highlight();
  }

  highlight() {
    if (!globalThis.CSS?.highlights) return;
    for (const shown of document.querySelectorAll(".run .shown")) shown.classList.remove("shown");
    const ranges = [];
    const wanted = this.text?.trim().toLowerCase();
    if (wanted) {
      for (const place of document.querySelectorAll(".run [data-field], .run .name, .policy [dir]")) ranges.push(...rangesIn(place, wanted));
    }
    CSS.highlights.set("found", new Highlight(...ranges));
  }

  async nextHit(by) {
    const numbers = [...this.hits.keys()];
    if (!numbers.length) return;
    const next = by > 0 ? numbers.find((one) => one > this.number) ?? numbers[0] : numbers.findLast((one) => one < this.number) ?? numbers.at(-1);
    for (const [number, hit] of this.hits) {
      if (number === next) hit.setAttribute("aria-current", "true");
      else hit.removeAttribute("aria-current");
    }
    this.hits.get(next).scrollIntoView({ block: "nearest" });
    await this.go(next);
    announce(`Hit ${numbers.indexOf(next) + 1} of ${numbers.length}: step ${next}, ${this.label(next)}`);
  }
}

const isWrite = (kind) => kind === "w" || kind === "x";
const isError = (kind) => kind === "e" || kind === "x";

// A part of JSON that folds: its button stands before it.
function unfold(button, open) {
  button.ariaExpanded = String(open);
  button.nextElementSibling.hidden = !open;
}

// Opens the parts of JSON around a place in the text.
export function reveal(node) {
  for (let part = node.parentElement?.closest(".kids"); part; part = part.parentElement.closest(".kids")) unfold(part.previousElementSibling, true);
}

// The element that hides a text, if one does: marks of Markdown, sequences of a terminal.
export const hiding = (node) => node.parentElement.closest("i, .esc");

// The nodes of a field's own text.
export function* textsIn(place) {
  for (let nodes = document.createTreeWalker(place, NodeFilter.SHOW_TEXT), node; (node = nodes.nextNode());) {
    if (!node.parentElement.closest(".more, .cited-by")) yield node;
  }
}

// Where the words stand as they are written, which brings what is hidden to light; or else as they are read.
function rangesIn(place, wanted) {
  const nodes = [...textsIn(place)];
  const written = rangesOver(nodes, wanted, (node) => hiding(node)?.classList.add("shown"));
  return written.length ? written : rangesOver(nodes.filter((node) => !hiding(node)), wanted, () => {});
}

function rangesOver(nodes, wanted, met) {
  const text = lower(nodes.map((node) => node.data).join(""));
  const ranges = [];
  let first = 0;
  let before = 0; // characters in front of nodes[first]
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
    while (before + nodes[first].length <= at) before += nodes[first++].length;
    const range = new Range();
    range.setStart(nodes[first], at - before);
    let last = first;
    for (let start = before; ; start += nodes[last++].length) {
      met(nodes[last]);
      reveal(nodes[last]);
      if (start + nodes[last].length < at + wanted.length) continue;
      range.setEnd(nodes[last], at + wanted.length - start);
      break;
    }
    ranges.push(range);
  }
  return ranges;
}

// In small letters, of the same length: a few letters of some scripts become two.
function lower(text) {
  const small = text.toLowerCase();
  return small.length === text.length ? small : text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

const partName = (fold) => {
  const field = fold.closest("[data-field]");
  return `${fold.closest(".step").dataset.step} ${field?.dataset.field} ${[...(field?.querySelectorAll(".fold") ?? [])].indexOf(fold)}`;
};

// An old text and the new one: their chunks in rows, which a style sheet cannot count. Lines that stay, for both sides.
function layOut(main) {
  for (const pair of main.querySelectorAll(".pair:not(.laid)")) {
    for (const field of pair.querySelectorAll(".text")) [...field.children].forEach((chunk, place) => chunk.style.setProperty("--row", place + 1));
    pair.classList.add("laid");
  }
  if (!document.documentElement.dataset.diff) return;
  for (const line of main.querySelectorAll(".same:not(.chunk, [data-line])")) line.dataset.line = line.textContent;
}

function recall(name) {
  try { return JSON.parse(sessionStorage.getItem(name)) ?? {}; } catch { return {}; }
}

// What a reader prefers on every run, on this device.
export function preference(name) {
  try { return localStorage.getItem(`reading-${name}`) ?? ""; } catch { return ""; }
}

export function prefer(name, value) {
  try {
    if (value) localStorage.setItem(`reading-${name}`, value);
    else localStorage.removeItem(`reading-${name}`);
  } catch { /* storage is closed: nothing is kept */ }
}
