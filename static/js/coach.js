// Three first steps, shown once to whoever judges for the first time, on whatever machine.

let before;

export function coach({ again = false } = {}) {
  const box = document.getElementById("coach");
  if (!box || (!again && "seen" in box.dataset)) return;
  const cards = [...box.querySelectorAll("[data-card]")];
  const dots = [...box.querySelectorAll(".dots i")];
  const next = box.querySelector("[data-coach=next]");
  let at = 0;
  const show = () => {
    document.querySelector(".coached")?.classList.remove("coached");
    cards.forEach((card, index) => { card.hidden = index !== at; });
    dots.forEach((dot, index) => dot.classList.toggle("on", index === at));
    document.querySelector(cards[at].dataset.card)?.classList.add("coached");
    next.textContent = at < cards.length - 1 ? "Next" : "Begin";
    // The dialog's words are those of the card; with the focus on it they are read out, and Enter goes on.
    box.setAttribute("aria-labelledby", cards[at].querySelector("h2").id);
    box.setAttribute("aria-describedby", cards[at].querySelector("p").id);
    cards[at].focus({ preventScroll: true });
  };
  box.onclick = (event) => {
    const choice = event.target.closest("[data-coach]")?.dataset.coach;
    if (choice === "next" && at < cards.length - 1) { at += 1; show(); } else if (choice) close();
  };
  box.onkeydown = (event) => {
    if (event.key !== "Enter" || event.target.closest("button")) return;
    event.preventDefault();
    next.click();
  };
  before = document.activeElement;
  box.showPopover();
  show();
}

export function close() {
  const box = document.getElementById("coach");
  document.querySelector(".coached")?.classList.remove("coached");
  if (!box?.matches(":popover-open")) return false;
  box.hidePopover();
  before?.focus({ preventScroll: true });
  if (!("seen" in box.dataset)) {
    box.dataset.seen = "";
    const token = document.querySelector("#judgment [name=csrfmiddlewaretoken]").value;
    fetch(box.dataset.url, { method: "POST", headers: { "X-CSRFToken": token }, keepalive: true }).catch(() => { /* it will be shown again */ });
  }
  return true;
}
