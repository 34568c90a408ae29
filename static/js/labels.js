// Labels of steps: a word for each, kept for all of the run in one field of the form, also for steps that are not on
// the page. While somebody labels, the digits choose the word of the step they are at.
import { announce } from "./keys.js";

// Behind one mark of the map may be several steps: it shows the first of these that is among them.
const LOUDEST = ["bad", "even", "good"];

export class Labels {
  // `changed` is told of every change. Undefined for a rubric that labels no steps.
  static of(form, run, changed) {
    const box = form.querySelector("[data-runs]");
    return box ? new Labels(box, form.elements.steps, run, changed) : undefined;
  }

  constructor(box, field, run, changed) {
    Object.assign(this, { box, field, run, changed });
    this.words = new Map([...box.querySelectorAll("[data-word]")].map((word) => [Number(word.dataset.word), word]));
    this.untilFirst = "untilFirst" in box.dataset;
    this.wanted = numbersIn(box.dataset.runs);
    box.addEventListener("click", ({ target }) => this.clicked(target));
    this.listen(run.main);
    this.read();
  }

  listen(main) {
    this.ear?.abort();
    this.ear = new AbortController();
    const { signal } = this.ear;
    const mine = (act) => (event) => (this.box.isConnected ? act(event) : this.ear.abort());
    main.addEventListener("change", mine(({ target }) => { if (target.closest(".labels")) this.say(numberOf(target), Number(target.value)); }), { signal });
    main.addEventListener("at-step", mine(() => { if (this.on) this.focus(); }), { signal });
    document.addEventListener("focusin", mine(({ target }) => {
      if (target.closest(".labels")) this.be(true);
      else if (!main.contains(target)) this.be(false);
    }), { signal });
  }

  be(on) {
    this.on = on;
    this.run.main.classList.toggle("labelling", on);
  }

  clicked(target) {
    const what = target.closest("[data-label]")?.dataset.label;
    const said = target.closest("[data-say]");
    const all = target.closest("[data-take-all]")?.dataset.takeAll;
    if (what === "next") void this.next();
    if (what === "rest") this.rest();
    if (what === "wrong") void this.toWrong();
    if (said) this.say(Number(said.closest("[data-strip]").dataset.strip), Number(said.dataset.say));
    if (all) this.take(all);
  }

  // A lead takes the words of one rater, or of most of them, for the steps on which they differ.
  take(whose) {
    let count = 0;
    for (const row of this.box.querySelectorAll("[data-strip]")) {
      const value = whose === "majority" ? row.dataset.majority : row.querySelector(`[data-of="${whose}"]`)?.dataset.say;
      if (value === undefined) continue;
      this.values[row.dataset.strip] = Number(value);
      count += 1;
    }
    this.keep();
    announce(`Taken for ${count} steps. ${this.told()}`);
  }

  // --- what was said ---
  // From the form, which may have been filled anew.
  read() {
    try { this.values = JSON.parse(this.field.value || "{}"); } catch { this.values = {}; }
    this.show();
  }

  keep() {
    this.field.value = JSON.stringify(this.values);
    this.show();
    this.changed();
  }

  say(number, value) {
    this.before = null;
    this.values[number] = value;
    this.keep();
  }

  name(value) { return this.words.get(value)?.dataset.name ?? ""; }
  css(number) {
    const value = this.values[number];
    return value === undefined ? "" : value > 0 ? "good" : value < 0 ? "bad" : "even";
  }

  get firstWrong() { return this.wanted.find((number) => this.values[number] < 0); }
  // The steps that must have a label.
  get needed() {
    const { firstWrong } = this;
    return this.untilFirst && firstWrong ? this.wanted.filter((number) => number <= firstWrong) : this.wanted;
  }
  get missing() { return this.needed.filter((number) => this.values[number] === undefined); }
  get complete() { return !this.missing.length; }

  // --- by key ---
  // The word under a digit for the step at hand, then on to the next without one. 0 takes the word back.
  answer(key) {
    const step = this.run.current;
    const radio = step?.querySelector(`.labels [aria-keyshortcuts="${key}"]`);
    const { number } = this.run;
    if (key === "0" && this.values[number] !== undefined) {
      delete this.values[number];
      this.keep();
      announce(`Step ${number} has no label`);
      return true;
    }
    if (!radio) {
      announce(step?.querySelector(".labels") ? `There is no word under ${key}` : `Step ${number} is not labelled`);
      return true;
    }
    const value = Number(radio.value);
    this.say(number, value);
    if (value < 0 && this.untilFirst) announce(`Step ${number}: ${this.name(value)}. What follows may stay without a label.`);
    else void this.next({ after: number, said: `${this.name(value)}. ` });
    return true;
  }

