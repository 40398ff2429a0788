import { randomBytes } from "node:crypto";
import { misused, readCommandLine } from "./lib/command-line.ts";
import { type Failure, type FuzzOptions, fuzz, levels } from "./lib/fuzz/fuzz.ts";
import { judgeMemory } from "./lib/fuzz/memory.ts";
import { withPostgres } from "./lib/fuzz/postgres-process.ts";
import { createTally, type Tally, toTable } from "./lib/fuzz/tally.ts";
import { type Watch, watchProcess } from "./lib/fuzz/watch.ts";
import { secondsSince } from "./lib/redocly.ts";
import { withSandboxProcess } from "./lib/sandbox-process.ts";

/*
 * Sends requests made from the contract, good and bad, to a sandbox, until one is answered as none should be. See
 * scripts/lib/fuzz/ for what is held against the answers.
 */
const USAGE = `npm run fuzz -- [--requests 10000] [--seed 1] [--lanes 4] [--levels valid,headers] [--database postgres] [--limit 10000] [--own-limit 1000] [--url http://…] [--path …]

  --requests   to make (--runs is the same)
  --seed       makes the same requests again; another one each time when left out
  --lanes      connections that send at the same time
  --levels     of ${levels.join(", ")}; all when left out
  --database   embedded or postgres, of which one is started
  --limit      milliseconds that a call may take
  --own-limit  milliseconds that the server itself may take for a call, without what it waited for a processor; 1000 from
               100,000 requests on, where the machine should have nothing else to do
  --url        a sandbox that runs already; when left out, one of its own, which is watched: its memory must not grow over the
               second half of the run
  --path       where to begin, as a failure prints it; with --lanes 1
`;

const PROGRESS_MS = 10_000;
/** From so many requests on, a run is one of the long ones. */
const LONG = 100_000;
const OWN_LIMIT_MS = "1000";

const { values } = readCommandLine(USAGE, {
  options: {
    requests: { type: "string" },
    runs: { type: "string", default: "10000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000_000) },
    lanes: { type: "string", default: "4" },
    levels: { type: "string" },
    database: { type: "string", default: "embedded" },
    limit: { type: "string", default: "10000" },
    "own-limit": { type: "string" },
    url: { type: "string" },
    path: { type: "string" },
  },
});

if (values.url) await run(values.url, undefined);
else if (values.database === "embedded") await withSandboxProcess(({ url, pid }) => run(url, pid));
else if (values.database === "postgres") await withPostgres(runOnPostgres);
else misused("--database must be embedded or postgres", USAGE);

function runOnPostgres(databaseUrl: string): Promise<void> {
  const ENCRYPTION_KEY = randomBytes(32).toString("base64");
  return withSandboxProcess(({ url, pid }) => run(url, pid), { DATABASE_URL: databaseUrl, ENCRYPTION_KEY });
}

async function run(url: string, pid: number | undefined): Promise<void> {
  const runs = toCount("requests", values.requests ?? values.runs);
  const ownLimit = values["own-limit"] ?? (runs >= LONG ? OWN_LIMIT_MS : undefined);
  const watch = pid === undefined ? undefined : watchProcess(pid);
  const options: FuzzOptions = {
    ...{ url, runs, path: values.path, levels: values.levels?.split(",") },
    seed: Number(values.seed),
    lanes: toCount("lanes", values.lanes),
    limitMs: toCount("limit", values.limit),
    own: ownLimit
      ? {
          limitMs: toCount("own-limit", ownLimit),
          idleBetween: watch?.idleBetween ?? (() => 0),
        }
      : undefined,
  };
  console.log(`${runs} requests to ${url}, seed ${options.seed}, ${options.lanes} lanes`);
  const start = performance.now();
  const tally = createTally();
  const tell = () => console.log(progress(tally, start, watch?.memory.at(-1)));
  const timer = setInterval(tell, PROGRESS_MS);
  const { failure } = await fuzz(options, tally).finally(() => clearInterval(timer));
  watch?.stop();
  tell();

  console.log(`\n${toTable(tally)}\n\nslowest: ${tally.slowestMs.toFixed(0)} ms (${tally.slowest})`);
  if (watch) reportMemory(watch);
  if (failure) report(failure);
}

function toCount(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) misused(`--${name} must be a whole number from 1`, USAGE);
  return value;
}

function progress({ calls, slowestMs }: Tally, start: number, megabytes: number | undefined): string {
  const rate = (calls / (performance.now() - start)) * 1000;
  const memory = megabytes === undefined ? "" : `, server ${megabytes} MB`;
  return `${calls} calls in ${secondsSince(start)}, ${rate.toFixed(0)}/s, slowest ${slowestMs.toFixed(0)} ms${memory}`;
}

function reportMemory({ memory }: Watch): void {
  if (memory.length > 1) console.log(`memory of the server, MB, from first to last: ${toSeries(memory)}`);
  const { medians, grew } = judgeMemory(memory);
  if (!medians) console.log("Too short a run to judge the memory by.");
  else console.log(`medians of the third and of the last quarter: ${medians.join(" and ")} MB`);
  if (!grew) return;
  console.error("\nFAILED: the server's memory goes on growing");
  process.exitCode = 1;
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
