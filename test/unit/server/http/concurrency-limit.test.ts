import { expect, test } from "vitest";
import { CrowdedError } from "../../../../server/async/bounded-queue.ts";
import { createConcurrencyLimit, type Slot } from "../../../../server/http/concurrency-limit.ts";

const unavailable = { code: "UNAVAILABLE", headers: { "Retry-After": "1" } };

function createLimit(total: number, perMerchant: number) {
  const limit = createConcurrencyLimit({ total, perMerchant });
  const arrive = (token: string, merchant = token): Slot => {
    const slot = limit.enter(`Bearer ${token}`);
    if (typeof slot !== "object") throw new Error(`there was no slot: ${slot}`);
    slot.assign(merchant);
    return slot;
  };
  /** Why there is no slot; undefined when there is one. */
  const refusalOf = (token: string) => {
    const slot = limit.enter(`Bearer ${token}`);
    if (typeof slot !== "object") return slot;
    slot.leave();
    return undefined;
  };
  const hasSlot = (token: string) => refusalOf(token) === undefined;
  return { arrive, hasSlot, refusalOf };
}

test("a slot is kept while its work is done, although the caller has gone", async () => {
  const { arrive, hasSlot } = createLimit(1, 1);
  const slot = arrive("acme");
  let end = () => {};
  const working = slot.run(() => new Promise<void>((resolve) => (end = resolve)));
  slot.leave();
  expect(hasSlot("acme")).toBe(false);

  end();
  await working;
  expect(hasSlot("acme")).toBe(true);
});

test("work after the slot was given back takes a new one, or is refused when there is none", async () => {
  const { arrive, hasSlot } = createLimit(1, 1);
  const late = arrive("acme");
  late.leave();
  const other = arrive("globex");
  await expect(late.run(async () => {})).rejects.toMatchObject({ problem: unavailable });

  other.leave();
  expect(await late.run(async () => hasSlot("globex"))).toBe(false);
  expect(hasSlot("globex")).toBe(true);
});

test("a merchant whose request was refused because too many wait gets no further slot until one of its requests ends", async () => {
  const { arrive, hasSlot, refusalOf } = createLimit(10, 8);
  const [waiting] = [arrive("acme"), arrive("acme")];
  const crowded = arrive("acme").run(() => Promise.reject(new CrowdedError("too many wait")));
  await expect(crowded).rejects.toThrow(CrowdedError);
  expect([refusalOf("acme"), hasSlot("globex")]).toEqual(["merchant full", true]);

  waiting.leave();
  arrive("acme");
  expect(hasSlot("acme")).toBe(true);
});

test("callers who are not known yet share the slots of one merchant, and leave the others to known merchants", () => {
  const limit = createConcurrencyLimit({ total: 4, perMerchant: 2 });
  const known = limit.enter("Bearer known");
  if (typeof known !== "object") throw new Error("there was no slot");
  known.assign("acme");

  const unknown = ["a", "b", "c"].map((token) => typeof limit.enter(`Bearer ${token}`));

  expect(unknown).toEqual(["object", "object", "string"]);
  expect(limit.enter("Bearer known")).toBeTypeOf("object");
});
