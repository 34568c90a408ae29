// The judgment: which question is meant by the keys, gates that lock quality, citations, and sending it all.
import { ask, choicesShown, narrow } from "./asked.js";
import { announce } from "./keys.js";
import { drop } from "./kept.js";
import { mark, selected } from "./citing.js";
import { Corrections } from "./correcting.js";
import { Draft, freshToken } from "./draft.js";
import { Labels } from "./labels.js";
import { Worked } from "./worked.js";

export class Judgment {
  constructor(form, run) {
    this.form = form;
    this.run = run;
    this.evidence = JSON.parse(form.elements.evidence.value || "[]");
    this.quality = form.querySelector(".quality");
    this.failureStep = form.querySelector("#failure-step");
    this.worked = new Worked(form, (version) => this.draft.stands(version));
    this.labels = Labels.of(form, run, () => { this.draft.changed(); this.showSteps(); });
    this.draft = new Draft(form, { reread: () => this.reread(), refresh: (words) => this.refresh(words), send: () => this.submit(), worked: this.worked });
    this.listen();
    this.reread();
    const wrong = form.querySelector(".criterion:has(.need)");
    if (wrong) this.be(wrong, { focus: true });
    else this.be(this.questions.find((question) => !answered(question) || this.wantsEvidence(question)) ?? this.questions[0]);
    this.corrections = new Corrections(form, run, () => this.draft.changed());
    this.draft.restore();
  }

  get questions() {
    return [...this.form.querySelectorAll(".criterion")].filter((question) => question.getClientRects().length);
  }

  listen() {
    const { form, run } = this;
    let pointer = false;
    form.addEventListener("pointerdown", () => { pointer = true; });
    form.addEventListener("click", (event) => {
      pointer = false;
      this.be(event.target.closest(".criterion"));
      this.clicked(event.target);
    });
    // With the mouse a question becomes the current one only after the click, so that nothing moves under it.
    form.addEventListener("focusin", (event) => { if (!pointer) this.be(event.target.closest(".criterion")); });
    form.addEventListener("change", ({ target }) => {
      this.lookedAt(target);
      this.reread();
    });
    form.addEventListener("input", ({ target }) => {
      if (target.matches("[data-narrow]")) return narrow(target);
      this.showFailure();
      this.draft.changed();
    });
    form.addEventListener("keydown", (event) => this.inField(event));
    // Whoever leaves the form has it saved at once; from question to question the pause between two saves goes on.
    form.addEventListener("focusout", ({ relatedTarget }) => {
      if (!form.contains(relatedTarget) && this.draft.dirty && !this.draft.retries) this.draft.save();
    });
    form.addEventListener("htmx:configRequest", (event) => {
      freshToken(form);
      event.detail.parameters.set("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
      event.detail.parameters.set("worked", this.worked.claim());
    });
    form.addEventListener("htmx:beforeRequest", (event) => { if (event.target === form) this.draft.sending(); });
    for (const end of ["htmx:beforeOnLoad", "htmx:sendError", "htmx:timeout"]) {
      form.addEventListener(end, (event) => { if (event.target === form) this.answered(event.detail.xhr); });
    }
    run.main.addEventListener("at-step", () => this.showTarget());
  }

  clicked(target) {
    const chip = target.closest("[data-drop]");
    if (chip) this.drop(Number(chip.dataset.drop));
    else if (target.closest("[data-cite]")) this.cite();
    else if (target.closest("[data-here]")) this.failHere();
    else if (target.closest("[data-note]")) this.note();
  }

  // Taken, or sent back with what is missing: both come as a page. Anything else says why, if it says anything.
  answered({ status, responseText }) {
    if (status === 200) drop(this.draft.name);
    else if (status === 422) this.draft.sentBack();
    else this.draft.notSent(status, `Not submitted: ${reasonIn(responseText)}`);
  }

  // The form as it stands on the server takes the place of this one.
  async refresh(words) {
    const { id } = document.activeElement;
    await htmx.ajax("GET", this.run.url, { target: "#judgment", select: "#judgment", swap: "outerHTML show:none" });
    if (id) document.getElementById(id)?.focus({ preventScroll: true });
    announce(words);
  }

  // --- the current question ---
  be(question, { focus = false } = {}) {
    if (!question || !question.getClientRects().length) return;
    this.current?.classList.remove("at");
    this.current = question;
    question.classList.add("at");
    if (citable(question)) this.target = question;
    if (focus) holder(question).focus({ preventScroll: true });
    if (focus) question.scrollIntoView({ block: "nearest" });
    this.showTarget();
  }

  move(by) {
    const { questions } = this;
    const place = questions.indexOf(this.current) + by;
    if (place >= questions.length) this.form.elements.rationale.focus();
    else this.be(questions[Math.max(place, 0)], { focus: true });
  }

  answer(key) {
    const input = this.current?.querySelector(`input[aria-keyshortcuts="${CSS.escape(key)}"]`);
    if (!input) return this.write(key);
    if (input.matches(":disabled")) return false;
    input.checked = input.type === "radio" || !input.checked;
    input.dispatchEvent(new Event("change", { bubbles: true }));
    this.draft.changed();
    if (input.type === "checkbox") {
      input.focus({ preventScroll: true });
      announce(`${nameOf(input)}, ${input.checked ? "chosen" : "not chosen"}`);
      return true;
    }
    const said = `${title(this.current)}: ${nameOf(input)}`;
    if (this.wantsEvidence(this.current)) {
      this.be(this.current, { focus: true });
      announce(`${said}. Cite what shows it: e.`);
    } else {
      this.advance();
      announce(said);
    }
    return true;
  }

  // A number begins with the digit that is pressed.
  write(key) {
    const field = this.current?.querySelector("[inputmode=decimal]");
    if (!field || !/^\d$/.test(key) || field.matches(":disabled")) return false;
    field.value = key;
    field.focus({ preventScroll: true });
    field.dispatchEvent(new Event("input", { bubbles: true }));
    return true;
  }

  // Enter goes into the field of the marked question, and from a line on to the next question; arrows leave a line too.
  inField(event) {
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey) return;
    const line = target.matches("input[data-writes]");
    if (key === "Enter" && target.matches(".criterion") && fieldOf(target)) fieldOf(target).focus();
    else if (key === "Enter" && target.matches("[data-narrow]")) this.takeFirst(target);
    else if ((key === "ArrowDown" || key === "ArrowUp") && target.closest(".choices.list, [data-narrow]") && walk(target, key === "ArrowDown" ? 1 : -1)) { /* in the list */ }
    else if (key === "Enter" && line) this.advance();
    else if ((key === "ArrowDown" || key === "ArrowUp") && line) this.move(key === "ArrowDown" ? 1 : -1);
    else if (key === "Enter" && target.matches("input:not([type=submit])")) { /* a judgment is sent on purpose only */ }
    else return;
    event.preventDefault();
  }

