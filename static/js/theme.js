// Sets the chosen theme before the page is painted. A classic script, so that it runs first.
try {
  const theme = localStorage.getItem("theme");
  if (theme) document.documentElement.dataset.theme = theme;
} catch { /* storage is closed: the system's theme stands */ }
