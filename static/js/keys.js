// Keys for the whole page. They are silent while somebody types, and while a dialog is open.

const typing = (element) => element.closest?.("textarea, select, [contenteditable], [role=textbox], input:not([type=radio], [type=checkbox], [type=button], [type=submit])");
const busy = () => document.querySelector("dialog[open], [popover]:popover-open:not(.coach)");

// What a pressed key may be called: by what it writes, and where that is no Latin letter or no digit, by where it is.
// Empty for what belongs to the browser, to a menu or to whoever composes a character.
export function namesOf(event) {
  const { key, code } = event;
  if (!key || event.isComposing || event.keyCode === 229) return [];
  // AltGr writes characters; some systems report it as Ctrl and Alt together.
  if (event.getModifierState("AltGraph")) return [...key].length === 1 ? [key] : [];
  if (event.altKey) return [];
  if (event.ctrlKey || event.metaKey) return key === "Enter" ? ["Control+Enter"] : [];
  if (/^[a-z]$/i.test(key)) return [event.getModifierState("CapsLock") ? inCase(key, event) : key];
  const letter = /^Key([A-Z])$/.exec(code)?.[1];
  if (letter && /^\P{ASCII}$/u.test(key)) return [key, inCase(letter, event)];
  const digit = /^Digit(\d)$/.exec(code)?.[1];
  if (digit && !event.shiftKey) return [key, digit];
  return [key];
}

const inCase = (letter, { shiftKey }) => (shiftKey ? letter.toUpperCase() : letter.toLowerCase());

// `keys` gives a function per key, and may itself be a function that gives them. One that returns false leaves the key
// to the browser.
export function listen(keys) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented) return;
    const known = typeof keys === "function" ? keys() : keys;
    const meant = (name) => known[name] ?? (/^\d$/.test(name) ? known.digit : undefined);
    const name = namesOf(event).find(meant);
    if (!name) return;
    if (typing(event.target) && name !== "Control+Enter" && name !== "Escape") return;
    if (busy()) return;
    if (meant(name)(event, name) !== false) event.preventDefault();
  });
}

// For what must not happen again and again while a key is held.
export const once = (act) => (event, name) => (event.repeat ? undefined : act(event, name));

export { typing };

export function announce(words) {
  document.getElementById("announce").textContent = words;
}
