import { pino } from "pino";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createQuotas, type Quota } from "../../server/http/quotas.ts";

const logger = pino({ enabled: false });

/** A hundred calls a second at one server, on a clock that the test moves. */
function givenQuotas() {
  let nowMs = 1_000;
  const take = createQuotas({ callsPerSecond: 100, report: undefined, logger, nowMs: () => nowMs });
  return {
    take,
    async takeAll(count: number): Promise<Quota[]> {
      const taken: Quota[] = [];
      for (let calls = 0; calls < count; calls += 1) taken.push(await take("acme"));
      return taken;
    },
    pass: (milliseconds: number) => {
      nowMs += milliseconds;
    },
  };
}

const served = (quotas: readonly Quota[]) => quotas.filter(({ waitMs }) => waitMs === 0).length;

/** @decision D27 */
describe("a quota of a hundred calls a second", () => {
  test("allows a burst of two hundred, and tells what is left of it", async () => {
    const { takeAll } = givenQuotas();

    const taken = await takeAll(201);

    expect(served(taken)).toBe(200);
    expect(taken[0]).toEqual({ remaining: 199, fullInMs: 10, waitMs: 0 });
    expect(taken[199]).toEqual({ remaining: 0, fullInMs: 2000, waitMs: 0 });
    expect(taken[200]).toEqual({ remaining: 0, fullInMs: 2000, waitMs: 10 });
  });

  test("comes back evenly, a call every ten milliseconds", async () => {
    const { takeAll, pass } = givenQuotas();
    await takeAll(200);

    pass(9);
    const tooSoon = await takeAll(1);
    pass(1);
    const inTime = await takeAll(2);
    pass(1_000);
    const aSecondLater = await takeAll(200);

    expect([served(tooSoon), served(inTime), served(aSecondLater)]).toEqual([0, 1, 100]);
  });

  test("is never more than a burst, however long nobody called", async () => {
    const { takeAll, pass } = givenQuotas();
    await takeAll(1);

    pass(3_600_000);

    expect(served(await takeAll(300))).toBe(200);
  });

  test("belongs to one merchant", async () => {
    const { take, takeAll } = givenQuotas();
    await takeAll(200);

    expect((await take("globex")).remaining).toBe(199);
  });
});

describe("servers that share a quota", () => {
  test("report every call in the end, also one that came while a report was under way", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    const reports: number[] = [];
    const report = async ({ calls }: { calls: number }) => {
      reports.push(calls);
      await answered;
      return 0;
    };
    const take = createQuotas({ callsPerSecond: 100, report, logger });
    const takeAll = (count: number) => Promise.all(Array.from({ length: count }, () => take("acme")));

    await takeAll(5);
    await vi.advanceTimersByTimeAsync(50); // the first report begins
    await takeAll(3);
    await vi.advanceTimersByTimeAsync(50); // the second has to wait for it
    answer();
    await vi.advanceTimersByTimeAsync(50);

    expect(reports).toEqual([5, 3]);
  });

  test("report calls together, and let none through that the reports of others forbid", async () => {
    const reports: number[] = [];
    let fullInMs = 0;
    const report = async ({ calls, msPerCall }: { calls: number; msPerCall: number }) => {
      reports.push(calls);
      fullInMs += calls * msPerCall + 500; // each time another server has let fifty through
      return fullInMs;
    };
    const take = createQuotas({ callsPerSecond: 100, report, logger, nowMs: () => 1_000 });

    const taken = await Promise.all(Array.from({ length: 300 }, () => take("acme")));

    // 10 calls, then 500 ms of others': 600 ms a report, of which 2,000 ms hold three and a part.
    expect(served(taken)).toBe(40);
    expect(reports).toEqual([10, 10, 10, 10]);
  });
});
