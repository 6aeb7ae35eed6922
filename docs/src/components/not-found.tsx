/** No page is here: say so, and where there are some. */
import { Link } from "react-router";

import { pages, pathOf } from "../site";

export function NotFound() {
  return (
    <main id="content" tabIndex={-1} className="min-w-0 flex-1 px-5 pb-24 pt-16 outline-none sm:px-10 lg:px-14">
      <p className="mb-3 font-mono text-xs uppercase tracking-[0.14em] text-crash">404</p>
      <h1 className="text-4xl font-bold tracking-tight">There is no page here</h1>
      <p className="mt-4 text-lg text-soft">It may have moved. These are all there are:</p>
      <ul className="mt-6 grid max-w-2xl gap-2 sm:grid-cols-2">
        {pages.map((page) => (
          <li key={page.slug}>
            <Link to={pathOf(page.slug)} className="text-link">{page.nav}</Link>
          </li>
        ))}
      </ul>
    </main>
  );
}
