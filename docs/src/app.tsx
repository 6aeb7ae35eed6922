/** The frame around every page: bar, sidebar, the page itself, what it holds, and the pages beside it. */
import { Suspense, use, useEffect, useRef, useState } from "react";
import { useLocation, useNavigationType } from "react-router";

import { Bar } from "./components/bar";
import { components } from "./components/mdx";
import { NotFound } from "./components/not-found";
import { Outline } from "./components/outline";
import { PageFoot, PageHead } from "./components/page-frame";
import { Sidebar } from "./components/sidebar";
import { type Content, contentNow, load, type Page, pageOf, slugOf } from "./site";

export function App() {
  const { pathname } = useLocation();
  const slug = slugOf(pathname);
  const page = pageOf(slug);
  const [menu, setMenu] = useState(false);
  useEffect(() => setMenu(false), [pathname]);
  usePlace(page);
  return (
    <>
      <a className="skip" href="#content">Skip to the content</a>
      <Bar menu={menu} onMenu={() => setMenu((open) => !open)} />
      <div className="mx-auto flex max-w-[90rem]">
        <Sidebar slug={slug} open={menu} />
        <Suspense>{page ? <PageView key={slug} page={page} /> : <NotFound />}</Suspense>
      </div>
    </>
  );
}

function PageView({ page }: { page: Page }) {
  const content: Content = contentNow(page.slug) ?? use(load(page.slug));
  const Body = content.default;
  return (
    <>
      <main id="content" tabIndex={-1} className="min-w-0 flex-1 px-5 pb-16 pt-8 outline-none sm:px-10 lg:px-14 lg:pt-12">
        <article className={page.slug === "api-reference" ? "max-w-[62rem]" : "max-w-[46rem]"}>
          <PageHead page={page} />
          <div className="prose">
            <Body components={components} />
          </div>
          <PageFoot page={page} />
        </article>
      </main>
      <Outline headings={content.headings ?? []} />
    </>
  );
}

/** Title, description and scroll position follow the address. */
function usePlace(page: Page | undefined): void {
  const { pathname, hash } = useLocation();
  const type = useNavigationType();
  const first = useRef(true);
  useEffect(() => {
    document.title = `${page?.title ?? "Not found"} · SnapState`;
    document.querySelector('meta[name="description"]')?.setAttribute("content", page?.description ?? "");
    document.querySelector('link[rel="canonical"]')?.setAttribute("href", `/docs${pathname}`);
  }, [page, pathname]);
  useEffect(() => {
    if (first.current) {
      first.current = false;
      if (hash) scrollToAnchor(hash);
    } else if (hash) scrollToAnchor(hash);
    else if (type !== "POP") {
      window.scrollTo(0, 0);
      document.getElementById("content")?.focus({ preventScroll: true });
    }
  }, [pathname, hash, type]);
}

function scrollToAnchor(hash: string): void {
  document.getElementById(decoded(hash.slice(1)))?.scrollIntoView();
}

function decoded(anchor: string): string {
  try {
    return decodeURIComponent(anchor);
  } catch {
    return anchor; // a link that somebody has cut short
  }
}
