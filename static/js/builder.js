// The rubric builder: shows while one writes how raters will see it, and moves criteria by pointer or Alt and an arrow.
// Everything is done by the form's own buttons, so nothing here knows what a rubric is.

const AFTER_TYPING = 500;
let waiting = 0;
let dragged = null;

const form = () => document.getElementById("builder");

// --- Preview --------------------------------------------------------------------------------------------------------
async function preview() {
  const place = document.getElementById("preview");
  const body = new FormData(form());
  body.set("do", "look");
  const answer = await fetch(place.dataset.preview, { method: "POST", body: new URLSearchParams(body) });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const drawn = page.getElementById("preview");
  if (drawn) place.replaceChildren(...drawn.childNodes);
}

document.addEventListener("input", (event) => {
  if (!event.target.closest("#builder")) return;
  clearTimeout(waiting);
  waiting = setTimeout(preview, AFTER_TYPING);
});

// What a choice brings along, as the answers that a condition can look at, is drawn by the server.
document.addEventListener("change", (event) => {
  if (event.target.matches("#builder [data-look]")) press("look");
});

function press(what) {
  clearTimeout(waiting);
  const button = Object.assign(document.createElement("button"), { name: "do", value: what, hidden: true });
  button.formNoValidate = true;
  form().append(button);
  button.click();
}

// --- Mistakes -------------------------------------------------------------------------------------------------------
// Whoever saved at the foot of the page is led to the first thing that needs a look.
document.addEventListener("htmx:afterSettle", () => {
  const wrong = form()?.querySelector(":scope > [role=alert]") && form().querySelector("[aria-invalid], .need");
  if (!wrong) return;
  const fields = "input:not([type=hidden]), select, textarea";
  const field = wrong.matches(fields) ? wrong : wrong.closest(".field-row, .levels-edit, .card, .choice-row")?.querySelector(fields);
  (field ?? wrong).scrollIntoView({ block: "center" });
  field?.focus({ preventScroll: true });
});

// --- Order ----------------------------------------------------------------------------------------------------------
document.addEventListener("keydown", (event) => {
  if (!event.altKey || !["ArrowUp", "ArrowDown"].includes(event.key)) return;
  const criterion = event.target.closest("[data-place]");
  if (!criterion) return;
  event.preventDefault();
  const verb = event.key === "ArrowUp" ? "up" : "down";
  criterion.querySelector(`[value="${verb}-${criterion.dataset.place}"]:enabled`)?.click();
});

document.addEventListener("pointerdown", (event) => {
  const grip = event.target.closest("[data-grip]");
  if (!grip || event.button) return;
  event.preventDefault();
  dragged = grip.closest("[data-place]");
  dragged.classList.add("dragged");
});

document.addEventListener("pointermove", (event) => {
  if (dragged) mark(landing(event.clientY));
});

document.addEventListener("pointerup", (event) => {
  if (!dragged) return;
  const from = Number(dragged.dataset.place);
  const to = landing(event.clientY);
  mark(null);
  dragged.classList.remove("dragged");
  dragged = null;
  if (to !== from) press(`move-${from}-${to}`);
});

document.addEventListener("pointercancel", () => {
  mark(null);
  dragged?.classList.remove("dragged");
  dragged = null;
});

// The place that what is dragged would have among the others.
function landing(y) {
  const others = criteria().filter((one) => one !== dragged);
  return others.filter((one) => middle(one) < y).length;
}

function mark(to) {
  for (const one of criteria()) one.classList.remove("drop-before", "drop-after");
  if (to === null) return;
  const from = Number(dragged.dataset.place);
  if (to !== from) criteria()[to].classList.add(to < from ? "drop-before" : "drop-after");
}

const criteria = () => [...document.querySelectorAll("[data-criteria] > [data-place]")];

function middle(one) {
  const { top, height } = one.getBoundingClientRect();
  return top + height / 2;
}
