// The settings of keys: a field takes the key that is pressed in it.
import { announce, namesOf } from "./keys.js";

// These move between fields, send, or mean the browser.
const NOT_TAKEN = ["Tab", "Enter", "Escape", "Backspace", "Delete", " ", "Shift"];
const ARROWS = ["ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight"];

document.addEventListener("keydown", (event) => {
  if (!event.target.matches("[data-press]") || event.isComposing || NOT_TAKEN.includes(event.key)) return;
  const names = namesOf(event);
  // On a keyboard without Latin letters, the letter that stands in the same place.
  const name = names.find((one) => /^[a-z]$/i.test(one)) ?? names[0];
  if (!name || ([...name].length > 1 && !ARROWS.includes(name))) return;
  event.preventDefault();
  event.target.value = name;
  event.target.select();
  announce(`${name} for ${event.target.labels[0].textContent}`);
});
document.addEventListener("focusin", (event) => { if (event.target.matches("[data-press]")) event.target.select(); });
