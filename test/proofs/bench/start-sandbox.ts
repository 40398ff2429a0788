import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BUILT_NAMES, createPackedProject } from "../../helpers/packages.ts";
import { runProgram } from "../../helpers/process.ts";
import { repeat, single } from "./lib/compare.ts";
import { bench, keepUntilEnd, OPERATOR_ENV } from "./lib/frame.ts";

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

await bench(async () => {
  const packages = keepUntilEnd(await createPackedProject(BUILT_NAMES));
  const file = join(packages.folder, "start.js");
  await writeFile(file, PROGRAM);
  const run = async (): Promise<Sample> =>
    JSON.parse((await runProgram([process.execPath, file], { env: OPERATOR_ENV })).stdout);
  const samples = await repeat("start-sandbox", run, ROUNDS);
  const seconds = (of: keyof Sample) => samples.map((sample) => sample[of] / 1_000);
  return {
    figures: [
      single("startSandbox() in a fresh process, from the start of Node", "s", seconds("firstMs"), 2),
      single("of which the start of Node and the loading of modules", "s", seconds("loadedMs")),
      single("startSandbox() again in the same process", "s", seconds("secondMs"), 2),
    ],
  };
});
