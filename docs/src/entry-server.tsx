/** The build's side: each page as HTML, with the head that belongs to it. */
import { StrictMode } from "react";
import { renderToString } from "react-dom/server";
import { StaticRouter } from "react-router";

import all from "virtual:twins";

import { App } from "./app";
import { load, pageOf, pages, pathOf } from "./site";

export { pages };
export const twins = all;

export async function render(slug: string): Promise<{ head: string; body: string }> {
  if (pageOf(slug)) await load(slug);
  const body = renderToString(
    <StrictMode>
      <StaticRouter basename="/docs" location={`/docs${pathOf(slug)}`}>
        <App />
      </StaticRouter>
    </StrictMode>,
  );
  return { head: headOf(slug), body };
}

function headOf(slug: string): string {
  const page = pageOf(slug);
  if (!page) return `<title>Not found · SnapState</title><meta name="robots" content="noindex">`;
  const title = escaped(`${page.title} · SnapState`);
  return [
    `<title>${title}</title>`,
    `<meta name="description" content="${escaped(page.description)}">`,
    `<meta property="og:title" content="${title}">`,
    `<meta property="og:description" content="${escaped(page.description)}">`,
    `<link rel="canonical" href="/docs${pathOf(slug)}">`,
    `<link rel="alternate" type="text/markdown" href="/docs/${slug}.md">`,
  ].join("");
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (each) => `&#${each.charCodeAt(0)};`);
}
