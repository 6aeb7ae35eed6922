/** Envelopes change their names to camelCase and back; what users put in (state, metadata) is never touched. */

import { ConnectionError } from "./errors.js";

/** Members whose values are the user's own. */
const OPAQUE = new Set(["state", "metadata"]);
const names = new Map<string, string>();

function camel(name: string): string {
  let known = names.get(name);
  if (known === undefined) {
    known = name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    if (names.size < 1_000) names.set(name, known);
  }
  return known;
}

/** The envelope in `text`; with `raw`, also the exact texts of states and metadata: `stateJson`, `metadataJson`. */
export function read(text: string, raw: boolean): unknown {
  try {
    return raw ? new Scanner(text).envelope() : renamed(JSON.parse(text));
  } catch (error) {
    throw new ConnectionError("The answer is not whole, or not of SnapState.", { cause: error });
  }
}

function renamed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renamed);
  if (typeof value !== "object" || value === null) return value;
  const shown: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    put(shown, camel(name), OPAQUE.has(name) ? member : renamed(member));
  }
  return shown;
}

/** Also where the name is `__proto__`, which an assignment would take for the prototype. */
function put(into: Record<string, unknown>, name: string, value: unknown): void {
  if (name === "__proto__")
    Object.defineProperty(into, name, { value, enumerable: true, configurable: true, writable: true });
  else into[name] = value;
}

const QUOTE = 34,
  COMMA = 44,
  COLON = 58,
  OPEN = 91,
  BACKSLASH = 92,
  CLOSE = 93,
  OPEN_BRACE = 123,
  CLOSE_BRACE = 125;

/** Walks an answer's own members; takes the user's, of whatever depth, as the texts they are. */
class Scanner {
  private at = 0;

  constructor(private readonly text: string) {}

  envelope(): unknown {
    const value = this.value();
    this.spaces();
    if (this.at !== this.text.length) throw new SyntaxError(`something follows at ${this.at}`);
    return value;
  }

  private value(): unknown {
    this.spaces();
    const first = this.text.charCodeAt(this.at);
    if (first === OPEN_BRACE) return this.object();
    if (first === OPEN) return this.array();
    return JSON.parse(this.slice());
  }

  private object(): Record<string, unknown> {
    const shown: Record<string, unknown> = {};
    this.list(CLOSE_BRACE, () => {
      this.spaces();
      const name = JSON.parse(this.slice()) as string;
      this.spaces();
      if (this.text.charCodeAt(this.at) !== COLON) throw new SyntaxError(`no colon at ${this.at}`);
      this.at += 1;
      if (OPAQUE.has(name)) this.opaque(shown, camel(name));
      else put(shown, camel(name), this.value());
    });
    return shown;
  }

  private opaque(shown: Record<string, unknown>, name: string): void {
    this.spaces();
    const text = this.slice();
    const value: unknown = JSON.parse(text);
    shown[name] = value;
    shown[`${name}Json`] = value === null ? null : text;
  }

  private array(): unknown[] {
    const items: unknown[] = [];
    this.list(CLOSE, () => items.push(this.value()));
    return items;
  }

  /** Everything between the bracket here and the `end` that belongs to it. */
  private list(end: number, item: () => void): void {
    this.at += 1;
    this.spaces();
    if (this.text.charCodeAt(this.at) === end) {
      this.at += 1;
      return;
    }
    for (;;) {
      item();
      this.spaces();
      const mark = this.text.charCodeAt(this.at);
      this.at += 1;
      if (mark === end) return;
      if (mark !== COMMA) throw new SyntaxError(`no comma at ${this.at - 1}`);
    }
  }

  /** The text of the value that begins here; where it is no JSON, JSON.parse will say so. */
  private slice(): string {
    const begin = this.at;
    const first = this.text.charCodeAt(begin);
    if (first === QUOTE) this.string();
    else if (first === OPEN || first === OPEN_BRACE) this.nested();
    else this.scalar();
    return this.text.slice(begin, this.at);
  }

  private nested(): void {
    for (let depth = 0; this.at < this.text.length;) {
      const mark = this.text.charCodeAt(this.at);
      if (mark === QUOTE) {
        this.string();
        continue;
      }
      if (mark === OPEN || mark === OPEN_BRACE) depth += 1;
      else if (mark === CLOSE || mark === CLOSE_BRACE) depth -= 1;
      this.at += 1;
      if (depth === 0) return;
    }
    throw new SyntaxError("the answer ends too early");
  }

  private string(): void {
    for (let end = this.at; ;) {
      end = this.text.indexOf('"', end + 1);
      if (end < 0) throw new SyntaxError("the answer ends too early");
      let slashes = 0;
      while (this.text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1;
      if (slashes % 2 === 0) {
        this.at = end + 1;
        return;
      }
    }
  }

  private scalar(): void {
    while (this.at < this.text.length && !/[\s,\]}]/.test(this.text.charAt(this.at))) this.at += 1;
  }

  private spaces(): void {
    while (this.text.charCodeAt(this.at) <= 32) this.at += 1;
  }
}
