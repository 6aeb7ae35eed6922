import { expect, test } from "vitest";

import { around, find } from "./find";

test("the words around a hit begin with a whole word", () => {
  const text = `${"before ".repeat(20)}the etag names one revision`;
  expect(around(text, "ETAG")).toMatch(/^… before .*the etag names one revision$/);
});

test("a hit at the beginning, or none, shows the beginning", () => {
  expect(around("An etag names one revision", "etag")).toBe("An etag names one revision");
  expect(around("Nothing of it", "etag")).toBe("Nothing of it");
});

test("sections are found by the beginnings of words and in spite of a slip", async () => {
  expect((await find("webhoks verif"))[0]?.path).toBe("/webhooks#verify-what-you-receive");
  expect((await find("backup"))[0]?.path).toBe("/operations#backup");
  expect((await find("  ")).length).toBe(0);
});
