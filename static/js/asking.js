// A question to the leads: opened with what it is about, sent without leaving the item, kept where sending fails.
import { freshToken } from "./draft.js";
import { announce } from "./keys.js";

const form = () => document.getElementById("ask-form");

// Opens the question; `about` is "item", "step" with the step's number and of several runs its place, or a line such as
// "policy-2".
export function ask(about, step, place) {
  const { elements } = form();
  elements.about.value = about;
  elements.step.value = step ?? "";
  if (elements.candidate && place) elements.candidate.value = place;
  const box = document.getElementById("ask");
  if (!box.matches(":popover-open")) box.showPopover();
  elements.text.focus();
}

function trouble(words) {
  const line = Object.assign(document.createElement("p"), { className: "notice error", textContent: words });
  document.getElementById("ask-trouble").replaceChildren(line);
}

document.addEventListener("click", (event) => {
  const line = event.target.closest("[data-ask]");
  if (line) ask(line.dataset.ask);
});

document.addEventListener("keydown", (event) => {
  // So are other forms that open over the page.
  if (event.key === "Enter" && event.ctrlKey) event.target.closest("[popover] form")?.requestSubmit();
});

document.addEventListener("htmx:configRequest", (event) => {
  if (event.target.id !== "ask-form") return;
  freshToken(event.target);
  event.detail.parameters.set("csrfmiddlewaretoken", event.target.elements.csrfmiddlewaretoken.value);
});

document.addEventListener("htmx:afterRequest", (event) => {
  if (event.target.id !== "ask-form") return;
  const { xhr, successful } = event.detail;
  const signedOut = xhr.responseURL && new URL(xhr.responseURL).pathname.startsWith("/accounts/");
  if (signedOut) trouble("Not sent: you are signed out. Sign in in another tab; your question stays here.");
  else if (successful) sent();
  else if (xhr.status !== 422) trouble("Not sent. Your question stays here; try again in a moment.");
});

function sent() {
  document.getElementById("ask").hidePopover();
  form().elements.text.value = "";
  document.getElementById("ask-trouble").replaceChildren();
  const saved = document.getElementById("saved");
  saved.textContent = "Question sent";
  saved.dataset.state = "saved";
  announce("Question sent. The answer comes here and to your first page.");
}