  // The first of the options that are left takes the answer.
  takeFirst(field) {
    const [input] = choicesShown(field);
    if (!input) return;
    input.checked = input.type === "radio" || !input.checked;
    input.dispatchEvent(new Event("change", { bubbles: true }));
    this.draft.changed();
    announce(`${input.closest("label").textContent.trim()}, ${input.checked ? "chosen" : "not chosen"}`);
    if (input.type === "checkbox") field.select();
    else this.advance();
  }

  note() {
    const text = this.current?.querySelector(".note-of");
    if (!text) return false;
    text.classList.add("open");
    this.current.querySelector("[data-note]").ariaExpanded = "true";
    text.querySelector("textarea").focus({ preventScroll: true });
    text.scrollIntoView({ block: "nearest" });
    return true;
  }

  // From the steps to the question that was marked.
  back() {
    this.labels.be(false);
    this.be(this.current, { focus: true });
    return true;
  }

  // On to the next question that has no answer yet.
  advance() {
    const { questions } = this;
    const rest = questions.slice(questions.indexOf(this.current) + 1);
    this.be(rest.find((question) => !answered(question)) ?? this.current, { focus: true });
  }

  leaveText() {
    const question = document.activeElement.closest(".criterion") ?? this.questions.at(-1);
    document.activeElement.blur();
    this.be(question, { focus: Boolean(question) });
  }

  // --- what follows from the answers ---
  reread() {
    const gates = [...this.form.querySelectorAll(".gate")];
    if (this.quality) this.quality.disabled = gates.some((gate) => gate.querySelector(":checked")?.value !== "pass");
    for (const line of this.form.querySelectorAll(".anchors [data-value]")) {
      line.classList.toggle("chosen", line.closest(".criterion").querySelector(":checked")?.value === line.dataset.value);
    }
    ask(this.form);
    this.labels?.read();
    this.showSteps();
    try { this.evidence = JSON.parse(this.form.elements.evidence.value || "[]"); } catch { this.evidence = []; }
    this.showEvidence();
    this.showFailure();
  }

  // What was wrong when it was sent is no longer said where something else stands now.
  lookedAt(target) {
    target.closest("fieldset")?.querySelectorAll(":scope > .need").forEach((need) => need.remove());
    const line = this.form.querySelector("[data-wrong]");
    if (line && this.form.querySelector(".need")) line.textContent = "What is marked below still needs a look. Everything you entered is kept.";
    else line?.remove();
    this.form.querySelector("#wrong:not(:has(p))")?.remove();
  }

  showSteps() {
    const question = this.form.querySelector("#of-steps");
    if (question) question.dataset.done = this.labels.complete ? "yes" : "";
  }

  wantsEvidence(question) {
    const { rule, key, worst } = question.dataset;
    const value = question.querySelector(":checked")?.value;
    const asked = rule === "always" || (rule === "on_fail" && worst !== undefined && value === worst);
    return asked && !this.evidence.some((cited) => cited.criterion === key);
  }

