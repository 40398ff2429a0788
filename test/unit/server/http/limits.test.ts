import { expect, test } from "vitest";
import { limitRate } from "../../../../server/http/middleware/access.ts";
import { createDeadline } from "../../../../server/http/middleware/deadline.ts";
import type { HttpResponse, RequestLocals } from "../../../../server/http/middleware/request-locals.ts";

/** @decision D27 */
test.each([
  [1, "1"],
  [1_000, "1"],
  [1_001, "2"],
])(
  "a merchant who has to wait for %d ms reads %s in Retry-After: whole seconds, and never too early",
  async (waitMs, seconds) => {
    const take = async () => ({ remaining: 0, fullInMs: 2_000, waitMs });

    const refused = limitRate({ requestsPerSecond: 100, take, giveBack() {}, stop: async () => {} })(
      "acme",
      {} as RequestLocals,
    );

    await expect(refused).rejects.toMatchObject({ problem: { headers: { "Retry-After": seconds } } });
  },
);

/** @decision D08 */
test.each([
  [99, ["begun"]],
  [100, []],
])("a request that has waited for %d of 100 ms does the rest of its work: %j", async (waitedMs, expected) => {
  const begun: string[] = [];
  const response = { locals: { waitedMs } } as HttpResponse;

  await createDeadline(100)(response, async () => void begun.push("begun")).catch(() => {});

  expect(begun).toEqual(expected);
});
