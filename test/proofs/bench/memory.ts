import { startPostgres } from "../../helpers/postgres.ts";
import { median, progress, record, single } from "./lib/compare.ts";
import type { Figure } from "./lib/figure.ts";
import { load, refundsOf } from "./lib/load.ts";
import { makePayments, type Running, runServer } from "./lib/processes.ts";

/* Resident memory of the server after 100,000 refunds, and whether it still grows over the last half of them. */
const REFUNDS = Number(process.env.BENCH_REFUNDS ?? 100_000);
const STEP_SECONDS = 2;
/** Garbage that may not have been collected yet, in MB. */
const NOISE_MB = 25;

async function measure(store: string, server: Running, atMostMb: number): Promise<[Figure[], string]> {
  const payments = await makePayments(server, 64);
  const body = refundsOf(payments);
  const samples: { rate: number; mb: number }[] = [];
  for (let refunds = 0; refunds < REFUNDS; ) {
    const { latencies, rate } = await load({ url: server.url, body }, { seconds: STEP_SECONDS });
    refunds += latencies.length;
    samples.push({ rate, mb: server.memoryMb() });
    progress.show(
      `memory, ${store}: ${refunds.toLocaleString("en")} refunds, ${server.memoryMb().toFixed(0)} MB`,
    );
  }
  progress.clear();
  const half = samples.slice(Math.floor(samples.length / 2)).map(({ mb }) => mb);
  const growth =
    median(half.slice(Math.floor(half.length / 2))) - median(half.slice(0, Math.floor(half.length / 2)));
  const after = `after ${REFUNDS.toLocaleString("en")} refunds, ${store}`;
  const figures = [
    single(`resident memory ${after}`, "MB", half, atMostMb),
    single(`growth of memory over the last half, ${store}`, "MB", [growth], NOISE_MB),
  ];
  const tenth = Math.ceil(samples.length / 10);
  const rateOf = (some: typeof samples) => median(some.map(({ rate }) => rate)).toFixed(0);
  const some = samples.filter((_, index) => index % tenth === 0);
  const note = `On the ${store} store memory was ${some.map(({ mb }) => mb.toFixed(0)).join(", ")} MB in turn.
    It made ${rateOf(samples.slice(0, tenth))} refunds/s in the first tenth and ${rateOf(samples.slice(-tenth))} in the last.`;
  return [figures, note.replace(/\s+/g, " ")];
}

const embedded = await runServer();
const [ofEmbedded, embeddedNote] = await measure("embedded", embedded, 350);
await embedded.stop();
const postgres = await startPostgres({ durable: true });
const pooled = await runServer({ databaseUrl: postgres.urlOf("postgres") });
const [ofPostgres, postgresNote] = await measure("PostgreSQL", pooled, 250);
await pooled.stop();
await postgres.stop();
await record("memory", [...ofEmbedded, ...ofPostgres], [embeddedNote, postgresNote]);
