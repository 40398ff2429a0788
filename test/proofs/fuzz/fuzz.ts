import { randomBytes } from "node:crypto";
import { Option } from "@commander-js/extra-typings";
import {
  defineProof,
  randomSeed,
  secondsSince,
  seedNumber,
  wholeNumber,
} from "../../../scripts/command/command.ts";
import { createProgress } from "../../../scripts/command/progress.ts";
import { startPostgres } from "../../helpers/postgres.ts";
import { type Settings, startServerProcess } from "../../helpers/process.ts";
import { type Failure, fuzz } from "./fuzzer.ts";
import { createTally, type Tally, toTable } from "./tally.ts";

const LOG_MS = 10_000;
/** Far longer than the server needs, even on a busy machine. */
const LIMIT_MS = 5_000;

const count = wholeNumber(1, 999_999_999);
const { runs, seed, connections, database, path } = defineProof("fuzz")
  .option("--runs <n>", "how many requests to make", count, 10_000)
  .option("--seed <n>", "makes the same requests again; a random one when left out", seedNumber, randomSeed())
  .option("--connections <n>", "connections that send at the same time", count, 4)
  .addOption(
    new Option("--database <name>", "of the sandbox").choices(["embedded", "postgres"]).default("embedded"),
  )
  .option("--path <path>", "where to begin, as a failure prints it; with --connections 1")
  .parse()
  .opts();

if (database === "embedded") await run();
else {
  const postgres = await startPostgres({ durable: true });
  const ENCRYPTION_KEY = randomBytes(32).toString("base64");
  await run({ DATABASE_URL: postgres.urlOf("postgres"), ENCRYPTION_KEY }).finally(postgres.stop);
}

/** Fuzzes a sandbox of its own. */
async function run(env: Settings = {}): Promise<void> {
  await using sandbox = await startServerProcess({ env });
  sandbox.ignoreOutput();
  const { url } = sandbox;
  console.log(`${runs} requests to ${url}, seed ${seed}, ${connections} connections`);
  const start = performance.now();
  const tally = createTally();
  const progress = createProgress(process.stdout, { logMs: LOG_MS });
  const timer = setInterval(() => progress.show(describeTally(tally, start)), 1_000);
  const options = { url, runs, seed, path, connections, limitMs: LIMIT_MS };
  const { failure } = await fuzz(options, tally).finally(() => clearInterval(timer));
  progress.clear();
  console.log(`${describeTally(tally, start)}\n\n${toTable(tally)}\n`);
  if (failure) report(failure);
}

function describeTally({ calls, slowestMs }: Tally, start: number): string {
  const rate = (calls / (performance.now() - start)) * 1000;
  return `${calls} calls in ${secondsSince(start)}, ${rate.toFixed(0)}/s, slowest ${slowestMs.toFixed(0)} ms`;
}

function report({ message, request, seed, path }: Failure): void {
  console.error(`\nFAILED: ${message}\n\nthe smallest such request:\n${request}\n`);
  console.error(`find it again: npm run proof -- fuzz --seed ${seed} --path ${path} --connections 1`);
  process.exitCode = 1;
}
