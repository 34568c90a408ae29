// The judgment of a comparison: gates of each candidate that decide or open the preference, rankings by digits, arrows
// and drag, reasons as tags, and citations into one candidate. All that a judgment is beside this is Judgment's.
import { announce } from "./keys.js";
import { mark, selected } from "./citing.js";
import { Judgment } from "./judging.js";

const FAILURE = "failure-point";

export class Preference extends Judgment {
  get sides() { return this.run; }
  get places() { return Number(this.form.elements.places.value); }
  get questions() { return super.questions.filter((question) => !question.matches(":disabled")); }

  listen() {
    super.listen();
    for (const list of this.form.querySelectorAll("[data-ranking]")) this.listenTo(list);
    this.form.addEventListener("input", (event) => { if (event.target.closest("[data-ranking]")) this.reread(); });
  }

  clicked(target) {
    const move = target.closest("[data-move]");
    if (move) this.shift(move.closest(".rank"), Number(move.dataset.move));
    else super.clicked(target);
  }

  // --- the way through the questions ---
  be(question, { focus = false } = {}) {
    super.be(question, { focus });
    if (this.current !== question || !question) return;
    const place = Number(question.dataset.place);
    // Whoever answers for a candidate reads that one.
    if (focus && place) this.sides.be(this.sides.runs.find((run) => run.place === place));
    const { activeElement } = document;
    if (!focus || (activeElement !== question && question.contains(activeElement))) return;
    const rows = [...question.querySelectorAll(".rank:not([aria-disabled=true])")];
    (rows.find((row) => !rankOf(row)) ?? rows[0])?.focus({ preventScroll: true });
  }

  move(by, event) {
    const row = document.activeElement.closest(".rank");
    if (row && event?.shiftKey) return this.shift(row, by);
    const rows = row ? [...row.parentElement.children] : [];
    const next = rows[rows.indexOf(row) + by];
    if (row && next) return next.focus();
    return super.move(by, event);
  }

  answer(key) {
    if (this.current?.querySelector("[data-ranking]") && /^\d$/.test(key)) return this.rank(key);
    const tag = this.current?.querySelector(`input[type=checkbox][aria-keyshortcuts="${CSS.escape(key)}"]`);
    if (!tag) return super.answer(key);
    tag.checked = !tag.checked;
    tag.focus({ preventScroll: true });
    this.draft.changed();
    announce(`${tag.closest("label").lastChild.data.trim()}, ${tag.checked ? "chosen" : "not chosen"}`);
    return true;
  }

  advance() {
    const { questions } = this;
    const rest = questions.slice(questions.indexOf(this.current) + 1);
    this.be(rest.find((question) => !answered(question)) ?? this.current, { focus: true });
  }

  // --- rankings ---
  rank(key) {
    const list = this.current.querySelector("[data-ranking]");
    const rows = [...list.children].filter((row) => row.ariaDisabled !== "true");
    const row = rows.includes(document.activeElement.closest(".rank")) ? document.activeElement.closest(".rank") : rows.find((one) => !rankOf(one)) ?? rows[0];
    if (!row || Number(key) < 1 || Number(key) > list.children.length) return false;
    row.querySelector("input").value = key;
    this.ranked(list);
    announce(`${letter(row)}, rank ${key}`);
    const next = rows.find((one) => !rankOf(one));
    if (next) next.focus({ preventScroll: true });
    else if (answered(this.current)) this.advance();
    return true;
  }

  // One place up or down, which gives every candidate the rank of its place.
  shift(row, by) {
    const list = row.parentElement;
    const rows = [...list.children].filter((one) => one.ariaDisabled !== "true");
    const place = rows.indexOf(row);
    const to = place + by;
    if (place < 0 || to < 0 || to >= rows.length) return true;
    if (by > 0) rows[to].after(row);
    else rows[to].before(row);
    this.rankByPlace(list);
    row.focus({ preventScroll: true });
    announce(`${letter(row)} is ${to + 1} of ${rows.length}`);
    return true;
  }

