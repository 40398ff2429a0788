import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { parse } from "node:path";
import { describeMachine, readResults, saveResults, toTable } from "./lib/bench/report.ts";
import { misused, readCommandLine } from "./lib/command-line.ts";

/*
 * Benchmarks are commands, never timed tests: `npm run bench` runs all of them, `npm run bench -- first-attempt` one. Each
 * has a process of its own, so that none warms the code or fills the memory of another. With `--save` the results become
 * those of docs/performance.md.
 */
const FOLDER = "test/bench";

const files = (await readdir(FOLDER)).filter((file) => file.endsWith(".ts"));
/** What is asked for first is told first; any other part comes after these. */
const FIRST = [
  "refunds-postgres",
  "refunds-embedded",
  "http-layer",
  "deliveries",
  "first-attempt",
  "volume",
  "replicas",
];
const rank = (name: string) => [...FIRST, name].indexOf(name);
const known = files.map((file) => parse(file).name).sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
const USAGE = `npm run bench -- [--save] [name…]

  --save  makes the results those of docs/performance.md
  name    ${known.join(", ")}; all when left out
`;
const { values, positionals: wanted } = readCommandLine(USAGE, {
  options: { save: { type: "boolean", default: false } },
  allowPositionals: true,
});
const unknown = wanted.filter((name) => !known.includes(name));
if (unknown.length > 0) misused(`There is no benchmark ${unknown.join(", ")}.`, USAGE);

const chosen = wanted.length > 0 ? wanted : known;
console.log(`${describeMachine()}\n`);
for (const name of chosen) {
  const child = spawn(process.execPath, [`${FOLDER}/${name}.ts`], { stdio: "inherit" });
  const [code] = await once(child, "close");
  if (code !== 0) process.exitCode = 1;
}
const results = await readResults(chosen);
console.log(`\n${toTable(results)}\nAs JSON: .cache/bench/`);
if (values.save) await saveResults(results);
