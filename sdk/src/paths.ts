/** Ids and filters on their way into a URL: each id one segment, whatever it holds. */

import { ValidationError } from "./errors.js";
import { isWellFormed } from "./json.js";

/** An id as one segment of a path. Exactly `.` and `..` are none: HTTP clients rewrite such paths. */
export function segment(id: unknown, name: string): string {
  if (typeof id !== "string") throw ValidationError.at(name, "must be a string");
  if (id === "") throw ValidationError.at(name, "must not be empty");
  if (id === "." || id === "..") throw ValidationError.at(name, "must not be '.' or '..'");
  return escaped(id, name);
}

/** camelCase → snake_case. */
export function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** `?a=b&…`, or nothing; names in snake_case, but for those under `metadata`, which are the user's. */
export function query(filters: object): string {
  const pairs: string[] = [];
  for (const [name, value] of Object.entries(filters)) {
    if (value === undefined || value === null) continue; // `nextCursor` of a last page is null
    if (name === "metadata") pairs.push(...metadataPairs(value as Record<string, unknown>));
    else pairs.push(`${escaped(snake(name), name)}=${escaped(plain(name, value), name)}`);
  }
  return pairs.length ? `?${pairs.join("&")}` : "";
}

function metadataPairs(wanted: Record<string, unknown>): string[] {
  return Object.entries(wanted).map(([key, value]) => {
    const place = `metadata.${key}`;
    const text = typeof value === "string" ? value : plain(place, value);
    return `${escaped(`metadata.${key}`, place)}=${escaped(text, place)}`;
  });
}

/** The text of one value; times in full, dates by their day. */
function plain(name: string, value: unknown): string {
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw ValidationError.at(name, "is an invalid Date");
    const text = value.toISOString();
    return name.endsWith("Date") ? text.slice(0, 10) : text;
  }
  if (value === undefined || (typeof value === "object" && value !== null)) {
    throw ValidationError.at(name, "must be one value"); // as text it would be a filter that fits nothing
  }
  return String(value);
}

function escaped(text: string, name: string): string {
  if (!isWellFormed(text)) throw ValidationError.at(name, "has a lone surrogate, which UTF-8 cannot tell");
  return encodeURIComponent(text);
}
