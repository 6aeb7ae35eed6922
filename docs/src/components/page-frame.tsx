/** What stands above and below the text of every page. */
import { useState } from "react";
import { Link } from "react-router";

import { copied } from "../copying";
import { neighbours, type Page, pathOf } from "../site";

export function PageHead({ page }: { page: Page }) {
  return (
    <header className="mb-10">
      <p className="mb-3 font-mono text-xs uppercase tracking-[0.14em] text-accent">{page.group}</p>
      <h1 className="text-4xl font-bold tracking-tight sm:text-5xl">{page.title}</h1>
      <p className="mt-4 text-lg text-soft">{page.description}</p>
      <PageActions page={page} />
    </header>
  );
}

function PageActions({ page }: { page: Page }) {
  const [said, setSaid] = useState("");
  const twin = `/docs/${page.slug}.md`;
  async function copy() {
    const text = await fetch(twin).then((answer) => (answer.ok ? answer.text() : ""), () => "");
    setSaid(text && (await copied(text)) ? "Copied" : "Not copied");
    setTimeout(() => setSaid(""), 2000);
  }
  return (
    <p className="mt-5 flex gap-4 text-sm text-soft">
      <button type="button" onClick={copy} className="link-button">{said || "Copy page"}</button>
      <a href={twin} className="link-button">View as Markdown</a>
    </p>
  );
}

export function PageFoot({ page }: { page: Page }) {
  const { before, after } = neighbours(page.slug);
  return (
    <footer className="mt-16 border-t border-line pt-8">
      <nav aria-label="Pages beside this one" className="grid gap-4 sm:grid-cols-2">
        {before ? <Beside page={before} word="Before" /> : <span />}
        {after ? <Beside page={after} word="Next" /> : null}
      </nav>
    </footer>
  );
}

function Beside({ page, word }: { page: Page; word: "Before" | "Next" }) {
  return (
    <Link to={pathOf(page.slug)} rel={word === "Next" ? "next" : "prev"} className={`beside ${word === "Next" ? "sm:text-right" : ""}`}>
      <span className="block font-mono text-xs uppercase tracking-[0.14em] text-soft">{word}</span>
      <span className="font-semibold">{page.nav}</span>
    </Link>
  );
}
