import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { parse } from "node:path";
import { Argument } from "@commander-js/extra-typings";
import { defineProof } from "../../../scripts/command/command.ts";
import { describeMachine, readResults, saveResults, toTable } from "./lib/report.ts";

/*
 * Benchmarks are commands, never timed tests. Each has its own process, so that none warms up the code or fills the memory
 * of another.
 */
const FOLDER = "test/proofs/bench";

const files = (await readdir(FOLDER)).filter((file) => file.endsWith(".ts"));
/** The benchmarks that readers ask about first; all others come after these. */
const FIRST = ["refunds-postgres", "latency", "refunds-embedded", "http-layer", "deliveries"];
const rank = (name: string) => [...FIRST, name].indexOf(name);
const known = files.map((file) => parse(file).name).sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));

const command = defineProof("bench")
  .option("--save", "write the results to docs/performance.md")
  .addArgument(new Argument("[name...]", "which benchmarks; all when left out").choices(known))
  .parse();
const [wanted] = command.processedArgs;

const chosen = wanted.length > 0 ? wanted : known;
console.log(`${describeMachine()}\n`);
for (const name of chosen) {
  const child = spawn(process.execPath, [`${FOLDER}/${name}.ts`], { stdio: "inherit" });
  const [code] = await once(child, "close");
  if (code !== 0) process.exitCode = 1;
}
const results = await readResults(chosen);
console.log(`\n${toTable(results)}\nAs JSON: .cache/bench/`);
if (command.opts().save) await saveResults(results, known);
