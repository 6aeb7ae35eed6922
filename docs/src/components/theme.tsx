/** Light or dark: the system's choice until somebody makes another, which is then remembered. */
import { keep } from "../kept";

export function ThemeButton() {
  return (
    <button type="button" className="icon-button" onClick={turn}>
      <span className="sr-only">Switch between light and dark</span>
      <svg viewBox="0 0 20 20" className="size-5" aria-hidden="true">
        <circle cx="10" cy="10" r="7" fill="none" stroke="currentColor" strokeWidth="1.8" />
        <path d="M10 3a7 7 0 0 1 0 14z" fill="currentColor" />
      </svg>
    </button>
  );
}

function turn(): void {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  keep("theme", root.dataset.theme);
}
