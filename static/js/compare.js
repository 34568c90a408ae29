// Two runs side by side: n and N go from one difference to the next, and fetch more rows where they are not there yet.
import { announce, listen } from "./keys.js";

const differences = () => [...document.querySelectorAll(".rows [data-differs]")];
let at = null;

function mark(row) {
  at?.classList.remove("at");
  at = row;
  row.classList.add("at");
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "center" });
  const all = differences();
  announce(`Difference ${all.indexOf(row) + 1} of ${all.length} shown`);
}

function go(by) {
  const all = differences();
  const here = all.indexOf(at);
  const next = at ? all[here + by] : all[by > 0 ? 0 : all.length - 1];
  if (next) mark(next);
  else if (by > 0) more();
}

// What follows comes as one list of rows; the key is pressed again for the reader once it is here.
function more() {
  const link = document.querySelector(".rows [data-more] a");
  if (!link) return announce("No more differences");
  link.click();
  document.body.addEventListener("htmx:afterSettle", () => go(1), { once: true });
}

listen({ n: () => go(1), N: () => go(-1) });
