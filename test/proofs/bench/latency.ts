import { runStatement, startPostgres } from "../../helpers/postgres.ts";
import { median, percentile, progress, record } from "./lib/compare.ts";
import type { Figure } from "./lib/figure.ts";
import { load, refundsOf } from "./lib/load.ts";
import { makePayments, type Running, runServer } from "./lib/processes.ts";

/*
 * How long a refund takes on PostgreSQL while several callers issue one after the other. `RELEASE` names the folder of
 * another release, with its packages installed, which is measured in turns with this one.
 */
const CALLERS = [1, 8, 32, 128, 256];
const ROUNDS = 5;
const { RELEASE } = process.env;

const postgres = await startPostgres({ durable: true });
const serve = async (database: string, release?: string) => {
  await runStatement(postgres.urlOf("postgres"), `create database ${database}`);
  const server = await runServer({ databaseUrl: postgres.urlOf(database), ...(release && { release }) });
  return { server, payments: await makePayments(server, 256) };
};
type Served = { readonly server: Running; readonly payments: string[] };
const ours = await serve("ours");
const others = RELEASE ? await serve("theirs", RELEASE) : undefined;

/** The p50 and p99 of one round, in milliseconds. */
async function measure(
  { server, payments }: Served,
  connections: number,
): Promise<[p50: number, p99: number]> {
  const { latencies, statuses } = await load({ url: server.url, body: refundsOf(payments) }, { connections });
  if ([...statuses.keys()].some((status) => status !== 201))
    throw new Error(`not all were 201: ${[...statuses]}`);
  return [percentile(latencies, 0.5), percentile(latencies, 0.99)];
}

const figures: Figure[] = [];
for (const callers of CALLERS) {
  const count = callers === 1 ? "1 caller" : `${callers} callers`;
  const rounds: { ours: [number, number]; theirs: [number, number] | undefined }[] = [];
  for (let round = -1; round < ROUNDS; round += 1) {
    progress.show(`latency, ${count}: ${round < 0 ? "warm-up" : `round ${round + 1} of ${ROUNDS}`}`);
    const first = round % 2 === 0 ? await measure(ours, callers) : undefined;
    const theirs = others && (await measure(others, callers));
    const result = { ours: first ?? (await measure(ours, callers)), theirs };
    if (round >= 0) rounds.push(result);
  }
  figures.push(
    toFigure(
      `p50 of a refund, ${count}`,
      rounds.map(({ ours, theirs }) => [ours[0], theirs?.[0]]),
      callers === 1 ? 1.05 : undefined,
    ),
  );
  figures.push(
    toFigure(
      `p99 of a refund, ${count}`,
      rounds.map(({ ours, theirs }) => [ours[1], theirs?.[1]]),
      undefined,
    ),
  );
}
progress.clear();

/** @param atMost the greatest acceptable ratio of ours to the other release's */
function toFigure(
  name: string,
  rounds: readonly [number, number | undefined][],
  atMost: number | undefined,
): Figure {
  const value = median(rounds.map(([mine]) => mine));
  const compared = rounds.filter((round): round is [number, number] => round[1] !== undefined);
  if (compared.length === 0)
    return { name, unit: "ms", value, target: "–", reached: true, rounds: rounds.map(([mine]) => [mine]) };
  const ratio = median(compared.map(([mine, theirs]) => mine / theirs));
  return {
    name,
    unit: "ms",
    value,
    against: { name: "the release before", value: median(compared.map(([, theirs]) => theirs)) },
    ratio,
    target: atMost === undefined ? "–" : `≤ ${atMost} times`,
    reached: atMost === undefined || ratio <= atMost,
    rounds: compared,
  };
}

await record("latency", figures);
await Promise.all([ours, others].map((served) => served?.server.stop()));
await postgres.stop();
