import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";

type Fault = { readonly file: string; readonly find: string; readonly replace: string };

const FOLDER = "test/proofs/planted";
const areas: readonly { faults: readonly Fault[] }[] = parse(readFileSync(`${FOLDER}/faults.yaml`, "utf8"));
const faults = areas.flatMap((area) => area.faults);

/** A fault whose text has changed in the source can't be planted any more. */
test("each fault that the proof plants is in the source once, and the table has no others", () => {
  const stale = faults.filter(({ file, find }) => readFileSync(file, "utf8").split(find).length !== 2);
  const known = new Set(faults.map(({ file, find, replace }) => `${file}: ${find} → ${replace}`));
  const table = Object.keys(parse(readFileSync(`${FOLDER}/caught.yaml`, "utf8")));

  expect(stale).toEqual([]);
  expect(table.filter((name) => !known.has(name))).toEqual([]);
});