  // To the step at hand if it has no label, or else to the next one that has none; from the end on to the first.
  async next({ after = this.run.number - 1, said = "" } = {}) {
    const { missing } = this;
    const number = missing.find((one) => one > after) ?? missing[0];
    if (number) await this.run.go(number);
    if (!number && !this.wanted.includes(this.run.number) && this.wanted.length) await this.run.go(this.wanted[0]);
    this.focus();
    announce(number ? `${said}Step ${number}, ${this.run.label(number)}` : `${said}${this.told()}`);
  }

  // Every step behind the one at hand that has no label gets the same, or where that has none itself, behind the last
  // before it that has one: a word leads on to the next step. Pressed again at once, that is taken back.
  rest() {
    const at = this.run.number;
    if (this.before?.at === at) {
      for (const one of this.before.steps) delete this.values[one];
      announce(`Taken back from ${this.before.steps.length} steps`);
      this.before = null;
      this.keep();
      return true;
    }
    const number = this.wanted.findLast((one) => one <= at && this.values[one] !== undefined);
    const value = this.values[number];
    if (value === undefined) return announce(`Label step ${at} first`) ?? true;
    const steps = this.wanted.filter((one) => one > number && this.values[one] === undefined);
    for (const one of steps) this.values[one] = value;
    this.before = { at, steps };
    this.keep();
    announce(`${this.name(value)} for ${steps.length} more. ${this.told()}`);
    return true;
  }

  async toWrong() {
    const { firstWrong } = this;
    if (!firstWrong) return announce("No step is labelled as an error");
    await this.run.go(firstWrong);
    announce(`First error: step ${firstWrong}, ${this.run.label(firstWrong)}`);
  }

  focus() {
    const words = this.run.current?.querySelector(".labels");
    const radio = words?.querySelector(":checked") ?? words?.querySelector("input");
    (radio ?? this.run.main).focus({ preventScroll: true });
    if (words) words.scrollIntoView({ block: "nearest" });
  }

  // --- on the page ---
  told() { return `${this.needed.length - this.missing.length} of ${this.needed.length} labelled`; }

  show() {
    for (const words of this.run.main.querySelectorAll(".step .labels")) {
      const number = numberOf(words);
      for (const radio of words.querySelectorAll("input")) {
        radio.removeAttribute("form"); // all of them are in the form's own field
        radio.checked = this.values[number] === Number(radio.value);
      }
      words.classList.toggle("missing", this.values[number] === undefined && this.box.querySelector(".need") !== null);
    }
    for (const row of this.box.querySelectorAll("[data-strip]")) {
      const value = this.values[row.dataset.strip];
      const yours = row.querySelector("[data-yours]");
      yours.textContent = value === undefined ? "open" : this.name(value);
      yours.className = `word ${this.css(row.dataset.strip)}`;
      for (const said of row.querySelectorAll("[data-say]")) said.ariaPressed = String(Number(said.dataset.say) === value);
    }
    this.showOnMap();
    this.box.querySelector("[data-labelled]").textContent = this.told();
    const { firstWrong } = this;
    this.box.querySelector("[data-label=wrong]").lastChild.data = firstWrong ? ` first error: step ${firstWrong}` : " first error";
    this.box.querySelector("[data-label=wrong]").disabled = !firstWrong;
    const counts = new Map();
    for (const number of this.wanted) counts.set(this.values[number], (counts.get(this.values[number]) ?? 0) + 1);
    for (const [value, word] of this.words) word.querySelector("b").textContent = counts.get(value) ?? 0;
  }

  showOnMap() {
    const loudest = new Map();
    for (const number of this.wanted) {
      const mark = this.run.mark(number);
      const css = this.css(number);
      const before = loudest.get(mark);
      if (mark && (!loudest.has(mark) || (css && (!before || LOUDEST.indexOf(css) < LOUDEST.indexOf(before))))) loudest.set(mark, css);
    }
    for (const [mark, css] of loudest) mark.dataset.label = css;
    if (this.run.per !== 1) return;
    for (const number of this.wanted) {
      const mark = this.run.mark(number);
      if (!mark) continue;
      mark.dataset.plain ??= mark.title;
      mark.title = mark.dataset.plain + (this.values[number] === undefined ? "" : `, ${this.name(this.values[number])}`);
      mark.setAttribute("aria-label", `Step ${mark.title}`);
    }
  }
}

const numberOf = (element) => Number(element.closest("[data-step]").dataset.step);

// The numbers from the lengths of runs: so many that are not labelled, so many that are, and so on.
function numbersIn(runs) {
  const numbers = [];
  let at = 1;
  runs.split(" ").forEach((length, place) => {
    for (let one = 0; one < Number(length); one += 1, at += 1) if (place % 2) numbers.push(at);
  });
  return numbers;
}
