// The review of a task: marks on the text of its parts, and citations that point into them. The rest is Preference's.
import { announce } from "./keys.js";
import { markIn, selected } from "./citing.js";
import { Preference } from "./preference.js";

export class TaskReview extends Preference {
  clicked(target) {
    const button = target.closest("[data-mark]");
    if (button) this.markAs(button);
    else super.clicked(target);
  }

  decide() { /* nothing is preferred */ }

  // A digit at the marks says what the selected text, or the step, is.
  answer(key) {
    const button = this.current?.querySelector(`[data-mark][aria-keyshortcuts="${CSS.escape(key)}"]`);
    if (!button) return super.answer(key);
    this.markAs(button);
    return true;
  }

  toMarks() {
    const marks = this.form.querySelector("#of-marks");
    if (!marks) return false;
    if (this.current !== marks) this.before = this.current;
    this.be(marks);
    marks.scrollIntoView({ block: "nearest" });
    announce("Marks: press the number of what it is");
    return true;
  }

  markAs(button) {
    const where = selected();
    const place = this.sides.place || this.sides.shown;
    if (where?.policy_line) return;
    const cited = where?.part ? { criterion: null, ...where } : { criterion: null, candidate: place, ...(where ?? { step: this.sides.number }) };
    this.evidence.push({ ...cited, mark: button.dataset.mark });
    document.getSelection()?.removeAllRanges();
    this.keepEvidence();
    announce(`${button.dataset.name}: ${this.words(cited)}`);
    // Back to what was being answered.
    this.be(this.before);
  }

  // A part of the task is in no run, whichever is being read.
  cite(given) {
    const where = given ?? selected();
    const target = this.target ?? this.questions.find((question) => question.querySelector("[data-chips]"));
    if (!where?.part || !target) return super.cite(given);
    this.evidence.push({ criterion: target.dataset.key, ...where });
    document.getSelection()?.removeAllRanges();
    this.keepEvidence();
    announce(`Cited ${this.words(where)} for ${target.querySelector("legend").firstChild.data.trim()}`);
  }

  advance() {
    super.advance();
    if (this.current.id === "of-marks") super.advance();
  }

  words(cited) { return cited.part ? `“${cited.quote}” in the ${cited.part}` : super.words(cited); }

  nameOf(cited) {
    return this.form.querySelector(`[data-mark="${CSS.escape(cited.mark ?? "")}"]`)?.dataset.name ?? "";
  }

  number(index) {
    const name = this.nameOf(this.evidence[index]);
    const count = this.evidence.slice(0, index + 1).filter((cited) => cited.step || cited.part).length;
    return name ? `${count} ${name}` : count;
  }

  showEvidence() {
    super.showEvidence();
    const marks = this.evidence.flatMap((cited, index) => (cited.criterion === null && cited.mark ? [this.chip(cited, index)] : []));
    this.form.querySelector("[data-marked]")?.replaceChildren(...marks);
    for (const part of this.run.main.querySelectorAll("[data-part]")) {
      markIn(part, this.evidence.map((cited, index) => (cited.part === part.dataset.part ? { ...cited, number: this.number(index) } : null)).filter(Boolean));
    }
  }

  chip(cited, index) {
    const chip = super.chip(cited, index);
    if (!cited.part) return chip;
    const link = chip.querySelector("a");
    link.querySelector("b").textContent = `${this.number(index)} · ${cited.part}`;
    link.href = `#part-${cited.part}`;
    return chip;
  }
}
