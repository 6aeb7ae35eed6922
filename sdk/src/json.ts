/** Writes values as JSON.stringify would, and refuses what that would lose in silence, by its path. */

import { ValidationError } from "./errors.js";

/** Text that stands in a body as it is. */
export class JsonText {
  constructor(readonly text: string) {}
}

const MAX_DEPTH = 100;
const PLAIN_KEY = /^[^.[\]"]+$/;
const LONE_SURROGATE = /\p{Surrogate}/u;
const PLAIN = "[object Object]";

/** One more part of a path: `.b`, `[0]`, or `["x.y"]` for keys that would read as something else. */
export function join(path: string, part: string | number): string {
  if (typeof part === "number") return `${path}[${part}]`;
  return PLAIN_KEY.test(part) ? `${path}.${part}` : `${path}[${JSON.stringify(part)}]`;
}

export function isWellFormed(text: string): boolean {
  const told = (text as { isWellFormed?: () => boolean }).isWellFormed?.();
  return told ?? !LONE_SURROGATE.test(text);
}

/** The JSON text of `value`. ValidationError: with the path, under `name`, of what JSON cannot tell. */
export function encode(value: unknown, name: string): string {
  const told = new Check(name).of(value);
  // What a toJSON said when it was checked is what is sent, whatever it says when it is asked again.
  const text = told.size ? JSON.stringify(value, saysAgain(told)) : JSON.stringify(value);
  if (text === undefined) throw ValidationError.at(name, "must not be undefined");
  return text;
}

function saysAgain(
  told: Map<unknown, unknown>,
): (this: Record<string, unknown>, key: string, value: unknown) => unknown {
  return function (key, value) {
    if (!told.has(this[key])) return value;
    let said = this[key];
    while (told.has(said)) said = told.get(said);
    return said;
  };
}

/** As `encode`, of an object only. */
export function encodeObject(value: unknown, name: string): string {
  const text = encode(value, name);
  if (!text.startsWith("{")) throw ValidationError.at(name, "must be an object");
  return text;
}

/** A body of these members, those that are undefined left out. */
export function encodeBody(members: Record<string, unknown>): string {
  const parts: string[] = [];
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) continue;
    parts.push(`${JSON.stringify(name)}:${value instanceof JsonText ? value.text : encode(value, name)}`);
  }
  return `{${parts.join(",")}}`;
}

/** A caller's own text of an object, checked and otherwise left alone. */
export function objectText(text: unknown, name: string): JsonText {
  if (text instanceof JsonText) return text;
  if (typeof text !== "string") throw ValidationError.at(name, "must be a string of JSON");
  if (!isWellFormed(text)) throw ValidationError.at(name, "has a lone surrogate, which UTF-8 cannot tell");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw ValidationError.at(name, `is not JSON: ${(error as Error).message}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw ValidationError.at(name, "must be the JSON of an object");
  }
  return new JsonText(text);
}

/** A walk over a value that stops at the first thing JSON.stringify would lose, change or choke on. */
class Check {
  private readonly told = new Map<unknown, unknown>();
  private readonly parents: object[] = [];
  private readonly parts: (string | number)[] = [];

  constructor(private readonly name: string) {}

  /** What each toJSON said. */
  of(value: unknown): Map<unknown, unknown> {
    this.value(value, "");
    return this.told;
  }

  private value(value: unknown, key: string | number): void {
    switch (typeof value) {
      case "string":
        return this.text(value);
      case "number":
        if (!Number.isFinite(value)) this.refuse(`is ${value}, which JSON cannot tell`);
        return;
      case "boolean":
        return;
      case "undefined":
        if (typeof key === "number") this.refuse("is undefined, which an array cannot hold: use null");
        return;
      case "object":
        return value === null ? undefined : this.object(value, key);
      case "bigint":
        return this.refuse("is a BigInt: give the state as text (stateJson), or the number as a string");
      default:
        return this.refuse(`is a ${typeof value}, which JSON cannot tell`);
    }
  }

  private object(value: object, key: string | number): void {
    if (value instanceof Date && Number.isNaN(value.getTime())) this.refuse("is an invalid Date");
    if (this.parents.includes(value)) this.refuse("contains itself");
    if (this.parents.length >= MAX_DEPTH) this.refuse(`is nested deeper than ${MAX_DEPTH} levels`);
    this.parents.push(value);
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON === "function") this.value(this.say(value, toJSON.call(value, String(key))), key);
    else if (Array.isArray(value)) this.items(value);
    else this.members(value);
    this.parents.pop();
  }

  private say(value: object, said: unknown): unknown {
    this.told.set(value, said);
    return said;
  }

  private items(items: unknown[]): void {
    for (let index = 0; index < items.length; index += 1) {
      this.parts.push(index);
      this.value(items[index], index);
      this.parts.pop();
    }
  }

  private members(value: object): void {
    const kind = Object.prototype.toString.call(value);
    if (kind !== PLAIN || isBoxed(value)) this.refuse(`is ${kind.slice(8, -1)}, which would lose what it holds`);
    for (const name of Object.keys(value)) {
      this.text(name); // what is wrong with a name is said of its object
      this.parts.push(name);
      this.value((value as Record<string, unknown>)[name], name);
      this.parts.pop();
    }
  }

  private text(text: string): void {
    if (!isWellFormed(text)) this.refuse("has a lone surrogate, which UTF-8 cannot tell");
  }

  private refuse(reason: string): never {
    throw ValidationError.at(this.parts.reduce<string>(join, this.name), reason);
  }
}

/** `new Number(1)` and its like: JSON.stringify unwraps them, nobody means to save one. */
function isBoxed(value: object): boolean {
  return typeof value.valueOf === "function" && typeof value.valueOf() !== "object";
}
