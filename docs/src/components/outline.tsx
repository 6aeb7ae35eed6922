/** What the page holds; the heading one is reading is marked. */
import { useEffect, useState } from "react";

import type { Heading } from "../site";

export function Outline({ headings }: { headings: Heading[] }) {
  const reading = useReading(headings);
  if (headings.length < 2) return null;
  return (
    <aside className="sticky top-16 hidden h-[calc(100vh-4rem)] w-60 shrink-0 overflow-y-auto px-4 py-12 xl:block">
      <nav aria-label="On this page">
        <p className="mb-3 font-mono text-xs uppercase tracking-[0.14em] text-soft">On this page</p>
        <ul className="space-y-1.5 text-sm">
          {headings.map(({ id, text, depth }) => (
            <li key={id} className={depth > 2 ? "pl-4" : ""}>
              <a href={`#${id}`} aria-current={id === reading ? "location" : undefined} className="outline-link">{text}</a>
            </li>
          ))}
        </ul>
      </nav>
    </aside>
  );
}

function useReading(headings: Heading[]): string {
  const [reading, setReading] = useState("");
  useEffect(() => {
    const seen = new IntersectionObserver(
      (entries) => {
        const first = entries.find(({ isIntersecting }) => isIntersecting);
        if (first) setReading(first.target.id);
      },
      { rootMargin: "-80px 0px -70% 0px" },
    );
    for (const { id } of headings) {
      const element = document.getElementById(id);
      if (element) seen.observe(element);
    }
    return () => seen.disconnect();
  }, [headings]);
  return reading;
}
