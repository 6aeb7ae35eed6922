/** Server and keys that were typed in: kept in this page's memory, in no storage, gone with the page. */
import { useSyncExternalStore } from "react";

export interface Typed {
  server: string;
  apiKey: string;
  operator: string;
}

const HERE = typeof location === "undefined" ? "" : import.meta.env.DEV ? "http://127.0.0.1:8000" : location.origin;
const NOTHING: Typed = { server: "", apiKey: "", operator: "" };
let typed: Typed = { ...NOTHING, server: HERE };
const listeners = new Set<() => void>();

export function useTyped(): [Typed, (change: Partial<Typed>) => void] {
  const now = useSyncExternalStore(subscribe, () => typed, () => NOTHING);
  return [now, change];
}

function change(part: Partial<Typed>): void {
  typed = { ...typed, ...part };
  for (const tell of listeners) tell();
}

function subscribe(tell: () => void): () => void {
  listeners.add(tell);
  return () => listeners.delete(tell);
}
