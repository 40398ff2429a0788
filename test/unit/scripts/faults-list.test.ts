import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { nameOf, readAreas } from "../../proofs/planted/faults.ts";

const readTable = (file: string) => parse(readFileSync(`test/proofs/planted/${file}`, "utf8"));

/** A fault whose text has changed in the source can't be planted any more. */
test("each fault that the proof plants is in the source once, and the tables have no others", async () => {
  const faults = (await readAreas()).flatMap((area) => area.faults);
  const stale = faults.filter(({ file, find }) => readFileSync(file, "utf8").split(find).length !== 2);
  const known = new Set(faults.map(nameOf));
  const rows = [...Object.keys(readTable("caught.yaml")), ...Object.keys(readTable("projects.yaml").faults)];

  expect(stale).toEqual([]);
  expect(rows.filter((name) => !known.has(name))).toEqual([]);
});
