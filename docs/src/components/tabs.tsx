/** The same in several languages; the one that was chosen is chosen on every page. */
import { Children, isValidElement, type KeyboardEvent, type ReactElement, type ReactNode, useId } from "react";

import { keep, useKept } from "../kept";
import type { FenceProps } from "./fence";

const NAMES: Record<string, string> = { bash: "curl", python: "Python", javascript: "JavaScript", typescript: "TypeScript", go: "Go", json: "JSON" };

export function Tabs({ children }: { children: ReactNode }) {
  const id = useId();
  const kept = useKept("language");
  const fences = Children.toArray(children).filter((child): child is ReactElement<FenceProps> => isValidElement(child));
  const languages = fences.map(({ props }) => props["data-language"] ?? "text");
  const chosen = languages.find((language) => language === kept) ?? languages[0];

  function step(event: KeyboardEvent) {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const next = languages[(languages.indexOf(chosen!) + by + languages.length) % languages.length]!;
    keep("language", next);
    document.getElementById(`${id}-${next}`)?.focus();
  }

  return (
    <div className="tabs">
      <div role="tablist" aria-label="Language" className="tab-list" onKeyDown={step}>
        {languages.map((language) => (
          <button
            key={language}
            id={`${id}-${language}`}
            type="button"
            role="tab"
            aria-selected={language === chosen}
            aria-controls={`${id}-${language}-panel`}
            tabIndex={language === chosen ? 0 : -1}
            onClick={() => keep("language", language)}
          >
            {NAMES[language] ?? language}
          </button>
        ))}
      </div>
      {fences.map((fence, at) => (
        <div
          key={languages[at]}
          id={`${id}-${languages[at]}-panel`}
          role="tabpanel"
          aria-labelledby={`${id}-${languages[at]}`}
          data-inactive={languages[at] === chosen ? undefined : ""}
        >
          {fence}
        </div>
      ))}
    </div>
  );
}
