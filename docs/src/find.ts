/** What the search finds: sections, best first, with the words around the first hit. */
import type MiniSearch from "minisearch";
import type { SearchResult } from "minisearch";

import type { Section } from "../build/pages";
import { SEARCH } from "./search-options";

export interface Found {
  id: string;
  path: string;
  page: string;
  heading: string;
  text: string;
}

const MOST = 12;
let index: Promise<MiniSearch> | undefined;

export async function find(query: string): Promise<Found[]> {
  if (!query.trim()) return [];
  index ??= opened().catch((error: unknown) => {
    index = undefined; // asked for again with the next letter
    throw error;
  });
  return (await index).search(query).slice(0, MOST).map((result) => shown(result, query));
}

async function opened(): Promise<MiniSearch> {
  const [{ default: Index }, { default: built }] = await Promise.all([import("minisearch"), import("virtual:search")]);
  return Index.loadJSON(built, SEARCH);
}

function shown(result: SearchResult, query: string): Found {
  const { slug, page, heading, anchor, text } = result as unknown as Record<keyof Section, string>;
  const path = (slug === "index" ? "/" : `/${slug}`) + (anchor ? `#${anchor}` : "");
  return { id: String(result.id), path, page, heading, text: around(text, query) };
}

const BEFORE = 40;
export function around(text: string, query: string): string {
  const hit = text.toLowerCase().indexOf(query.trim().toLowerCase().split(/\s+/)[0]!);
  const from = hit > BEFORE ? text.indexOf(" ", hit - BEFORE) + 1 : 0;
  return (from > 0 ? "… " : "") + text.slice(from, from + 160);
}
