import { spawn } from "node:child_process";
import { once } from "node:events";
import { FOLDER, known, named, options } from "./lib/options.ts";
import { describeMachine, readResults, saveResults, toTable } from "./lib/report.ts";

/*
 * Benchmarks are commands, never timed tests. Each has its own process, so that none warms up the code or fills the memory
 * of another.
 */
const chosen = named.length > 0 ? named : known;
console.log(`${describeMachine()}\n`);
for (const name of chosen) {
  const args = [`${FOLDER}/${name}.ts`, ...process.argv.slice(2)];
  const child = spawn(process.execPath, args, { stdio: "inherit" });
  const [code] = await once(child, "close");
  if (code !== 0) process.exitCode = 1;
}
const results = await readResults(chosen);
console.log(`\n${toTable(results)}\nAs JSON: .cache/bench/`);
if (options.save) await saveResults(results, known);
