// What this browser keeps of a form until the server has it: one entry per person and assignment.

// False where the browser keeps nothing: its storage is closed or full.
export function keep(name, form, more = {}) {
  const entries = [...new FormData(form)].filter(([field]) => field !== "csrfmiddlewaretoken");
  try {
    localStorage.setItem(name, JSON.stringify({ entries, ...more }));
    return true;
  } catch { return false; }
}

export function kept(name) {
  try { return JSON.parse(localStorage.getItem(name)); } catch { return null; }
}

export function drop(name) {
  try { localStorage.removeItem(name); } catch { /* nothing was kept */ }
}

// Puts entries back into the form they came from.
export function fill(form, entries) {
  for (const field of form.elements) {
    if (!field.name || field.name === "csrfmiddlewaretoken") continue;
    const values = entries.filter(([name]) => name === field.name).map(([, value]) => value);
    if (["radio", "checkbox"].includes(field.type)) field.checked = values.includes(field.value);
    else if (values.length === 1) [field.value] = values;
  }
}
