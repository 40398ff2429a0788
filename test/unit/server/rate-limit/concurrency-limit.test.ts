import { expect, test } from "vitest";
import { createConcurrencyLimit, type Slot } from "../../../../server/rate-limit/concurrency-limit.ts";

const unavailable = { code: "UNAVAILABLE", headers: { "Retry-After": "1" } };

function createLimit(total: number, perMerchant: number) {
  const limit = createConcurrencyLimit({ total, perMerchant });
  const arrive = (token: string, merchant = token): Slot => {
    const slot = limit.enter(`Bearer ${token}`);
    if (!slot) throw new Error("there was no slot");
    slot.assign(merchant);
    return slot;
  };
  const hasSlot = (token: string) => {
    const slot = limit.enter(`Bearer ${token}`);
    slot?.leave();
    return slot !== undefined;
  };
  return { arrive, hasSlot };
}

test("a slot is taken on arrival, and free again once it is left, which counts once", () => {
  const { arrive, hasSlot } = createLimit(2, 2);
  const first = arrive("acme");
  arrive("globex");
  expect(hasSlot("initech")).toBe(false);

  first.leave();
  first.leave();
  arrive("initech");
  expect(hasSlot("umbrella")).toBe(false);
});

test("a merchant with its share is refused by each of its tokens, on arrival once the token is known, and no other", () => {
  const { arrive, hasSlot } = createLimit(4, 2);
  const first = arrive("acme");
  arrive("another token", "acme");

  expect(() => arrive("a third token", "acme")).toThrow(
    expect.objectContaining({ problem: expect.objectContaining(unavailable) }),
  );
  expect(["acme", "another token", "a third token", "globex"].map(hasSlot)).toEqual([
    false,
    false,
    false,
    true,
  ]);
  first.leave();
  expect(hasSlot("a third token")).toBe(true);
});

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
