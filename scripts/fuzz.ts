import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { type Failure, type FuzzOptions, fuzz, levels } from "./lib/fuzz/fuzz.ts";
import { createTally, type Tally, toTable } from "./lib/fuzz/tally.ts";
import { secondsSince } from "./lib/redocly.ts";
import { withSandboxProcess } from "./lib/sandbox-process.ts";

/*
 * Sends requests made from the contract, good and bad, to a sandbox, until one is answered as none should be. See
 * scripts/lib/fuzz/ for what is held against the answers.
 */
const USAGE = `npm run fuzz -- [--runs 10000] [--seed 1] [--lanes 4] [--levels valid,headers] [--limit 10000] [--url http://…] [--path …]

  --runs    requests to make
  --seed    makes the same requests again; another one each time when left out
  --lanes   connections that send at the same time
  --levels  of ${levels.join(", ")}; all when left out
  --limit   milliseconds that a call may take
  --url     a sandbox that runs already; when left out, one of its own, whose memory is watched
  --path    where to begin, as a failure prints it; with --lanes 1
`;

const PROGRESS_MS = 10_000;

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "10000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000_000) },
    lanes: { type: "string", default: "4" },
    levels: { type: "string" },
    limit: { type: "string", default: "10000" },
    url: { type: "string" },
    path: { type: "string" },
    help: { type: "boolean", short: "h", default: false },
  },
});

if (values.help) process.stdout.write(USAGE);
else if (values.url) await run(values.url, undefined);
else await withSandboxProcess(({ url, pid }) => run(url, pid));

async function run(url: string, pid: number | undefined): Promise<void> {
  const options: FuzzOptions = {
    ...{ url, path: values.path, levels: values.levels?.split(",") },
    ...{
      runs: toCount("runs"),
      seed: Number(values.seed),
      lanes: toCount("lanes"),
      limitMs: toCount("limit"),
    },
  };
  console.log(`${options.runs} requests to ${url}, seed ${options.seed}, ${options.lanes} lanes`);
  const start = performance.now();
  const tally = createTally();
  const memory: number[] = [];
  const tell = async () => {
    const megabytes = pid === undefined ? undefined : await memoryOf(pid);
    if (megabytes !== undefined) memory.push(megabytes);
    console.log(progress(tally, start, megabytes));
  };
  const timer = setInterval(tell, PROGRESS_MS);
  const { failure } = await fuzz(options, tally).finally(() => clearInterval(timer));
  await tell();

  console.log(`\n${toTable(tally)}\n\nslowest: ${tally.slowestMs.toFixed(0)} ms (${tally.slowest})`);
  if (memory.length > 1) console.log(`memory of the server, MB: ${toSeries(memory)}`);
  if (failure) report(failure);
}

function toCount(name: "runs" | "lanes" | "limit"): number {
  const value = Number(values[name]);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new Error(`--${name} must be a whole number from 1\n\n${USAGE}`);
  return value;
}

function progress({ calls, slowestMs }: Tally, start: number, megabytes: number | undefined): string {
  const rate = (calls / (performance.now() - start)) * 1000;
  const memory = megabytes === undefined ? "" : `, server ${megabytes} MB`;
  return `${calls} calls in ${secondsSince(start)}, ${rate.toFixed(0)}/s, slowest ${slowestMs.toFixed(0)} ms${memory}`;
}

/** Resident memory, where the system tells it in the way of Linux. */
async function memoryOf(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const kilobytes = /VmRSS:\s+(\d+)/.exec(status)?.[1];
  return kilobytes === undefined ? undefined : Math.round(Number(kilobytes) / 1024);
}

/** At most ten of them, evenly taken, the first and the last among them. */
function toSeries(samples: readonly number[]): string {
  const last = samples.length - 1;
  const shown = Math.min(10, samples.length);
  return Array.from({ length: shown }, (_, at) => samples[Math.round((at * last) / (shown - 1))]).join(" ");
}

function report({ message, request, command, seed, path }: Failure): void {
  console.error(
    `\nFAILED: ${message}\n\nthe smallest such request:\n${request.toString()}\n\nsend it:\n${command}\n`,
  );
  console.error(`find it again: npm run fuzz -- --seed ${seed} --path ${path} --lanes 1${levelsOption()}`);
  process.exitCode = 1;
}

function levelsOption(): string {
  return values.levels ? ` --levels ${values.levels}` : "";
}
