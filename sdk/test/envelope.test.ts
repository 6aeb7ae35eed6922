/** Envelopes in camelCase; states and metadata untouched, and with `raw` the very text that came. */

import { expect, test } from "vitest";
import { read } from "../src/envelope.js";
import { ConnectionError } from "../src/index.js";
import { seeded, something } from "./random.js";

const NASTY = {
  "beyond 2^53": '{"id": 9007199254740993, "f": 0.1234567890123456789}',
  "forms of numbers": '{"o":1.0,"e":1E2,"z":-0.0,"n":1e-400}',
  NUL: String.raw`{"out": "a\u0000b"}`,
  "names twice": '{"a": 1, "b": {"c": 1, "c": [2]}, "a": {"d": 3}}',
  spacing: '{ "a"\t:\r\n[ 1 ,2 ]\n}',
  escapes: String.raw`{"\u0061\/": "\"\\\b\f\n\r\t\\\\\"", "\\": "\\"}`,
  letters: '{"é🤖": "\u2028\ufeff研究 \u007f"}',
  "odd names": '{"__proto__": {"x": 1}, "constructor": 1, "toJSON": 1, "": 2, "user_id": 3, "state": {"metadata": 1}}',
  "brackets in strings": '{"a": "]}[{\\"", "b": ["}", "\\\\"]}',
  empty: "{}",
  "a hundred levels": `{"a":${"[".repeat(99)}${"]".repeat(99)}}`,
};

function checkpoint(state: string, metadata: string): string {
  const before = '"checkpoint_id":"cp_wf_001","step":1,"label":null';
  return `{${before},"state":${state},"metadata":${metadata},"size_bytes":${state.length}}`;
}

test.each(Object.entries(NASTY))("the exact text is told with raw: %s", (_, text) => {
  const shown = { checkpointId: "cp_wf_001", step: 1, label: null, sizeBytes: text.length };
  const both = { state: JSON.parse(text), stateJson: text, metadata: JSON.parse(text), metadataJson: text };
  const one = checkpoint(text, text);
  expect(read(one, true)).toEqual({ ...shown, ...both });
  expect(read(`{"workflow_id":"w","latest_checkpoint":${one}}`, true)).toEqual({
    workflowId: "w",
    latestCheckpoint: { ...shown, ...both },
  });
  const page = `{ "checkpoints" : [ ${one} , ${checkpoint("{}", "null")} ] , "has_more" : true }\n`;
  const read_ = read(page, true) as { checkpoints: Record<string, unknown>[]; hasMore: boolean };
  expect(read_.checkpoints.map((each) => [each.stateJson, each.metadataJson])).toEqual([
    [text, text],
    ["{}", null],
  ]);
  expect(read_.hasMore).toBe(true);
});

test.each(Object.entries(NASTY))("without raw it is as JSON.parse has it: %s", (_, text) => {
  const shown = read(checkpoint(text, text), false) as { state: object; metadata: object };
  expect(JSON.stringify([shown.state, shown.metadata])).toBe(JSON.stringify([JSON.parse(text), JSON.parse(text)]));
  expect(Object.keys(shown.state)).toEqual(Object.keys(JSON.parse(text)));
});

test("a name __proto__ is a name", () => {
  for (const raw of [true, false]) {
    const { state } = read('{"state": {"__proto__": {"polluted": true}}, "__proto__": {"polluted": 1}}', raw) as {
      state: object;
    };
    expect(Object.hasOwn(state, "__proto__")).toBe(true);
    expect((state as { polluted?: unknown }).polluted).toBeUndefined();
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  }
});

test("names of the envelope change, whatever else is in it", () => {
  const text = '{"a_b":[{"c_d":null,"e":"f_g"}],"r2":"x","diff_from_previous":{"added":["user_id","a[\\"x_y\\"]"]}}';
  const shown = { aB: [{ cD: null, e: "f_g" }], r2: "x", diffFromPrevious: { added: ["user_id", 'a["x_y"]'] } };
  expect(read(text, true)).toEqual(shown);
  expect(read(text, false)).toEqual(shown);
});

test("both ways agree on whatever JSON can be", () => {
  const random = seeded(11);
  for (let round = 0; round < 500; round += 1) {
    const state = JSON.stringify({ v: something(random, 5) });
    const text = JSON.stringify({ latest_checkpoint: { state: JSON.parse(state), step: round } }, null, round % 3);
    const raw = (read(text, true) as { latestCheckpoint: { state: unknown; stateJson: string } }).latestCheckpoint;
    const plain = (read(text, false) as { latestCheckpoint: { state: unknown } }).latestCheckpoint;
    expect(raw.state).toEqual(plain.state);
    expect(text).toContain(raw.stateJson);
  }
});

test.each([
  "",
  "{",
  '{"a":',
  '{"a":1',
  '{"a" 1}',
  '{"a":1}}',
  '{"state":{"a":[}',
  '{"state":"x',
  '{"a":1 "b":2}',
  "<html>",
])("half an answer, or none of ours, is a ConnectionError: %s", (text) => {
  expect(() => read(text, true)).toThrow(ConnectionError);
  expect(() => read(text, false)).toThrow(ConnectionError);
});

test("a large answer is scanned in good time", () => {
  const state = `{"a":[${"0,".repeat(400_000)}0],"s":"${"\\\\".repeat(100_000)}"}`;
  const began = performance.now();
  expect((read(checkpoint(state, "null"), true) as { stateJson: string }).stateJson).toBe(state);
  expect(performance.now() - began).toBeLessThan(2_000);
});
