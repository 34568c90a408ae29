// What questions show of themselves: those that are asked only after some answers, and long lists narrowed down.

// One that depends on a question that is not asked is not asked either.
const isAsked = (form, { dataset: { on, values } }) => {
  if (!on) return true;
  const source = form.querySelector(`#c-${on}`);
  return Boolean(source) && isAsked(form, source) && [...source.querySelectorAll(":checked")].some((input) => values.split(" ").includes(input.dataset.number));
};

// What is not asked is out of sight and is not sent.
export function ask(form) {
  for (const question of form.querySelectorAll("[data-on]")) {
    const asked = isAsked(form, question);
    question.classList.toggle("asked", asked);
    question.disabled = !asked;
  }
}

// A list of options with only those that have the words written above it.
export function narrow(field) {
  const wanted = field.value.trim().toLowerCase();
  for (const choice of listOf(field).querySelectorAll(".choice")) choice.hidden = !choice.textContent.toLowerCase().includes(wanted);
}

export const choicesShown = (field) => [...listOf(field).querySelectorAll(".choice:not([hidden]) input")];
const listOf = (element) => element.closest(".criterion, .yours");
