/** Search over every section of every page, in the browser: the index comes when it is first wanted. */
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { useNavigate } from "react-router";

import { find, type Found } from "../find";

export function SearchButton() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    function open(event: globalThis.KeyboardEvent) {
      const typing = event.target instanceof HTMLElement && event.target.closest("input, textarea, select");
      const asked = (event.key === "k" && (event.metaKey || event.ctrlKey)) || (event.key === "/" && !typing);
      if (!asked || dialog.current?.open) return;
      event.preventDefault();
      dialog.current?.showModal();
    }
    document.addEventListener("keydown", open);
    return () => document.removeEventListener("keydown", open);
  }, []);
  return (
    <>
      <button type="button" className="search-button" onClick={() => dialog.current?.showModal()}>
        <svg viewBox="0 0 20 20" className="size-4" fill="none" stroke="currentColor" strokeWidth="1.8" strokeLinecap="round" aria-hidden="true">
          <circle cx="9" cy="9" r="5.5" />
          <path d="M13.5 13.5L17 17" />
        </svg>
        <span className="hidden sm:inline">Search</span>
        <span className="sr-only sm:hidden">Search</span>
        <kbd className="hidden md:inline">/</kbd>
      </button>
      <dialog ref={dialog} className="search" aria-label="Search" onClick={(event) => event.target === dialog.current && dialog.current.close()}>
        <Search onDone={() => dialog.current?.close()} />
      </dialog>
    </>
  );
}

function Search({ onDone }: { onDone: () => void }) {
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const found = useFound(query);
  const go = useGo(onDone);

  function press(event: KeyboardEvent) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) {
      event.preventDefault();
      setAt((before) => Math.max(0, Math.min(found.length - 1, before + by)));
    }
    if (event.key === "Enter" && found[at]) go(found[at]);
    if (event.key === "Escape") {
      event.preventDefault(); // a search field would only empty itself
      onDone();
    }
  }

  return (
    <>
      <input
        type="search"
        role="combobox"
        aria-label="Search the documentation"
        aria-controls="search-results"
        aria-expanded={found.length > 0}
        aria-activedescendant={found[at] ? `found-${at}` : undefined}
        placeholder="Search the documentation"
        value={query}
        autoFocus
        onChange={(event) => {
          setQuery(event.target.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      <ul id="search-results" role="listbox" aria-label="Found">
        {found.map((each, index) => (
          <li key={each.id} id={`found-${index}`} role="option" aria-selected={index === at} onClick={() => go(each)} onMouseMove={() => setAt(index)}>
            <span className="block text-xs text-soft">{each.page}</span>
            <span className="block font-semibold">{each.heading || each.page}</span>
            <span className="block truncate text-sm text-soft">{each.text}</span>
          </li>
        ))}
      </ul>
      {query.trim() && found.length === 0 ? <p className="p-4 text-soft" role="status">Nothing is said about that.</p> : null}
    </>
  );
}

function useFound(query: string): Found[] {
  const [found, setFound] = useState<Found[]>([]);
  useEffect(() => {
    let wanted = true;
    void find(query).then((all) => wanted && setFound(all), () => wanted && setFound([]));
    return () => {
      wanted = false;
    };
  }, [query]);
  return found;
}

function useGo(onDone: () => void): (found: Found) => void {
  const navigate = useNavigate();
  return ({ path }) => {
    onDone();
    void navigate(path);
  };
}
