/** `singleFlight`: callers at the same time share one run, and those that come during it share the next one. */
import { describe, expect, test } from "vitest";
import { singleFlight } from "../../../server/async/repeat.ts";

/** Work that ends when the test decides, and how many runs of it were under way at once. */
function createWork() {
  const runs: PromiseWithResolvers<void>[] = [];
  let underWay = 0;
  let most = 0;
  const run = singleFlight(async () => {
    const ending = Promise.withResolvers<void>();
    runs.push(ending);
    underWay += 1;
    most = Math.max(most, underWay);
    await ending.promise.finally(() => {
      underWay -= 1;
    });
  });
  return { run, runs, most: () => most };
}

describe("a single flight", () => {
  test("runs once more for all calls that came during a run, also when that run fails", async () => {
    const { run, runs, most } = createWork();

    const first = run();
    const later = [run(), run()];
    runs[0]?.reject(new Error("refused"));
    await expect(first).rejects.toThrow("refused");
    await expect.poll(() => runs.length).toBe(2);
    runs[1]?.resolve();
    await Promise.all(later);

    expect([runs.length, most()]).toEqual([2, 1]);
  });

  test("runs one at a time also when a caller whose run has ended calls again before the next run begins", async () => {
    const { run, runs, most } = createWork();

    const repeated = run().then(() => run());
    const during = run();
    runs[0]?.resolve();
    await expect.poll(() => runs.length).toBeGreaterThan(1);
    for (const { resolve } of runs) resolve();
    await Promise.all([repeated, during]);

    expect([runs.length, most()]).toEqual([2, 1]);
  });
});
