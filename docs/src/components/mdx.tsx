/** What Markdown's parts and the pages' own components are drawn with. */
import type { ComponentProps } from "react";
import { Link } from "react-router";

import { Card, Cards } from "./cards";
import { Fence } from "./fence";
import { Tabs } from "./tabs";

export function Anchor({ href = "", children, ...rest }: ComponentProps<"a">) {
  const inside = /^\/docs(\/[\w-]*)?(#.*)?$/.exec(href);
  if (inside && !href.includes(".")) return <Link to={href.replace(/^\/docs/, "") || "/"} className="text-link">{children}</Link>;
  return <a href={href} className="text-link" {...rest}>{children}</a>;
}

function heading(Tag: "h2" | "h3") {
  return function Heading({ id, children }: ComponentProps<"h2">) {
    return (
      <Tag id={id} className="heading">
        {children}
        <a href={`#${id}`} className="heading-link" aria-label="Link to this section">#</a>
      </Tag>
    );
  };
}

function Table(props: ComponentProps<"table">) {
  return (
    <div className="table-scroll" tabIndex={0} role="group" aria-label="Table">
      <table {...props} />
    </div>
  );
}

export const components = {
  a: Anchor,
  h2: heading("h2"),
  h3: heading("h3"),
  pre: Fence,
  table: Table,
  Card,
  Cards,
  Tabs,
};
