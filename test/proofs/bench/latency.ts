import { inTurns, percentile, repeat, single, toComparison } from "./lib/compare.ts";
import { bench, createDatabase, createPostgres, makePayments, serve } from "./lib/frame.ts";
import { load, refundsOf } from "./lib/load.ts";
import { options } from "./lib/options.ts";

/*
 * How long a refund takes on PostgreSQL while several callers issue one after the other. Another release is measured in turns
 * with this one, if `--release` names its folder.
 */
const CALLERS = [1, 8, 32, 128, 256];
const PARTS = [0.5, 0.99] as const;

await bench(async () => {
  const postgres = await createPostgres();
  const startServer = async (release?: string) => {
    const server = await serve(await createDatabase(postgres), {}, release);
    const payments = await makePayments(server, 256);
    /** The p50 and p99 of one round, in milliseconds. */
    return async (connections: number) => {
      const { latencies } = await load({ url: server.url, body: refundsOf(payments) }, { connections });
      return PARTS.map((part) => percentile(latencies, part));
    };
  };
  const ours = await startServer();
  const theirs = options.release ? await startServer(options.release) : undefined;

  const figuresFor = async (callers: number) => {
    const title = callers === 1 ? "1 caller" : `${callers} callers`;
    const nameOf = (part: number) => `p${part * 100} of a refund, ${title}`;
    if (!theirs) {
      const rounds = await repeat(title, () => ours(callers));
      return PARTS.map((part, index) => {
        const values = rounds.map((round) => round[index] ?? 0);
        return single(nameOf(part), "ms", values);
      });
    }
    const rounds = await inTurns(
      title,
      () => ours(callers),
      () => theirs(callers),
    );
    return PARTS.map((part, index) => {
      const sides = { name: nameOf(part), unit: "ms", against: "the release before" };
      const values = rounds.map(([mine, other]) => [mine[index] ?? 0, other[index] ?? 0] as const);
      return toComparison({ ...sides, ...(callers === 1 && part === 0.5 && { atMost: 1.05 }) }, values);
    });
  };
  const figures = [];
  for (const callers of CALLERS) figures.push(...(await figuresFor(callers)));
  return { figures };
});
