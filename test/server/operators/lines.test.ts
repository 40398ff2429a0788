/** Reads a stream line by line, such as the payments that an operator imports. */
import { describe, expect, test } from "vitest";
import { readLines } from "../../../server/operators/apply-lines.ts";
import { streamOf } from "../../helpers/admin-command.ts";

async function linesOf(text: string, chunkBytes: number): Promise<[number, string | undefined][]> {
  const lines: [number, string | undefined][] = [];
  for await (const { number, bytes } of readLines(streamOf([text], chunkBytes), 10)) {
    lines.push([number, bytes?.toString()]);
  }
  return lines;
}

describe("the lines of a stream", () => {
  test.each([1, 2, 3, 5, 100])(
    "are split correctly wherever a chunk ends (chunks of %i)",
    async (chunkBytes) => {
      expect(await linesOf("one\n\nthree\nélan 💶\nlast", chunkBytes)).toEqual([
        [1, "one"],
        [2, ""],
        [3, "three"],
        [4, "élan 💶"],
        [5, "last"],
      ]);
      expect(await linesOf("one\n", chunkBytes)).toEqual([[1, "one"]]);
      expect(await linesOf("", chunkBytes)).toEqual([]);
    },
  );
});
