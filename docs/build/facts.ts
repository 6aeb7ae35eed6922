/** Figures in the text: `%{name}` stands for what the server itself goes by (src/facts.json). */
import { readFileSync } from "node:fs";
import { join } from "node:path";

type Facts = { [name: string]: string | number | boolean | null | Facts };

const facts = JSON.parse(readFileSync(join(process.cwd(), "src/facts.json"), "utf8")) as Facts;

export function fillIn(text: string): string {
  return text.replace(/%\{([^}]+)\}/g, (_, name: string) => (name === "changelog" ? changelog() : shown(name)));
}

function shown(name: string): string {
  const value = name.split(".").reduce<unknown>((at, part) => (at as Facts | undefined)?.[part], facts);
  if (typeof value === "number") return value.toLocaleString("en-US");
  if (typeof value === "string") return value;
  throw new Error(`there is no fact named ${name}`);
}

/** What CHANGELOG.md says below its title; its links to other files of the repository become plain text. */
function changelog(): string {
  const text = readFileSync(join(process.cwd(), "../CHANGELOG.md"), "utf8");
  return text.slice(text.indexOf("\n## ")).replace(/\[([^\]]+)\]\((?!https?:)[^)]*\)/g, "$1");
}
