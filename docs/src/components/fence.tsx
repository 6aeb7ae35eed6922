/** A block of code with its title and a button that copies it. */
import { type ComponentProps, useRef, useState } from "react";

import { copied } from "../copying";

export type FenceProps = ComponentProps<"pre"> & { "data-language"?: string; "data-title"?: string };

export function Fence({ "data-title": title, "data-language": language, children }: FenceProps) {
  const code = useRef<HTMLPreElement>(null);
  const [said, setSaid] = useState("Copy");
  async function copy() {
    setSaid((await copied(code.current?.textContent ?? "")) ? "Copied" : "Not copied");
    setTimeout(() => setSaid("Copy"), 2000);
  }
  const output = language === "output";
  return (
    <figure className={`fence ${output ? "fence-output" : ""}`}>
      {title || output ? <figcaption className="fence-title">{title ?? "prints"}</figcaption> : null}
      <pre ref={code} tabIndex={0}>{children}</pre>
      <button type="button" className="copy" onClick={copy} aria-live="polite">{said}</button>
    </figure>
  );
}
