// Citations: from a selection to places in the reading text (in code points), and back to marks in the page.

import { hiding, reveal, textsIn } from "./steps.js";

// What the selection cites, or null: a line of the policy, a quote from one field of one step or from a part of a task.
export function selected() {
  const selection = document.getSelection();
  if (!selection || selection.isCollapsed || !selection.rangeCount) return null;
  const range = selection.getRangeAt(0).cloneRange();
  const start = elementOf(range.startContainer);
  const line = start.closest("[data-policy]");
  if (line) return { policy_line: Number(line.dataset.policy) };
  const part = start.closest("[data-part]");
  const field = part ?? start.closest("[data-field]");
  const step = start.closest("[data-step]");
  if (!field || !(part || step)) return null;
  keepInside(range, field);
  const before = new Range();
  before.setStart(field, 0);
  before.setEnd(range.startContainer, range.startOffset);
  const text = range.toString();
  const quote = text.trim();
  if (!quote) return null;
  const from = [...before.toString()].length + [...text.slice(0, text.indexOf(quote))].length;
  const span = { start: from, end: from + [...quote].length, quote };
  return part ? { part: part.dataset.part, ...span } : { step: Number(step.dataset.step), field: field.dataset.field, ...span };
}

const elementOf = (node) => (node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement);

// A selection that runs on into the next field, or into the link to more text, ends where the field's text ends.
function keepInside(range, field) {
  const more = field.querySelector(".more");
  if (!field.contains(range.endContainer)) range.setEnd(field, field.childNodes.length);
  if (more && range.intersectsNode(more)) range.setEndBefore(more);
}

// Marks every quote that stands on the page; `number` gives each citation's number.
export function mark(main, evidence, number) {
  clear(main);
  evidence.forEach((cited, index) => {
    if (!cited.quote) return;
    const field = main.querySelector(`[data-step="${cited.step}"]`)?.querySelector(`[data-field="${CSS.escape(cited.field)}"]`);
    if (field) wrap(field, cited.start, cited.end, number(index));
  });
}

// Marks spans of one part of a task: each has its number, and what it is marked as.
export function markIn(part, spans) {
  clear(part);
  for (const { start, end, number, mark: as } of spans) wrap(part, start, end, number, as);
}

function clear(element) {
  for (const old of element.querySelectorAll("mark")) {
    const parent = old.parentNode;
    old.replaceWith(...old.childNodes);
    parent.normalize();
  }
}

function wrap(field, start, end, number, as) {
  const nodes = [...textsIn(field)];
  let place = 0;
  let last;
  for (const node of nodes) {
    const points = [...node.data];
    const from = Math.max(start - place, 0);
    const to = Math.min(end - place, points.length);
    place += points.length;
    if (from >= to) continue;
    const range = new Range();
    range.setStart(node, points.slice(0, from).join("").length);
    range.setEnd(node, points.slice(0, to).join("").length);
    const made = document.createElement("mark");
    if (as) made.dataset.mark = as;
    range.surroundContents(made);
    reveal(made);
    // The number stands where it is seen.
    if (!last || !hiding(made)) last = made;
  }
  if (last) last.dataset.n = number;
}
