/** Doors to other pages. */
import type { ReactNode } from "react";
import { Link } from "react-router";

export function Cards({ children }: { children: ReactNode }) {
  return <div className="my-8 grid gap-4 sm:grid-cols-2">{children}</div>;
}

export function Card({ to, title, children }: { to: string; title: string; children: ReactNode }) {
  return (
    <Link to={to.replace(/^\/docs/, "") || "/"} className="card">
      <span className="font-semibold">{title}</span>
      <span className="mt-1 block text-[0.95rem] text-soft">{children}</span>
    </Link>
  );
}
