import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { runAdmin } from "../../../server/operators/run-command.ts";
import { collectOutput, linesOfPayment } from "../../helpers/admin.ts";
import { createTestDatabase } from "../../helpers/databases.ts";
import { type SilentProxy, startSilentProxy } from "../../helpers/network/proxies.ts";
import { allEvents, allRecords, newMerchant } from "../../helpers/store-factories.ts";

const PAYMENTS = 40;
/** For a statement of the feed that is struck, and of the one that is run again: also a busy machine is to be in time. */
const [STRUCK_MS, AGAIN_MS] = [2_000, 120_000];

test.each<[fault: string, strike: (proxy: SilentProxy) => void]>([
  ["cuts its connections", (proxy) => proxy.cut()],
  ["does not respond any more", (proxy) => proxy.silence()],
])(
  "a feed whose database %s says so and how to go on, and goes on when it is run again",
  async (_, strike) => {
    await using database = await createTestDatabase("postgres");
    await using proxy = await startSilentProxy(database.url);
    const { db } = await database.open();
    const merchant = newMerchant();
    const lines = Array.from({ length: PAYMENTS }, (_, index) =>
      linesOfPayment(merchant, `pay_${index}`),
    ).flat();

    const broken = await feed(
      proxy.url,
      strikeHalfway(lines, () => strike(proxy)),
      STRUCK_MS,
    );
    proxy.speak();
    const repeated = await feed(proxy.url, lines, AGAIN_MS);

    expect(broken.code).toBe(1);
    expect(broken.printed.at(-1)).toMatch(/^\d+ lines: \d+ applied, 0 unchanged, 0 refused, \d+ not known$/);
    expect(broken.complaints).toEqual([
      "Broken off. Run it again with the same lines: those that were carried out change nothing.",
      expect.stringMatching(/^The database can't be used: .+\. Check DATABASE_URL, and run it again\.$/),
    ]);
    expect(repeated).toMatchObject({ code: 0, complaints: [] });
    const [, applied, unchanged] =
      /: (\d+) applied, (\d+) unchanged/.exec(repeated.printed.at(-1) ?? "") ?? [];
    expect(Number(applied) + Number(unchanged)).toBe(2 * PAYMENTS);
    expect(Number(unchanged)).toBeGreaterThanOrEqual(1);
    const records = await allRecords(db, merchant);
    expect(records.map(({ status }) => status)).toEqual(Array(PAYMENTS).fill("SETTLED"));
    const events = await allEvents(db, merchant);
    expect(events.map(({ type }) => type)).toEqual(Array(PAYMENTS).fill("payment.settled"));
  },
);

async function feed(
  databaseUrl: string,
  lines: Iterable<string> | AsyncIterable<string>,
  statementMs: number,
) {
  const output = collectOutput();
  const { signal } = new AbortController();
  const code = await runAdmin({
    args: ["payments"],
    env: { DATABASE_URL: databaseUrl },
    output,
    stdin: Readable.from(lines).map((line: string) => Buffer.from(line)),
    signal,
    statementMs,
  });
  return { code, printed: output.printed, complaints: output.complaints };
}

function* strikeHalfway(lines: readonly string[], strike: () => void): Generator<string> {
  yield* lines.slice(0, PAYMENTS);
  strike();
  yield* lines.slice(PAYMENTS);
}
