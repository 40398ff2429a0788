import { expect, test } from "vitest";
import { createConcurrencyLimit } from "../../../../server/http/concurrency-limit.ts";

/** A piece of work that runs until it is ended. */
function createWork() {
  let end = () => {};
  const work = () => new Promise<void>((resolve) => (end = resolve));
  return { work, end: () => end() };
}

const callerOf = (merchant: string, authorization = `Bearer ${merchant}`) => ({ merchant, authorization });
const unavailable = { problem: { code: "UNAVAILABLE", headers: { "Retry-After": "1" } } };

test("a merchant with its share of the work under way is refused, and no other", async () => {
  const limit = createConcurrencyLimit({ total: 3, perMerchant: 2 });
  const [first, second, third] = [createWork(), createWork(), createWork()];
  const running = [
    limit.run(first.work, callerOf("acme")),
    limit.run(second.work, callerOf("acme", "another")),
  ];

  await expect(limit.run(third.work, callerOf("acme"))).rejects.toMatchObject(unavailable);
  running.push(limit.run(third.work, callerOf("globex")));
  await expect(limit.run(first.work, callerOf("initech"))).rejects.toMatchObject(unavailable);

  first.end();
  await running[0];
  expect(await limit.run(async () => "done", callerOf("acme"))).toBe("done");
  second.end();
  third.end();
  await Promise.all(running);
});

test("a token of a merchant without room is known once it was refused, and as long as there is no room", async () => {
  const limit = createConcurrencyLimit({ total: 2, perMerchant: 1 });
  const { work, end } = createWork();
  const acme = callerOf("acme");
  const running = limit.run(work, acme);
  expect(limit.isFull(acme.authorization)).toBe(false);

  await expect(limit.run(work, acme)).rejects.toMatchObject(unavailable);
  expect([acme.authorization, "Bearer globex", undefined].map(limit.isFull)).toEqual([true, false, false]);

  end();
  await running;
  expect(limit.isFull(acme.authorization)).toBe(false);
});
