// Runs before the first paint, so that no page flashes in the wrong colours.
(() => {
  document.documentElement.classList.add("js");
  let chosen = null;
  try {
    chosen = localStorage.getItem("snapstate.theme");
  } catch {
    // A browser that keeps nothing follows the system.
  }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
