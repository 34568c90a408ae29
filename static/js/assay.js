// What every page has: the choice of theme, and tabs that show which of them one is on.

function showTheme() {
  const theme = document.documentElement.dataset.theme ?? "";
  for (const radio of document.querySelectorAll("[data-theme-choice] input")) radio.checked = radio.value === theme;
}

document.addEventListener("change", (event) => {
  if (!event.target.closest("[data-theme-choice]")) return;
  const theme = event.target.value;
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  try {
    if (theme) localStorage.setItem("theme", theme);
    else localStorage.removeItem("theme");
  } catch { /* storage is closed: the choice holds for this page */ }
});

// What this browser keeps of somebody's unsaved work goes when they sign out.
document.addEventListener("submit", (event) => {
  const { signOut: person } = event.target.dataset;
  if (!person) return;
  try {
    for (const name of Object.keys(localStorage)) if (name.startsWith(`draft:${person}:`)) localStorage.removeItem(name);
  } catch { /* storage is closed: nothing was kept */ }
});

// A script that finds itself signed out leads to where one signs in; the judge page keeps its own counsel.
document.addEventListener("htmx:responseError", (event) => {
  if (event.detail.xhr.status !== 401 || document.getElementById("judgment")) return;
  location.assign(`/accounts/login/?next=${encodeURIComponent(location.pathname + location.search)}`);
});

// On a narrow screen the tabs scroll, and the one that is open may lie out of sight.
function showTab() {
  const tab = document.querySelector(".tabs [aria-current]");
  if (tab) tab.parentElement.scrollLeft = tab.offsetLeft - (tab.parentElement.clientWidth - tab.offsetWidth) / 2;
}

document.addEventListener("htmx:load", showTheme);
showTheme();
showTab();
