/** What stands behind the three backticks: a language, then `title="…"` and how the sample is run. */
import type { Element, Root } from "hast";

type Pre = Element & { children: [Element] };

function isFence(node: Root | Element | Root["children"][number]): node is Pre {
  if (node.type !== "element" || node.tagName !== "pre") return false;
  const [first] = node.children;
  return first?.type === "element" && first.tagName === "code";
}

/** Hands the fence's language and title to the component that draws it. */
export function rehypeFences() {
  return (tree: Root) => walk(tree);
}

function walk(node: Root | Element): void {
  for (const child of node.children) {
    if (child.type !== "element" && !("children" in child)) continue;
    if (isFence(child)) describe(child);
    else walk(child as Element);
  }
}

function describe(pre: Pre): void {
  const code = pre.children[0];
  const classes = (code.properties.className ?? []) as string[];
  const language = classes.find((name) => name.startsWith("language-"))?.slice("language-".length);
  const meta = (code.data as { meta?: string } | undefined)?.meta ?? "";
  pre.properties.dataLanguage = language ?? "text";
  const title = /title="([^"]*)"/.exec(meta)?.[1];
  if (title) pre.properties.dataTitle = title;
  if (language === "output") code.properties.className = ["language-plaintext"];
}
