import { describe, expect, test } from "vitest";
import { assessMemory } from "../../proofs/fuzz/memory.ts";

const SAMPLES = 2_000;
const over = (megabytesAt: (part: number) => number) =>
  Array.from({ length: SAMPLES }, (_, at) => megabytesAt(at / SAMPLES));

describe("the memory of a fuzzed server", () => {
  test.each<[name: string, grew: boolean, megabytesAt: (part: number) => number]>([
    ["that stays as it is", false, () => 300],
    ["that is full after the first half", false, (part) => 100 + 400 * Math.min(part, 0.5)],
    ["that goes up and down with the garbage", false, (part) => 300 + 200 * ((part * 16) % 1)],
    ["that grows by a tenth from quarter to quarter", false, (part) => 300 * 1.1 ** (4 * part)],
    ["that grows all the time", true, (part) => 100 + 900 * part],
    ["that begins to grow late", true, (part) => 300 + Math.max(0, part - 0.75) * 1_200],
    ["that grows below its garbage", true, (part) => 300 + 600 * part + 100 * ((part * 16) % 1)],
  ])("%s is judged by its medians", (_name, grew, megabytesAt) => {
    expect(assessMemory(over(megabytesAt)).grew).toBe(grew);
  });

  test("is not judged by a short run", () => {
    expect(assessMemory(over((part) => 100 + 900 * part).slice(0, 500))).toEqual({
      medians: undefined,
      grew: false,
    });
  });
});
