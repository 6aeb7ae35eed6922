/** The pages in their order, read from src/pages: front matter, facts filled in, headings, sections for the search. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import GithubSlugger from "github-slugger";

import { fillIn } from "./facts.ts";
import { reference } from "./reference.ts";

export const DOCS = process.cwd();
export const GROUPS = [
  { name: "Start", slugs: ["index", "getting-started", "concepts"] },
  { name: "API", slugs: ["api-reference", "webhooks"] },
  { name: "Clients", slugs: ["javascript-sdk", "python-sdk", "mcp-setup", "agent-identity"] },
  { name: "Service", slugs: ["pricing", "operations", "changelog"] },
] as const;

export interface Heading {
  depth: number;
  text: string;
  id: string;
}

export interface Page {
  slug: string;
  group: string;
  file: string;
  title: string;
  nav: string;
  description: string;
  body: string;
  headings: Heading[];
}

export interface Section {
  slug: string;
  page: string;
  heading: string;
  anchor: string;
  text: string;
}

export function pages(): Page[] {
  return GROUPS.flatMap(({ name, slugs }) => slugs.map((slug) => readPage(name, slug)));
}

export function fileOf(slug: string): string {
  return join(DOCS, "src/pages", slug === "changelog" ? `${slug}.md` : `${slug}.mdx`);
}

function readPage(group: string, slug: string): Page {
  const file = fileOf(slug);
  const { front, body } = parsed(readFileSync(file, "utf8"), file);
  const { title, description } = front;
  if (!title || !description) throw new Error(`${file}: a page has a title and a description`);
  return { slug, group, file, title, nav: front.nav ?? title, description, body, headings: [...headingsOf(body), ...groupsOf(slug)] };
}

/** The reference's groups of endpoints are drawn by a component, not written in the page. */
function groupsOf(slug: string): Heading[] {
  if (slug !== "api-reference") return [];
  return reference().map(({ tag }) => ({ depth: 3, text: tag, id: tag.toLowerCase() }));
}

/** Front matter is `name: value` a line. */
export function parsed(source: string, file: string): { front: Record<string, string>; body: string } {
  const found = /^---\n(.*?)\n---\n(.*)$/s.exec(source);
  if (!found) throw new Error(`${file}: a page begins with its front matter`);
  const pairs = found[1]!.split("\n").map((line) => /^(\w+): (.*)$/.exec(line));
  const front = Object.fromEntries(pairs.filter((pair) => pair !== null).map((pair) => [pair[1]!, fillIn(pair[2]!)]));
  // What stands in a fence is code, to the letter.
  const lines = linesOf(found[2]!).map(({ text, code }) => (code ? text : fillIn(text)));
  return { front, body: lines.join("\n") };
}

export interface Line {
  text: string;
  code: boolean;
}

/** Each line, and whether it stands in a fence (the fence's own lines included). */
export function linesOf(body: string): Line[] {
  let fence = "";
  return body.split("\n").map((text) => {
    const mark = /^(`{3,})/.exec(text)?.[1];
    const code = fence !== "" || mark !== undefined;
    if (fence === "" && mark) fence = mark;
    else if (mark && text.trim() === fence) fence = "";
    return { text, code };
  });
}

export function headingsOf(body: string): Heading[] {
  const slugger = new GithubSlugger();
  return linesOf(body).flatMap(({ text, code }) => {
    const found = code ? null : /^(#{2,3}) (.+)$/.exec(text);
    if (!found) return [];
    const plain = plainText(found[2]!);
    return [{ depth: found[1]!.length, text: plain, id: slugger.slug(plain) }];
  });
}

export function plainText(markdown: string): string {
  return markdown
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/<\/?[A-Z]\w*[^>]*>/g, "")
    .replace(/[`*]|^> ?|^\| ?|^(-|\d+\.) /gm, "")
    .trim();
}

/** A section a heading; what stands before the first belongs to the page itself. */
export function sectionsOf(page: Page): Section[] {
  const sections: Section[] = [{ slug: page.slug, page: page.title, heading: "", anchor: "", text: page.description }];
  const headings = page.headings[Symbol.iterator]();
  for (const { text, code } of linesOf(page.body)) {
    if (!code && /^#{2,3} /.test(text)) {
      const heading = headings.next().value!;
      sections.push({ slug: page.slug, page: page.title, heading: heading.text, anchor: heading.id, text: "" });
    } else if (!text.startsWith("```")) {
      sections.at(-1)!.text += ` ${code ? text : plainText(text)}`;
    }
  }
  return sections.map((section) => ({ ...section, text: section.text.replace(/\s+/g, " ").trim() }));
}
