import { expect, test } from "vitest";

import type { Operation } from "../../build/openapi";
import { curlOf, readable, requestOf } from "./call";

const parameter = (where: "path" | "query" | "header", name: string, required = false) =>
  ({ in: where, name, required, type: "string", text: "", choices: [] });
const resume: Operation = {
  id: "resume_workflow", tag: "Workflows", method: "GET", path: "/workflows/{workflow_id}/resume", title: "", text: "", scope: null,
  auth: "apiKey", body: null, responses: [],
  parameters: [parameter("path", "workflow_id", true), parameter("query", "agent_id"), parameter("header", "If-Match")],
};
const draft = { server: "http://127.0.0.1:8000/", token: "snp_1", values: { workflow_id: "a/b c", agent_id: "me" }, body: "" };

test("ids are encoded, empty parameters are left out, the key goes into its header", () => {
  expect(requestOf(resume, draft)).toEqual({
    url: "http://127.0.0.1:8000/workflows/a%2Fb%20c/resume?agent_id=me",
    method: "GET",
    headers: { Authorization: "Bearer snp_1" },
    body: undefined,
  });
});

test("what is needed and missing is named", () => {
  expect(() => requestOf(resume, { ...draft, values: {} })).toThrow("workflow_id is needed.");
});

test("the same as curl holds the key's name, never the key", () => {
  const text = curlOf(resume, draft);
  expect(text).toContain('-H "Authorization: Bearer $SNAPSTATE_API_KEY"');
  expect(text).not.toContain("snp_1");
});

test("an answer is indented, and its numbers stay as they came", () => {
  expect(readable('{"a":1.0,"b":[],"c":[9007199254740993,"x: {y}, \\"z\\""]}')).toBe(
    '{\n  "a": 1.0,\n  "b": [],\n  "c": [\n    9007199254740993,\n    "x: {y}, \\"z\\""\n  ]\n}',
  );
});

test("what is no JSON object or array stays as it is", () => {
  expect(readable("# HELP a b: c\na 1")).toBe("# HELP a b: c\na 1");
  expect(readable("")).toBe("");
});

test.each([".", ".."])("an id that a browser would make another path of is not sent: %s", (id) => {
  expect(() => requestOf(resume, { ...draft, values: { workflow_id: id } })).toThrow("workflow_id cannot be");
});

test("what no header can hold is named, not taken for a silent server", () => {
  expect(() => requestOf(resume, { ...draft, token: "snp_…" })).toThrow("The key has characters that no key has.");
  expect(() => requestOf(resume, { ...draft, values: { workflow_id: "a", "If-Match": "“1”" } })).toThrow("If-Match has characters");
});

test("spaces that came along with a copied key do not make it a wrong one", () => {
  expect(requestOf(resume, { ...draft, token: " snp_1\n" }).headers.Authorization).toBe("Bearer snp_1");
});

test.each(["127.0.0.1:8000", "localhost:8000", "ftp://127.0.0.1"])("a server is an address in full: %s is none", (server) => {
  expect(() => requestOf(resume, { ...draft, server })).toThrow("http:// or https://");
});

test("the same as curl names a key also before one is typed in, and the operators' secret by its own name", () => {
  expect(curlOf(resume, { ...draft, token: "" })).toContain('-H "Authorization: Bearer $SNAPSTATE_API_KEY"');
  expect(curlOf({ ...resume, auth: "operator" }, draft)).toContain('-H "Authorization: Bearer $ADMIN_SECRET"');
});
