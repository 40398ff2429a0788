import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpus } from "node:os";
import { known, names } from "./options.ts";

/*
 * Benchmarks are commands, never timed tests. Each has its own process, so that none warms up the code or fills the memory
 * of another.
 */
console.log(`${cpus().length} cores (${cpus()[0]?.model.trim()}), Node ${process.version}`);
for (const name of names.length > 0 ? names : known) {
  const args = [`${import.meta.dirname}/${name}.ts`, ...process.argv.slice(2)];
  const [code] = await once(spawn(process.execPath, args, { stdio: "inherit" }), "close");
  if (code !== 0) process.exitCode = 1;
}
