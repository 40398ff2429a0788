import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { parse } from "node:path";
import { describeMachine, readResults, saveResults, toTable } from "./lib/bench/report.ts";

/*
 * Benchmarks are commands, never timed tests: `npm run bench` runs all of them, `npm run bench -- first-attempt` one. Each
 * has a process of its own, so that none warms the code or fills the memory of another. With `--save` the results become
 * those of docs/performance.md.
 */
const FOLDER = "test/bench";

const files = (await readdir(FOLDER)).filter((file) => file.endsWith(".ts"));
const known = files.map((file) => parse(file).name).sort();
const wanted = process.argv.slice(2).filter((argument) => argument !== "--save");
const unknown = wanted.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`There is no benchmark ${unknown.join(", ")}. There are: ${known.join(", ")}.`);
  process.exitCode = 1;
} else {
  const chosen = wanted.length > 0 ? wanted : known;
  console.log(`${describeMachine()}\n`);
  for (const name of chosen) {
    const child = spawn(process.execPath, [`${FOLDER}/${name}.ts`], { stdio: "inherit" });
    const [code] = await once(child, "close");
    if (code !== 0) process.exitCode = 1;
  }
  const results = await readResults(chosen);
  console.log(`\n${toTable(results)}\nAs JSON: .cache/bench/`);
  if (process.argv.includes("--save")) await saveResults(results);
}