  showFailure() {
    if (!this.failureStep) return;
    const number = Number(this.failureStep.value);
    const link = this.form.querySelector("[data-failure-link]");
    link.href = number ? `#step-${number}` : "#run";
    link.textContent = number ? this.run.label(number) : "";
    link.hidden = !link.textContent;
    for (const step of this.run.steps) step.classList.toggle("failure-point", Number(step.dataset.step) === number && this.failureStep.getClientRects().length > 0);
  }

  failHere() {
    if (!this.failureStep?.getClientRects().length) return false;
    this.failureStep.value = this.run.number;
    this.showFailure();
    this.draft.changed();
    announce(`Step ${this.run.number} is the failure point`);
    this.be(this.failureStep.closest(".criterion"));
    this.advance();
    return true;
  }

  // --- citations ---
  cite(given = selected()) {
    const target = this.target ?? this.questions.find(citable);
    if (!target) return;
    const criterion = target.dataset.key === "failure-point" ? null : target.dataset.key;
    const cited = { criterion, ...(given ?? { step: this.run.number }) };
    const same = (other) => JSON.stringify(other) === JSON.stringify(cited);
    if (!this.evidence.some(same)) this.evidence.push(cited);
    document.getSelection()?.removeAllRanges();
    this.lookedAt(target);
    this.keepEvidence();
    announce(`Cited ${words(cited)} for ${title(target)}`);
  }

  drop(index) {
    this.evidence.splice(index, 1);
    this.keepEvidence();
    this.current?.querySelector("[data-cite]")?.focus();
  }

  keepEvidence() {
    this.form.elements.evidence.value = JSON.stringify(this.evidence);
    this.showEvidence();
    this.draft.changed();
  }

  number(index) {
    return this.evidence.slice(0, index + 1).filter((cited) => cited.step).length;
  }

  showEvidence() {
    for (const row of this.form.querySelectorAll("[data-chips]")) {
      const key = row.closest(".criterion").dataset.key;
      const chips = this.evidence.flatMap((cited, index) => ((cited.criterion ?? "failure-point") === key ? [this.chip(cited, index)] : []));
      row.replaceChildren(...chips);
    }
    mark(this.run.main, this.evidence, (index) => this.number(index));
    this.run.markCited(new Set(this.evidence.map((cited) => cited.step)));
    const lines = new Set(this.evidence.map((cited) => cited.policy_line));
    for (const line of document.querySelectorAll("[data-policy]")) line.classList.toggle("cited", lines.has(Number(line.dataset.policy)));
    this.run.highlight();
  }

  chip(cited, index) {
    const chip = make("span", { className: "chip" });
    const link = make("a", { href: cited.policy_line ? `#policy-${cited.policy_line}` : `#step-${cited.step}` });
    link.append(make("b", { className: "num", textContent: cited.policy_line ? `policy ${cited.policy_line}` : `${this.number(index)} · step ${cited.step}` }));
    if (cited.quote) link.append(make("q", { dir: "auto", textContent: cited.quote.replace(/\x1b\[[\d;:]*m/g, "") }));
    const drop = make("button", { type: "button", textContent: "×" });
    drop.dataset.drop = index;
    drop.setAttribute("aria-label", `Remove the citation of ${words(cited)}`);
    chip.append(link, drop);
    return chip;
  }

  // Says beside "cite" what the key would cite now.
  showTarget() {
    for (const button of this.form.querySelectorAll("[data-cite]")) button.lastChild.data = ` cite step ${this.run.number}`;
  }

  submit() {
    this.form.requestSubmit();
  }
}

function reasonIn(text) {
  try { return JSON.parse(text).message; } catch { return "the server did not take it."; }
}

const answered = (question) => {
  if ("steps" in question.dataset) return Boolean(question.dataset.done);
  return Boolean(question.querySelector(":checked")) || Boolean(question.querySelector("input[type=number], [data-writes]:not([data-narrow])")?.value);
};
// What one writes into: a number, a text, or what narrows a long list down.
const fieldOf = (question) => question.querySelector("[data-writes]");
// What has the focus while a question is marked: its choices; where one writes the question itself, so that keys stay keys.
const holder = (question) => (fieldOf(question) ? question : question.querySelector(":checked") ?? question.querySelector("[type=radio], [type=checkbox], [data-here], [data-label]") ?? question);
// From one option of a long list to the next; false at its ends.
function walk(target, by) {
  const shown = choicesShown(target);
  const input = shown[shown.indexOf(target) + by];
  input?.focus();
  if (input?.type === "radio") input.click();
  return Boolean(input);
}
const nameOf = (input) => input.ariaLabel ?? input.closest("label").lastChild.data.trim();
const citable = (question) => Boolean(question.querySelector("[data-chips]"));
const title = (question) => question.querySelector("legend").firstChild.data.trim();
const words = (cited) => (cited.policy_line ? `line ${cited.policy_line} of the policy` : `step ${cited.step}${cited.quote ? `, “${cited.quote}”` : ""}`);

function make(tag, properties) {
  return Object.assign(document.createElement(tag), properties);
}
