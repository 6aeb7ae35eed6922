/** What the site is made of, as modules: pages with their headings, the search's index, the API reference, the twins. */
import MiniSearch from "minisearch";
import type { Plugin } from "vite";

import { SEARCH } from "../src/search-options.ts";
import { llms, twinOf, twinPath } from "./markdown.ts";
import { fileOf, GROUPS, pages, parsed, type Section, sectionsOf } from "./pages.ts";
import { reference } from "./reference.ts";

const MODULES: Record<string, () => unknown> = {
  "virtual:pages": () => pages().map(({ slug, group, title, nav, description }) => ({ slug, group, title, nav, description })),
  "virtual:reference": reference,
  "virtual:search": searchIndex,
  "virtual:twins": twins,
};

export function content(): Plugin {
  const files = new Set(GROUPS.flatMap(({ slugs }) => slugs.map(fileOf)));
  return {
    name: "snapstate-content",
    enforce: "pre",
    resolveId: (id) => (id in MODULES ? `\0${id}` : null),
    load: (id) => (id.startsWith("\0virtual:") && id.slice(1) in MODULES ? asModule(MODULES[id.slice(1)]!()) : null),
    transform(source, id) {
      if (!files.has(id)) return null;
      const { body } = parsed(source, id);
      const headings = pages().find(({ file }) => file === id)!.headings;
      // Plain Markdown has no exports, so the changelog goes without an outline.
      return { code: id.endsWith(".mdx") ? `export const headings = ${JSON.stringify(headings)};\n\n${body}` : body, map: null };
    },
  };
}

/** JSON.parse of a string is what engines read fastest. */
function asModule(value: unknown): string {
  return `export default JSON.parse(${JSON.stringify(JSON.stringify(value))});`;
}

function searchIndex(): unknown {
  const operations = reference().flatMap(({ operations: all }) => all);
  const ofReference: Section[] = operations.map((each) => ({
    slug: "api-reference",
    page: "API Reference",
    heading: `${each.title} (${each.method} ${each.path})`,
    anchor: each.id,
    text: [each.text, ...each.parameters.map(({ name }) => name), ...(each.body?.fields ?? []).map(({ name }) => name)].join(" "),
  }));
  const index = new MiniSearch<Section & { key: number }>(SEARCH);
  index.addAll([...pages().flatMap(sectionsOf), ...ofReference].map((section, key) => ({ ...section, key })));
  return JSON.stringify(index);
}

function twins(): Record<string, string> {
  const all = pages();
  const groups = reference();
  const texts = Object.fromEntries(all.map((page) => [twinPath(page), twinOf(page, groups)]));
  return { ...texts, "/docs/llms.txt": llms(all), "/docs/llms-full.txt": Object.values(texts).join("\n---\n\n") };
}
