/** What the browser remembers of a reader: theme and language. A browser that keeps nothing is fine. */
import { useSyncExternalStore } from "react";

type Name = "theme" | "language";
const listeners = new Set<() => void>();

export function keep(name: Name, value: string): void {
  try {
    localStorage.setItem(`snapstate.${name}`, value);
  } catch {
    session.set(name, value);
  }
  for (const tell of listeners) tell();
}

const session = new Map<Name, string>();

function kept(name: Name): string | null {
  try {
    return localStorage.getItem(`snapstate.${name}`) ?? session.get(name) ?? null;
  } catch {
    return session.get(name) ?? null;
  }
}

function subscribe(tell: () => void): () => void {
  listeners.add(tell);
  window.addEventListener("storage", tell);
  return () => {
    listeners.delete(tell);
    window.removeEventListener("storage", tell);
  };
}

export function useKept(name: Name): string | null {
  return useSyncExternalStore(subscribe, () => kept(name), () => null);
}
