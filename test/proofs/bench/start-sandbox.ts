import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { unpackPackages } from "../../scripts/packages/packed.ts";
import { progress, record, single } from "./lib/compare.ts";

/*
 * How long a test suite waits for `startSandbox()` of the published package: in a fresh process, including the start of
 * Node, and for a second sandbox in the same process.
 */
const ROUNDS = 7;

const PROGRAM = `const { startSandbox } = await import("@refund-contract/sandbox");
const loadedMs = performance.now();
const first = await startSandbox();
const firstMs = performance.now();
await first.close();
const closedMs = performance.now();
const second = await startSandbox();
const secondMs = performance.now() - closedMs;
await second.close();
console.log(JSON.stringify({ loadedMs, firstMs, secondMs }));
`;

type Sample = { readonly loadedMs: number; readonly firstMs: number; readonly secondMs: number };

const packages = await unpackPackages();
const file = join(packages.folder, "start.js");
await writeFile(file, PROGRAM);
const samples: Sample[] = [];
// The first round is not counted: it fills the caches of the disk.
for (let round = -1; round < ROUNDS; round += 1) {
  progress.show(`start-sandbox: round ${round + 1} of ${ROUNDS}`);
  const { stdout } = await promisify(execFile)(process.execPath, [file]);
  if (round >= 0) samples.push(JSON.parse(stdout));
}
progress.clear();
await packages.remove();
const seconds = (of: keyof Sample) => samples.map((sample) => sample[of] / 1_000);
await record("start-sandbox", [
  single("startSandbox() in a fresh process, from the start of Node", "s", seconds("firstMs"), 2),
  single("of which the start of Node and the loading of modules", "s", seconds("loadedMs"), undefined),
  single("startSandbox() again in the same process", "s", seconds("secondMs"), 2),
]);
