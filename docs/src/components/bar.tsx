/** The bar at the top: home, search, theme, and on small screens the menu. */
import { Link } from "react-router";

import { Mark } from "./mark";
import { SearchButton } from "./search";
import { ThemeButton } from "./theme";

export function Bar({ menu, onMenu }: { menu: boolean; onMenu: () => void }) {
  return (
    <header className="sticky top-0 z-20 border-b border-line bg-ground/90 backdrop-blur">
      <div className="mx-auto flex h-16 max-w-[90rem] items-center gap-3 px-4 sm:px-6">
        <button type="button" className="icon-button lg:hidden" aria-expanded={menu} aria-controls="sidebar" onClick={onMenu}>
          <span className="sr-only">Menu</span>
          <svg viewBox="0 0 20 20" className="size-5" fill="none" stroke="currentColor" strokeWidth="1.8" strokeLinecap="round" aria-hidden="true">
            <path d={menu ? "M5 5l10 10M15 5L5 15" : "M3 6h14M3 10h14M3 14h8"} />
          </svg>
        </button>
        <a href="/" className="flex items-center gap-2.5 font-semibold" aria-label="SnapState, home">
          <Mark />
          <span className="hidden sm:inline">SnapState</span>
        </a>
        <Link to="/" className="border-l border-line pl-3 text-soft hover:text-ink">Docs</Link>
        <div className="ml-auto flex items-center gap-2">
          <SearchButton />
          <ThemeButton />
          <a href="/admin/" className="hidden px-2 text-sm text-soft hover:text-ink sm:inline">Admin</a>
        </div>
      </div>
    </header>
  );
}
