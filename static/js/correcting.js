// What the agent should have done: a form of the server's in a dialog, and its cards in the judgment.
import { announce } from "./keys.js";

export class Corrections {
  // `changed` is told when a correction came, changed or went.
  constructor(form, run, changed) {
    this.form = form;
    this.run = run;
    this.changed = changed;
    this.list = form.querySelector("#corrections");
    if (!this.list) return;
    this.dialog = document.getElementById("correct");
    this.body = this.dialog.querySelector(".dialog-body");
    this.list.addEventListener("click", (event) => this.clicked(event.target));
    this.dialog.onclick = (event) => { if (event.target.closest("[data-close]")) this.dialog.close(); };
    this.dialog.onchange = (event) => this.choose(event.target);
    this.dialog.onkeydown = (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.body.querySelector("[type=submit].primary").click();
    };
    this.dialog.onsubmit = (event) => this.send(event);
  }

  get url() { return this.list.dataset.url; }

  clicked(target) {
    const anew = target.closest("[data-correct-step]");
    if (anew) void this.write(Number(anew.dataset.correctStep));
    else if (target.closest("[data-correct-here]")) void this.write();
    else if (target.closest("[data-correct-drop]")) { target.closest(".correction").remove(); this.keep("Removed."); }
  }

  // A correction of this step, or of the one that is read.
  async write(step = Number(this.run.current?.dataset.step)) {
    if (!this.list || !step) return false;
    const answer = await fetch(`${this.url}form/?step=${step}`).catch(() => null);
    if (!answer?.ok) { announce(await reason(answer)); return true; }
    this.show(await answer.text());
    this.dialog.showModal();
    return true;
  }

  show(html) {
    this.body.innerHTML = html;
    this.body.querySelector("[autofocus]:not([hidden])")?.focus();
  }

  // A message has a text; a call has arguments and perhaps an answer.
  choose(select) {
    if (!select.matches("[data-what]")) return;
    const step = select.closest(".written-step");
    for (const part of step.querySelectorAll("[data-call]")) part.hidden = !select.value;
    step.querySelector("[data-message]").hidden = Boolean(select.value);
  }

  async send(event) {
    event.preventDefault();
    const body = new FormData(event.target, event.submitter);
    const answer = await fetch(event.target.action, { method: "POST", body }).catch(() => null);
    if (answer?.status === 422) return this.show(await answer.text());
    if (!answer?.ok) return this.body.querySelector(".need, .actions").before(warning(await reason(answer)));
    const html = await answer.text();
    if (html.includes('id="correction-form"')) return this.show(html);
    this.dialog.close();
    this.put(html);
  }

  // One correction per step, in their order.
  put(html) {
    const card = document.createRange().createContextualFragment(html).querySelector(".correction");
    this.list.querySelector(`.correction[data-step="${card.dataset.step}"]`)?.remove();
    const after = [...this.list.querySelectorAll(".correction")].find((other) => Number(other.dataset.step) > Number(card.dataset.step));
    this.list.querySelector("[data-cards]").insertBefore(card, after ?? null);
    this.keep(`Step ${card.dataset.step} is corrected.`);
  }

  keep(words) {
    const given = [...this.list.querySelectorAll(".correction")].map((card) => JSON.parse(card.dataset.correction));
    this.form.elements.corrections.value = JSON.stringify(given);
    this.changed();
    announce(words);
  }
}

async function reason(answer) {
  if (!answer) return "No connection. Try again in a moment.";
  const words = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main p, .notice")?.textContent;
  return words?.trim() || "This step cannot be corrected. Go to a step of the agent first.";
}

function warning(words) {
  const line = document.createElement("p");
  line.className = "need";
  line.textContent = words;
  return line;
}
