// Several candidates beside each other, and what all of them share: each is a run of its own, one of them is current.
import { announce } from "./keys.js";
import { Run } from "./steps.js";

export class Sides {
  constructor(main) {
    this.main = main;
    this.url = main.dataset.url;
    this.columns = [...main.querySelectorAll(".run-column")];
    this.runs = this.columns.map((column) => new Run(column.querySelector(".run"), column.querySelector(".map"), column.querySelector(".kinds")));
    this.at = this.runs.find((run) => run.place === 1);
    for (const run of this.runs) run.main.addEventListener("at-step", () => { if (run === this.at) this.tell(); });
    for (const sign of ["focusin", "pointerdown"]) {
      main.addEventListener(sign, (event) => this.be(this.of(event.target)));
    }
    main.addEventListener("click", (event) => this.clicked(event));
    this.show();
  }

  // The run that an element stands in.
  of(node) {
    const column = (node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement)?.closest(".run-column");
    return column ? this.runs[this.columns.indexOf(column)] : undefined;
  }

  letter(place) { return String.fromCharCode(64 + place); }
  get place() { return this.at.place; }
  get name() { return this.place ? this.letter(this.place) : "shared "; }

  be(run) {
    if (!run || run === this.at) return;
    this.at = run;
    this.show();
    this.at.mention(this.text ?? "", []);
    this.tell();
  }

  show() {
    for (const column of this.columns) column.classList.toggle("current", Number(column.dataset.side) === this.place);
    // On a narrow screen what all share stands above the candidates, of which one is shown.
    const shown = this.place || this.shown || 1;
    this.shown = shown;
    this.main.dataset.shown = shown;
    for (const column of this.columns) column.classList.toggle("shown", Number(column.dataset.side) === shown);
    for (const tab of this.main.querySelectorAll("[data-to-side]")) {
      if (Number(tab.dataset.toSide) === shown) tab.setAttribute("aria-current", "true");
      else tab.removeAttribute("aria-current");
    }
  }

  tell() { this.main.dispatchEvent(new CustomEvent("at-step")); }

  next(by) {
    const order = this.runs.filter((run) => run.place);
    const place = order.indexOf(this.at);
    const next = order[(Math.max(place, place < 0 && by > 0 ? -1 : place) + by + order.length) % order.length];
    this.be(next);
    next.main.scrollIntoView({ block: "nearest", inline: "nearest" });
    next.main.focus({ preventScroll: true });
    announce(`Candidate ${this.letter(next.place)}, step ${next.number}`);
  }

  clicked(event) {
    const tab = event.target.closest("[data-to-side]");
    const link = event.target.closest("a[href*='-step-']");
    if (tab) {
      this.be(this.runs.find((run) => run.place === Number(tab.dataset.toSide)));
      this.at.main.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    if (event.target.closest("[data-differences]")) void this.differences();
    if (link && !event.ctrlKey && !event.metaKey) { event.preventDefault(); this.follow(link.hash); }
  }

  // To a step by its address, as "#b-step-4".
  follow(hash) {
    const [, prefix, number] = /^#(\w+-)step-(\d+)$/.exec(hash) ?? [];
    const run = this.runs.find((one) => one.prefix === prefix);
    if (run) { this.be(run); void run.go(Number(number)); }
  }

  // To a step of a candidate, which may be one that all share.
  goTo(place, number) {
    const shared = this.runs.find((run) => !run.place);
    const run = shared && number <= shared.count ? shared : this.runs.find((one) => one.place === place);
    if (!run) return;
    this.be(run);
    void run.go(number);
  }

  // --- what differs ---
  async differences() {
    const button = this.main.querySelector("[data-differences]");
    const on = button.ariaPressed !== "true";
    if (on && !this.differing) {
      try { this.differing = await (await fetch(`${this.url}differences/`)).json(); } catch { announce("This could not be fetched."); return; }
    }
    button.ariaPressed = String(on);
    this.marksDifferences = on;
    this.markDifferences();
    announce(on ? "What differs is marked" : "Nothing is marked");
  }

  markDifferences() {
    this.main.classList.toggle("differing", Boolean(this.marksDifferences));
    const ranges = [];
    for (const run of this.marksDifferences ? this.runs.filter((one) => one.place) : []) {
      const steps = this.differing[this.letter(run.place)] ?? {};
      for (const step of run.steps) {
        const fields = steps[step.dataset.step];
        step.classList.toggle("differs-here", Boolean(fields));
        for (const [path, spans] of Object.entries(fields ?? {})) {
          const field = step.querySelector(`[data-field="${CSS.escape(path)}"]`);
          if (field) ranges.push(...spans.flatMap(({ start, end }) => rangesOf(field, start, end)));
        }
      }
    }
    if (globalThis.CSS?.highlights) CSS.highlights.set("differs", new Highlight(...ranges));
  }

  // --- what the reader does, done to the current one ---
  get number() { return this.at.number; }
  get steps() { return this.runs.flatMap((run) => run.steps); }
  get hits() { return this.at.hits; }
  get state() { return this.at.state; }
  get kinds() { return this.at.kinds; }
  label(number) { return this.at.label(number); }
  move(by) { return this.at.move(by); }
  go(number) { return this.at.go(number); }
  jump(number) { return this.at.jump(number); }
  toggle() { this.at.toggle(); }
  foldAll() { this.at.foldAll(); }
  raw() { this.at.raw(); }
  toTelling(by) { return this.at.toTelling(by); }
  showOnly(only) { return this.at.showOnly(only); }
  showNext() { return this.at.showNext(); }
  nextHit(by) { return this.at.nextHit(by); }
  mention(text, hits) { this.text = text; this.at.mention(text, hits); }
  highlight() { this.at.highlight(); }
  keepPlace() { for (const run of this.runs) run.keepPlace(); }
  refresh() {
    for (const run of this.runs) run.refresh();
    if (this.marksDifferences) this.markDifferences();
  }
}

// Characters of a field, in code points, as ranges of the page.
function rangesOf(field, start, end) {
  const found = [];
  let place = 0;
  for (let walker = document.createTreeWalker(field, NodeFilter.SHOW_TEXT), node; (node = walker.nextNode());) {
    const points = [...node.data];
    const from = Math.max(start - place, 0);
    const to = Math.min(end - place, points.length);
    place += points.length;
    if (from >= to) continue;
    const range = new Range();
    range.setStart(node, points.slice(0, from).join("").length);
    range.setEnd(node, points.slice(0, to).join("").length);
    found.push(range);
  }
  return found;
}
