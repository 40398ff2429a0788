import { pino } from "pino";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Take } from "../../../../server/http/rate-limiter.ts";
import { createRateLimiter } from "../../../../server/http/rate-limiter.ts";

const logger = pino({ enabled: false });

/** One server, with a clock that the test advances. */
function createTestLimiter() {
  let nowMs = 1_000;
  const { take, charge } = createRateLimiter({
    requestsPerSecond: 100,
    report: undefined,
    logger,
    nowMs: () => nowMs,
  });
  return {
    take,
    charge,
    async takeAll(count: number): Promise<Take[]> {
      const taken: Take[] = [];
      for (let calls = 0; calls < count; calls += 1) taken.push(await take("acme"));
      return taken;
    },
    pass: (milliseconds: number) => {
      nowMs += milliseconds;
    },
  };
}

const served = (takes: readonly Take[]) => takes.filter(({ waitMs }) => waitMs === 0).length;

describe("a rate limit of a hundred requests a second", () => {
  test("allows one more request every ten milliseconds after a burst, and never more than another burst", async () => {
    const { takeAll, pass } = createTestLimiter();
    await takeAll(200);

    pass(9);
    const tooSoon = await takeAll(1);
    pass(1);
    const inTime = await takeAll(2);
    pass(1_000);
    const aSecondLater = await takeAll(200);

    pass(3_600_000);
    const afterAnHour = await takeAll(300);

    expect([tooSoon, inTime, aSecondLater, afterAnHour].map(served)).toEqual([0, 1, 100, 200]);
  });

  test("doesn't count calls that are given back, and never allows a larger burst because of them", async () => {
    const { charge, pass, takeAll } = createTestLimiter();
    await takeAll(200);

    for (let calls = 0; calls < 50; calls += 1) charge("acme", -1);
    const repeated = await takeAll(60);
    pass(1_900);
    for (let calls = 0; calls < 50; calls += 1) charge("acme", -1);

    const atOnce = await takeAll(300);
    charge("acme", 500);
    charge("acme", -500);

    expect([repeated, atOnce, await takeAll(1)].map(served)).toEqual([50, 200, 0]);
  });
});

describe("servers that share a rate limit", () => {
  test("report every request, including one that came during a report, and those that are given back", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { promise: reportSent, resolve: finishReport } = Promise.withResolvers<void>();
    const reports: number[] = [];
    const report = async ({ calls }: { calls: number }) => {
      reports.push(calls);
      await reportSent;
      return 0;
    };
    const { take, charge } = createRateLimiter({ requestsPerSecond: 100, report, logger });
    const takeAll = (count: number) => Promise.all(Array.from({ length: count }, () => take("acme")));

    await takeAll(5);
    await vi.advanceTimersByTimeAsync(50); // the first report begins
    await takeAll(3);
    await vi.advanceTimersByTimeAsync(50); // the second has to wait for it
    finishReport();
    await vi.advanceTimersByTimeAsync(50);
    charge("acme", -2);
    await vi.advanceTimersByTimeAsync(50);

    expect(reports).toEqual([5, 3, -2]);
  });

  test("count alone for a second after a report has failed", async () => {
    let nowMs = 1_000;
    const reports: number[] = [];
    const report = async ({ calls }: { calls: number }) => {
      reports.push(calls);
      throw new Error("the database is away");
    };
    const { take } = createRateLimiter({ requestsPerSecond: 100, report, logger, nowMs: () => nowMs });
    const takeAll = () => Promise.all(Array.from({ length: 30 }, () => take("acme")));

    await takeAll();
    nowMs += 999;
    await takeAll();
    expect(reports).toEqual([10]);
    nowMs += 1;
    await takeAll();

    expect(reports).toEqual([10, 50]);
  });
});
