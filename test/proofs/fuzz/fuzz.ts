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
import { assessMemory } from "./memory.ts";
import { type Failure, type FuzzOptions, fuzz, levels } from "./run.ts";
import { createTally, type Tally, toTable } from "./tally.ts";
import { type Watch, watchProcess } from "./watch.ts";

const LOG_MS = 10_000;
/** From this many requests on, a run counts as a long one. */
const LONG = 100_000;
const OWN_LIMIT_MS = 1_000;

const count = wholeNumber(1, 999_999_999);
const values = defineProof("fuzz")
  .option("--requests <n>", "how many to make (--runs is the same); 10000 when left out", count)
  .addOption(new Option("--runs <n>").argParser(count).default(10_000).hideHelp())
  .option("--seed <n>", "makes the same requests again; a random one when left out", seedNumber)
  .option("--connections <n>", "connections that send at the same time", count, 4)
  .option("--levels <names>", `which of ${levels.join(",")}; all when left out`)
  .addOption(
    new Option("--database <name>", "of the sandbox that is started")
      .choices(["embedded", "postgres"])
      .default("embedded"),
  )
  .option("--limit <ms>", "how long a response may take", count, 10_000)
  .option(
    "--own-limit <ms>",
    "how long the server itself may take for a request, without what it waited for a processor; 1000 from 100,000 requests on, where the machine should have nothing else to do",
    count,
  )
  .option(
    "--url <url>",
    "a running sandbox; otherwise one is started, whose memory must not grow in the second half of the run",
  )
  .option("--path <path>", "where to begin, as a failure prints it; with --connections 1")
  .parse()
  .opts();

if (values.url) await run(values.url, undefined);
else if (values.database === "embedded") await runOnSandbox();
else await runOnPostgres();

async function runOnSandbox(env: Settings = {}): Promise<void> {
  await using sandbox = await startServerProcess({ env });
  sandbox.ignoreOutput();
  await run(sandbox.url, sandbox.pid);
}

async function runOnPostgres(): Promise<void> {
  const postgres = await startPostgres({ durable: true });
  const ENCRYPTION_KEY = randomBytes(32).toString("base64");
  await runOnSandbox({ DATABASE_URL: postgres.urlOf("postgres"), ENCRYPTION_KEY }).finally(postgres.stop);
}

async function run(url: string, pid: number | undefined): Promise<void> {
  const runs = values.requests ?? values.runs;
  const ownLimitMs = values.ownLimit ?? (runs >= LONG ? OWN_LIMIT_MS : undefined);
  const watch = pid === undefined ? undefined : watchProcess(pid);
  const options: FuzzOptions = {
    ...{ url, runs, path: values.path, levels: values.levels?.split(",") },
    seed: values.seed ?? randomSeed(),
    connections: values.connections,
    limitMs: values.limit,
    own: ownLimitMs ? { limitMs: ownLimitMs, idleBetween: watch?.idleBetween ?? (() => 0) } : undefined,
  };
  console.log(`${runs} requests to ${url}, seed ${options.seed}, ${options.connections} connections`);
  const start = performance.now();
  const tally = createTally();
  const progress = createProgress(process.stdout, { logMs: LOG_MS });
  const describe = () => describeTally(tally, start, watch?.memory.at(-1));
  const timer = setInterval(() => progress.show(describe()), 1_000);
  const { failure } = await fuzz(options, tally).finally(() => clearInterval(timer));
  watch?.stop();
  progress.clear();
  console.log(describe());

  console.log(`\n${toTable(tally)}\n\nslowest: ${tally.slowestMs.toFixed(0)} ms (${tally.slowest})`);
  if (watch) reportMemory(watch);
  if (failure) report(failure);
}

function describeTally({ calls, slowestMs }: Tally, start: number, megabytes: number | undefined): string {
  const rate = (calls / (performance.now() - start)) * 1000;
  const memory = megabytes === undefined ? "" : `, server ${megabytes} MB`;
  return `${calls} calls in ${secondsSince(start)}, ${rate.toFixed(0)}/s, slowest ${slowestMs.toFixed(0)} ms${memory}`;
}

function reportMemory({ memory }: Watch): void {
  if (memory.length > 1) console.log(`memory of the server, MB, from first to last: ${toSeries(memory)}`);
  const { medians, grew } = assessMemory(memory);
  if (!medians) console.log("The run was too short to measure memory growth.");
  else console.log(`medians of the third and of the last quarter: ${medians.join(" and ")} MB`);
  if (!grew) return;
  console.error("\nFAILED: the server's memory keeps growing");
  process.exitCode = 1;
}

/** At most ten of them, evenly spaced, including the first and the last. */
function toSeries(samples: readonly number[]): string {
  const last = samples.length - 1;
  const shown = Math.min(10, samples.length);
  return Array.from({ length: shown }, (_, at) => samples[Math.round((at * last) / (shown - 1))]).join(" ");
}

function report({ message, request, command, seed, path }: Failure): void {
  console.error(
    `\nFAILED: ${message}\n\nthe smallest such request:\n${request.toString()}\n\nsend it:\n${command}\n`,
  );
  console.error(
    `find it again: npm run proof -- fuzz --seed ${seed} --path ${path} --connections 1${levelsOption()}`,
  );
  process.exitCode = 1;
}

function levelsOption(): string {
  return values.levels ? ` --levels ${values.levels}` : "";
}
