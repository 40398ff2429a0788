import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { Argument } from "@commander-js/extra-typings";
import { defineProof, seedNumber } from "../../../scripts/command/command.ts";
import { runTests } from "../../../scripts/test/vitest-report.ts";
import { findCitus } from "./setup/citus.ts";

const FIGURES = ".cache/engines.txt";
const SUITES_REPORT = ".cache/engines-suites.json";
const SUFFIX = ".test.ts";
/** The tests of the project itself, on distributed tables. */
const OWN_TESTS = "suites";

const proofs = (await readdir("test/proofs/engines"))
  .filter((file) => file.endsWith(SUFFIX))
  .map((file) => file.slice(0, -SUFFIX.length));

const command = defineProof(
  "engines",
  "Runs servers on a PostgreSQL whose tables are spread over machines with Citus: the tests, conformance, faults, moving rows to a new machine, and throughput. Does nothing where Citus is not installed for the PostgreSQL of PG_CONFIG, pg_config or /usr/lib/postgresql.",
)
  .option("--seed <n>", "makes the same random choices again", seedNumber, 1)
  .addArgument(
    new Argument("[name...]", "which parts to run; all when left out").choices([OWN_TESTS, ...proofs]),
  )
  .parse();
if (findCitus()) await main(command.opts().seed, command.args);
else console.log("engines: not run, because there is no PostgreSQL with Citus here");

async function main(seed: number, names: readonly string[]): Promise<void> {
  await mkdir(".cache", { recursive: true });
  await writeFile(FIGURES, "");
  const isChosen = (name: string) => names.length === 0 || names.includes(name);
  if (isChosen(OWN_TESTS)) await runOwnTests();
  const chosen = proofs.filter(isChosen);
  if (chosen.length > 0) await runProofs(seed, chosen);
  process.stdout.write(`Engines with --seed ${seed}:\n${await readFile(FIGURES, "utf8")}`);
  await rm(FIGURES);
}

async function runOwnTests(): Promise<void> {
  const { passed, failed, broken } = await runTests(SUITES_REPORT, {
    args: ["--project", "storage", "--project", "server"],
    env: { ENGINE: "citus" },
  });
  await writeFile(FIGURES, `tests on distributed tables: ${passed} passed, ${failed} failed\n`);
  if (failed > 0 || broken) process.exitCode = 1;
}

async function runProofs(seed: number, names: readonly string[]): Promise<void> {
  const files = names.map((name) => `test/proofs/engines/${name}${SUFFIX}`);
  const child = spawn("vitest", ["run", "--config", "test/proofs/engines/vitest.config.ts", ...files], {
    env: { ...process.env, FAULT_SEED: String(seed), FAULT_FIGURES: FIGURES },
    stdio: "inherit",
  });
  const [code] = await once(child, "close");
  if (code !== 0) process.exitCode = 1;
}
