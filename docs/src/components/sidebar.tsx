/** All pages, on a rail like that of a workflow's steps; on small screens it slides over the page. */
import { Link } from "react-router";

import { pages, pathOf } from "../site";

const groups = [...new Set(pages.map(({ group }) => group))];

export function Sidebar({ slug, open }: { slug: string; open: boolean }) {
  return (
    <nav id="sidebar" aria-label="Pages" className={`sidebar ${open ? "sidebar-open" : ""}`}>
      {groups.map((group) => (
        <div key={group} className="mb-7">
          <p className="mb-2 font-mono text-xs uppercase tracking-[0.14em] text-soft">{group}</p>
          <ul className="rail">
            {pages.filter((page) => page.group === group).map((page) => (
              <li key={page.slug}>
                <Link to={pathOf(page.slug)} aria-current={page.slug === slug ? "page" : undefined} className="rail-step">
                  {page.nav}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}
