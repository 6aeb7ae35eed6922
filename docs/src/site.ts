/** Which pages there are, and their content, loaded when it is first wanted. */
import type { ComponentType } from "react";

import all from "virtual:pages";

export interface Heading {
  depth: number;
  text: string;
  id: string;
}
export interface Content {
  default: ComponentType<{ components?: Record<string, unknown> }>;
  headings?: Heading[];
}

export const pages = all;
export type Page = (typeof pages)[number];

const sources = import.meta.glob<Content>("./pages/*.{md,mdx}");
const loading = new Map<string, Promise<Content>>();
const loaded = new Map<string, Content>();

export function slugOf(path: string): string {
  return path.replace(/^\/|\/$/g, "") || "index";
}

export function pathOf(slug: string): string {
  return slug === "index" ? "/" : `/${slug}`;
}

export function pageOf(slug: string): Page | undefined {
  return pages.find((page) => page.slug === slug);
}

export function neighbours(slug: string): { before: Page | undefined; after: Page | undefined } {
  const at = pages.findIndex((page) => page.slug === slug);
  return { before: pages[at - 1], after: at < 0 ? undefined : pages[at + 1] };
}

/** What has been loaded before is there at once, so that hydration meets the very HTML that was sent. */
export function contentNow(slug: string): Content | undefined {
  return loaded.get(slug);
}

export function load(slug: string): Promise<Content> {
  const source = sources[`./pages/${slug}.mdx`] ?? sources[`./pages/${slug}.md`];
  if (!source) return Promise.reject(new Error(`there is no page ${slug}`));
  const promise = loading.get(slug) ?? source().then((content) => (loaded.set(slug, content), content), replaced);
  loading.set(slug, promise);
  return promise;
}

/** The file of a page is gone when a release has replaced it under who reads on. */
export const GONE = "snapstate:gone";
function replaced(error: unknown): never {
  window.dispatchEvent(new Event(GONE));
  throw error;
}
