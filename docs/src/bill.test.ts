import { expect, test } from "vitest";

import { bill, exact, line } from "./bill";

const used = (checkpoint_writes: string, storage_gb: string, resume_calls: string, replay_calls: string) => ({
  checkpoint_writes,
  storage_gb,
  resume_calls,
  replay_calls,
});

test("the example of the pricing page", () => {
  expect(bill(used("50000", "5", "20000", "3000"))).toBe("$51.90");
});

test("what is free costs nothing", () => {
  expect(bill(used("10000", "1", "5000", "1000"))).toBe("$0.00");
});

test("half a cent is rounded up, and only the sum is rounded", () => {
  expect(line("checkpoint_writes", "10005")).toBe("$0.01");
  expect(line("checkpoint_writes", "10004")).toBe("$0.00");
  expect(bill(used("10004", "1", "5002", "1000"))).toBe("$0.01");
});

test("a part of a gigabyte counts as a part", () => {
  expect(line("storage_gb", "1.5")).toBe("$0.05");
});

test("what is no decimal is refused", () => {
  expect(() => exact("1e3")).toThrow(RangeError);
  expect(() => exact("-1")).toThrow(RangeError);
});
