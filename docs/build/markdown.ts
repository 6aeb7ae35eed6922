/** The Markdown twin of each page, for agents and whoever likes plain text; llms.txt says which there are. */
import type { Field, Group, Operation } from "./openapi.ts";
import type { Page } from "./pages.ts";
import { GROUPS, linesOf } from "./pages.ts";

export function twinOf(page: Page, groups: Group[]): string {
  const drawn: Record<string, string> = { Reference: groups.map(groupText).join("\n\n") };
  const lines = linesOf(page.body).flatMap(({ text, code }) => {
    if (code) return [text.replace(/^(`{3,}[\w-]*).*$/, "$1")];
    const component = /^<\/?([A-Z]\w*).*>$/.exec(text.trim())?.[1];
    if (component) return component in drawn ? [drawn[component]!] : [];
    return /^(import|export) /.test(text) ? [] : [text.replace(/\]\((\/docs\/[\w-]+)(#[\w-]*)?\)/g, "]($1.md)")];
  });
  const text = lines.join("\n").replace(/\n{3,}/g, "\n\n").trim();
  return `# ${page.title}\n\n> ${page.description}\n\n${text}\n`;
}

export function llms(all: Page[]): string {
  const parts = GROUPS.map(({ name }) => {
    const links = all.filter(({ group }) => group === name).map((page) => `- [${page.title}](${twinPath(page)}): ${page.description}`);
    return `## ${name}\n\n${links.join("\n")}`;
  });
  const head =
    "# SnapState\n\n> The place where AI agents keep their state: save a checkpoint after each step, resume from the " +
    "last one. Every page is Markdown too; the API itself is described at /openapi.json.";
  return `${[head, ...parts, "## Optional\n\n- [All pages in one file](/docs/llms-full.txt)"].join("\n\n")}\n`;
}

export function twinPath({ slug }: Page): string {
  return `/docs/${slug}.md`;
}

function groupText({ tag, operations }: Group): string {
  return [`## ${tag}`, ...operations.map(operationText)].join("\n\n");
}

function operationText(operation: Operation): string {
  const { method, path, title, text, scope, parameters, body, responses } = operation;
  const parts = [`### ${title}`, `\`${method} ${path}\``, scope ? `Scope: \`${scope}\`.` : "", text];
  if (parameters.length > 0) {
    const lines = parameters.map((each) => `- \`${each.name}\` (${each.in}, ${each.type}${each.required ? ", required" : ""}) ${each.text}`);
    parts.push(lines.join("\n"));
  }
  if (body) parts.push("Body:", fieldsText(body.fields), `\`\`\`json\n${body.example}\n\`\`\``);
  parts.push("Answers:", responses.map(({ status, text: said }) => `- ${status} ${said}`).join("\n"));
  const success = responses.find(({ fields }) => fields.length > 0);
  if (success) parts.push(`Of the ${success.status}:`, fieldsText(success.fields));
  return parts.filter(Boolean).join("\n\n");
}

function fieldsText(fields: Field[], indent = ""): string {
  const lines = fields.flatMap(({ name, type, required, text, children }) => [
    `${indent}- \`${name}\` (${type}${required ? "" : ", optional"}) ${text}`.trimEnd(),
    ...(children.length > 0 ? [fieldsText(children, `${indent}  `)] : []),
  ]);
  return lines.join("\n");
}