  rankByPlace(list) {
    const rows = [...list.children].filter((row) => row.ariaDisabled !== "true");
    rows.forEach((row, place) => { row.querySelector("input").value = place + 1; });
    this.ranked(list);
  }

  ranked(list) {
    this.showOrder(list);
    this.draft.changed();
  }

  // Rows stand in the order of their ranks, those without one after them; the order in words below.
  showOrder(list) {
    const rows = [...list.children];
    const order = (row) => (row.ariaDisabled === "true" ? 99 : rankOf(row) || 98);
    const sorted = [...rows].sort((a, b) => order(a) - order(b) || Number(a.dataset.of) - Number(b.dataset.of));
    const { activeElement } = document;
    if (sorted.some((row, place) => row !== rows[place])) {
      list.append(...sorted);
      if (list.contains(activeElement)) activeElement.focus({ preventScroll: true });
    }
    const ranked = new Map();
    for (const row of sorted) {
      const rank = row.ariaDisabled === "true" ? 0 : rankOf(row);
      row.setAttribute("aria-label", `${letter(row)}, ${row.ariaDisabled === "true" ? "fails a gate" : rank ? `rank ${rank}` : "no rank yet"}`);
      if (rank) ranked.set(rank, [...(ranked.get(rank) ?? []), letter(row)]);
    }
    list.parentElement.querySelector("[data-order]").textContent = [...ranked.keys()].sort((a, b) => a - b).map((rank) => ranked.get(rank).join(" = ")).join(" > ");
  }

