/** What is written is what JSON.stringify writes; what that would lose is refused by its path. */

import { describe, expect, test } from "vitest";
import { ValidationError } from "../src/index.js";
import { encode, encodeBody, encodeObject, objectText } from "../src/json.js";
import { seeded, something } from "./random.js";

function refused(work: () => unknown): { path: string; message: string } {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(ValidationError);
    expect((error as ValidationError).status).toBeUndefined();
    expect((error as ValidationError).code).toBe("VALIDATION_ERROR");
    return (error as ValidationError).details[0] as { path: string; message: string };
  }
  throw new Error("it was not refused");
}

const loop: Record<string, unknown> = { a: [] };
(loop.a as unknown[]).push({ back: loop });
const hundredAndOne = JSON.parse(`${'{"a":'.repeat(100)}{}${"}".repeat(100)}`);

describe("refused before it is sent", () => {
  test.each([
    ["NaN", { x: Number.NaN }, "state.x"],
    ["Infinity", { a: [1, -Infinity] }, "state.a[1]"],
    ["a BigInt", { a: { id: 1n } }, "state.a.id"],
    ["undefined in an array", { a: [1, undefined] }, "state.a[1]"],
    ["a hole in an array", { a: new Array(2) }, "state.a[0]"],
    ["a function", { f: () => 1 }, "state.f"],
    ["a symbol", { s: Symbol("s") }, "state.s"],
    ["a cycle", loop, "state.a[0].back"],
    ["a lone surrogate", { t: { u: "a\ud83d" } }, "state.t.u"],
    ["a lone surrogate in a name", { t: { "\udc00": 1 } }, "state.t"],
    ["an odd name", { "a.b": { 'c"d': Number.NaN } }, 'state["a.b"]["c\\"d"]'],
    ["a Map", { m: new Map([[1, 2]]) }, "state.m"],
    ["a Set", { m: [new Set([1])] }, "state.m[0]"],
    ["an Error", { e: new Error("lost") }, "state.e"],
    ["bytes", { b: new Uint8Array(2) }, "state.b"],
    ["a promise", { p: Promise.resolve(1) }, "state.p"],
    ["an invalid date", { d: new Date("never") }, "state.d"],
    ["what a toJSON tells", { d: { toJSON: () => Number.NaN } }, "state.d"],
    [
      "a toJSON that never ends",
      {
        d: {
          toJSON() {
            return this;
          },
        },
      },
      "state.d",
    ],
    ["a boxed number", { n: Object(1) }, "state.n"],
    ["an array", [], "state"],
    ["null", null, "state"],
    ["nothing", undefined, "state"],
    ["a string", "{}", "state"],
  ])("%s", (_, state, path) => {
    expect(refused(() => encodeObject(state, "state")).path).toBe(path);
  });

  test("a hundred levels are taken, one more is not", () => {
    expect(encodeObject(hundredAndOne.a, "state")).toBe(JSON.stringify(hundredAndOne.a));
    expect(refused(() => encodeObject(hundredAndOne, "state")).message).toContain("deeper than 100");
  });

  test.each([
    ["no JSON", "{a: 1}"],
    ["two values", '{}, "step": 5'],
    ["an array", "[]"],
    ["null", "null"],
    ["nothing", ""],
    ["no text", 7],
    ["a raw lone surrogate", '{"a": "\ud83d"}'],
  ])("stateJson that is %s", (_, text) => {
    expect(refused(() => objectText(text, "stateJson")).path).toBe("stateJson");
  });
});

describe("written as JSON.stringify writes it", () => {
  const kept = Object.create(null);
  kept.own = 1;
  class Point {
    constructor(readonly x: number) {}
  }
  test.each([
    [
      "odd names",
      JSON.parse('{"__proto__": {"a": 1}, "constructor": 2, "": 3, "toJSON": 4, "user_id": 5, "userId": 6}'),
    ],
    ["numbers", { a: -0, b: 1e21, c: 5e-324, d: 2 ** 53, e: 0.1 }],
    ["letters", { é: '\u0000\u2028\u007f🤖"\\\n' }],
    ["undefined members", { a: undefined, b: [{ c: undefined }] }],
    ["dates", { at: new Date(0), in: [new Date(1)] }],
    ["a toJSON", { a: { toJSON: (key: string) => ({ key }) } }],
    ["no prototype", kept],
    ["a class", { p: new Point(1) }],
    ["the same object twice", { a: kept, b: kept }],
    ["symbols as names", { [Symbol("s")]: 1, a: 1 }],
  ])("%s", (_, value) => {
    expect(encode(value, "state")).toBe(JSON.stringify(value));
  });

  test("a toJSON that tells of others that have one", () => {
    const point = { toJSON: () => ({ at: new Date(0), list: [{ toJSON: () => new Date(1) }] }) };
    expect(encode({ a: point, b: [point] }, "x")).toBe(
      '{"a":{"at":"1970-01-01T00:00:00.000Z","list":["1970-01-01T00:00:00.001Z"]},' +
        '"b":[{"at":"1970-01-01T00:00:00.000Z","list":["1970-01-01T00:00:00.001Z"]}]}',
    );
  });

  test("what a toJSON said when it was checked, whatever it says later", () => {
    let asked = 0;
    const fickle = { toJSON: () => ((asked += 1) > 1 ? Number.NaN : 1) };
    expect(encode({ a: fickle }, "x")).toBe('{"a":1}');
  });

  test("whatever JSON can be", () => {
    const random = seeded(7);
    for (let round = 0; round < 2_000; round += 1) {
      const value = something(random, 5);
      expect(encode(value, "x")).toBe(JSON.stringify(value));
    }
  });
});

test("a body has its members in order, without those that are undefined", () => {
  const body = encodeBody({ a: undefined, step: 1, state: objectText('{ "n": 1.0 }', "stateJson") });
  expect(body).toBe('{"step":1,"state":{ "n": 1.0 }}');
});
