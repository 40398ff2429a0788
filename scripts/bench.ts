import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { parse } from "node:path";

/*
 * Benchmarks are commands, never timed tests: `npm run bench` runs all of them, `npm run bench -- first-attempt` one. Each
 * has a process of its own, so that none warms the code or fills the memory of another.
 */
const FOLDER = "test/bench";

const known = (await readdir(FOLDER)).map((file) => parse(file).name).sort();
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`There is no benchmark ${unknown.join(", ")}. There are: ${known.join(", ")}.`);
  process.exitCode = 1;
} else {
  for (const name of wanted.length > 0 ? wanted : known) {
    const child = spawn(process.execPath, [`${FOLDER}/${name}.ts`], { stdio: "inherit" });
    const [code] = await once(child, "close");
    if (code !== 0) process.exitCode = 1;
  }
}