  listenTo(list) {
    let row = null;
    list.addEventListener("pointerdown", (event) => {
      const grip = event.target.closest(".grip");
      if (!grip || grip.closest(".rank").ariaDisabled === "true") return;
      row = grip.closest(".rank");
      row.classList.add("dragged");
      list.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    list.addEventListener("pointermove", (event) => {
      if (!row) return;
      const others = [...list.children].filter((one) => one !== row && one.ariaDisabled !== "true");
      const below = others.find((one) => { const box = one.getBoundingClientRect(); return event.clientY < box.top + box.height / 2; });
      if (below) below.before(row);
      else others.at(-1)?.after(row);
    });
    for (const end of ["pointerup", "pointercancel"]) {
      list.addEventListener(end, () => {
        if (!row) return;
        row.classList.remove("dragged");
        const moved = row;
        row = null;
        this.rankByPlace(list);
        moved.focus({ preventScroll: true });
        announce(list.parentElement.querySelector("[data-order]").textContent);
      });
    }
  }

  // --- what follows from the answers ---
  reread() {
    for (const line of this.form.querySelectorAll(".anchors [data-value]")) {
      line.classList.toggle("chosen", line.closest(".criterion").querySelector(":checked")?.value === line.dataset.value);
    }
    const states = this.gateStates();
    const open = this.wholePasses();
    for (const section of this.form.querySelectorAll("[data-candidate]")) {
      const state = states[Number(section.dataset.candidate) - 1];
      section.dataset.state = state;
      const graded = section.querySelector(".graded");
      if (graded) graded.disabled = !open || state !== "pass";
    }
    for (const question of this.form.querySelectorAll("[data-on]")) {
      const asked = this.asks(question);
      question.classList.toggle("asked", asked);
      question.disabled = !asked;
    }
    this.decide(states);
    try { this.evidence = JSON.parse(this.form.elements.evidence.value || "[]"); } catch { this.evidence = []; }
    this.showEvidence();
  }

  // Whether every gate of the whole item passes: until then there is no quality, of it or of a candidate.
  wholePasses() {
    return [...this.form.querySelectorAll(".gate[data-place='']")].every((gate) => gate.querySelector(":checked")?.value === "pass");
  }

  // Of each candidate: open, pass, fail or unsure.
  gateStates() {
    return Array.from({ length: this.places }, (_one, index) => {
      const gates = [...this.form.querySelectorAll(`[data-candidate="${index + 1}"] .gate`)];
      const answers = gates.map((gate) => gate.querySelector(":checked")?.value ?? "open");
      return ["fail", "unsure", "open"].find((answer) => answers.includes(answer)) ?? "pass";
    });
  }

  decide(states) {
    const open = this.wholePasses();
    const passing = states.flatMap((state, index) => (state === "pass" ? [index + 1] : []));
    const said = !open ? "Answer the gates first. The preference opens when they pass." : this.verdict(states, passing);
    const locked = passing.length < 2 || !open;
    const line = this.form.querySelector("[data-decided]");
    line.hidden = !said;
    if (line.textContent !== said) line.textContent = said;
    this.form.querySelector(".open-preferences").disabled = locked;
    for (const choice of this.form.querySelectorAll(".preferences [data-of]")) {
      const fails = !passing.includes(Number(choice.dataset.of));
      const never = fails || (choice.closest(".worst") && passing.length < this.places);
      choice.ariaDisabled = String(Boolean(never));
      for (const input of choice.querySelectorAll("input")) input.disabled = Boolean(never);
    }
    for (const worst of this.form.querySelectorAll(".worst")) worst.hidden = passing.length < this.places;
    for (const list of this.form.querySelectorAll("[data-ranking]")) this.showOrder(list);
  }

  // What the gates say of the preference, or nothing where all pass.
  verdict(states, passing) {
    const names = (places) => places.map((place) => this.sides.letter(place)).join(" and ");
    const failing = states.flatMap((state, index) => (state === "pass" || state === "open" ? [] : [index + 1]));
    if (states.includes("open")) return failing.length && this.places === 2 ? "Answer the other’s gates too." : "Answer the gates first. The preference opens when they pass.";
    if (!failing.length) return "";
    const why = (place) => (states[place - 1] === "unsure" ? "is left open at a gate" : "fails a gate");
    if (!passing.length) return this.places === 2 ? "Neither passes every gate, so neither is preferred." : "None passes every gate, so none is preferred.";
    if (passing.length === 1) return this.places === 2 ? `${names(failing)} ${why(failing[0])}, so ${names(passing)} is preferred.` : `Only ${names(passing)} passes every gate, so it is preferred.`;
    return failing.length === 1 ? `${names(failing)} ${why(failing[0])}, so it stands below the others.` : `${names(failing)} do not pass every gate, so they stand below the others.`;
  }

  wantsEvidence(question) {
    const { rule, key, worst, place } = question.dataset;
    const value = question.querySelector(":checked")?.value;
    const asked = rule === "always" || (rule === "on_fail" && worst && value === worst);
    return Boolean(asked) && !this.evidence.some((cited) => cited.criterion === key && (!place || cited.part || cited.candidate === Number(place)));
  }

  // Of a candidate, a question hangs on an answer about the same one.
  asks(question) {
    const { on, values, place } = question.dataset;
    if (!on) return true;
    const source = this.form.querySelector(`#c-${place ? `${place}-` : ""}${on}`);
    return Boolean(source) && this.asks(source) && [...source.querySelectorAll(":checked")].some((input) => values.split(" ").includes(input.dataset.number));
  }

  showFailure() { /* where it failed is a number beside its candidate */ }

  failHere() {
    const place = this.sides.place || this.sides.shown;
    const field = this.form.querySelector(`#failure-step-${place}`);
    if (!field?.getClientRects().length) return false;
    field.value = this.sides.number;
    this.draft.changed();
    announce(`Step ${this.sides.number} is where ${this.sides.letter(place)} failed`);
    this.be(field.closest(".criterion"));
    this.advance();
    return true;
  }

  // --- citations ---
  cite(given) {
    const selection = document.getSelection();
    if (selection?.rangeCount && !selection.isCollapsed) this.sides.be(this.sides.of(selection.anchorNode));
    const where = given ?? selected();
    const { place: at, shown } = this.sides;
    let target = this.target ?? this.questions.find((question) => question.querySelector("[data-chips]"));
    if (!target) return;
    const own = Number(target.dataset.place);
    // A step of B shows something of B: the same question of the candidate that is read.
    if (own && at && own !== at && !where?.policy_line) target = this.twin(target, at) ?? target;
    const candidate = Number(target.dataset.place) || at || shown;
    const cited = { criterion: target.dataset.key === FAILURE ? null : target.dataset.key, candidate, ...(where ?? { step: this.sides.number }) };
    const same = (other) => JSON.stringify(other) === JSON.stringify(cited);
    if (!this.evidence.some(same)) this.evidence.push(cited);
    selection?.removeAllRanges();
    this.keepEvidence();
    announce(`Cited ${this.words(cited)} for ${target.querySelector("legend").firstChild.data.trim()}`);
  }

  twin(question, place) {
    const { key } = question.dataset;
    return this.form.querySelector(`.criterion[data-key="${CSS.escape(key)}"][data-place="${place}"]`);
  }

  words(cited) {
    return cited.policy_line ? `line ${cited.policy_line} of the policy` : `step ${cited.step} of ${this.sides.letter(cited.candidate)}${cited.quote ? `, “${cited.quote}”` : ""}`;
  }

  showEvidence() {
    for (const row of this.form.querySelectorAll("[data-chips]")) {
      const { key, place } = row.closest(".criterion").dataset;
      const belongs = (cited) => (cited.criterion ?? (cited.mark ? "" : FAILURE)) === key && (!place || cited.part || cited.candidate === Number(place));
      row.replaceChildren(...this.evidence.flatMap((cited, index) => (belongs(cited) ? [this.chip(cited, index)] : [])));
    }
    const { runs } = this.sides;
    const shared = runs.find((run) => !run.place);
    for (const run of runs) {
      const here = (cited) => (run.place ? cited.candidate === run.place && !(shared && cited.step <= shared.count) : shared && cited.step <= shared.count);
      const own = this.evidence.map((cited) => (here(cited) ? cited : {}));
      mark(run.main, own, (index) => this.number(index));
      run.markCited(new Set(own.map((cited) => cited.step).filter(Boolean)));
    }
    const lines = new Set(this.evidence.map((cited) => cited.policy_line));
    for (const line of document.querySelectorAll("[data-policy]")) line.classList.toggle("cited", lines.has(Number(line.dataset.policy)));
    this.sides.highlight();
  }

  chip(cited, index) {
    const chip = super.chip(cited, index);
    if (cited.policy_line) return chip;
    const link = chip.querySelector("a");
    link.querySelector("b").textContent = `${this.number(index)} · ${this.sides.letter(cited.candidate)}${cited.step}`;
    link.href = `#${this.sides.letter(cited.candidate).toLowerCase()}-step-${cited.step}`;
    link.addEventListener("click", (event) => { event.preventDefault(); this.sides.goTo(cited.candidate, cited.step); });
    chip.querySelector("button").setAttribute("aria-label", `Remove the citation of ${this.words(cited)}`);
    return chip;
  }

  showTarget() {
    for (const button of this.form.querySelectorAll("[data-cite]")) button.lastChild.data = ` cite ${this.sides.name}${this.sides.number}`;
  }
}

const rankOf = (row) => Number(row.querySelector("input").value) || 0;
const letter = (row) => row.querySelector("b").textContent;
const answered = (question) => {
  const rows = [...question.querySelectorAll(".rank:not([aria-disabled=true])")];
  if (rows.length) return rows.every(rankOf);
  return Boolean(question.querySelector(":checked")) || Boolean(question.querySelector("input:not([type=radio], [type=checkbox], [data-narrow]), textarea")?.value);
};
