import { expect, test } from "vitest";
import { createConcurrencyLimit, type Place } from "../../../../server/rate-limit/concurrency-limit.ts";

const unavailable = { code: "UNAVAILABLE", headers: { "Retry-After": "1" } };

function createLimit(total: number, perMerchant: number) {
  const limit = createConcurrencyLimit({ total, perMerchant });
  const arrive = (token: string, merchant = token): Place => {
    const place = limit.enter(`Bearer ${token}`);
    if (!place) throw new Error("there was no place");
    place.assign(merchant);
    return place;
  };
  const hasPlace = (token: string) => {
    const place = limit.enter(`Bearer ${token}`);
    place?.leave();
    return place !== undefined;
  };
  return { arrive, hasPlace };
}

test("a place is taken on arrival, and free again once it is left, which counts once", () => {
  const { arrive, hasPlace } = createLimit(2, 2);
  const first = arrive("acme");
  arrive("globex");
  expect(hasPlace("initech")).toBe(false);

  first.leave();
  first.leave();
  arrive("initech");
  expect(hasPlace("umbrella")).toBe(false);
});

test("a merchant with its share is refused by each of its tokens, on arrival once the token is known, and no other", () => {
  const { arrive, hasPlace } = createLimit(4, 2);
  const first = arrive("acme");
  arrive("another token", "acme");

  expect(() => arrive("a third token", "acme")).toThrow(
    expect.objectContaining({ problem: expect.objectContaining(unavailable) }),
  );
  expect(["acme", "another token", "a third token", "globex"].map(hasPlace)).toEqual([
    false,
    false,
    false,
    true,
  ]);
  first.leave();
  expect(hasPlace("a third token")).toBe(true);
});

test("a place is kept while its work is done, although the caller has gone", async () => {
  const { arrive, hasPlace } = createLimit(1, 1);
  const place = arrive("acme");
  let end = () => {};
  const working = place.run(() => new Promise<void>((resolve) => (end = resolve)));
  place.leave();
  expect(hasPlace("acme")).toBe(false);

  end();
  await working;
  expect(hasPlace("acme")).toBe(true);
});

test("work after the place was given back takes a new one, or is refused when there is none", async () => {
  const { arrive, hasPlace } = createLimit(1, 1);
  const late = arrive("acme");
  late.leave();
  const other = arrive("globex");
  await expect(late.run(async () => {})).rejects.toMatchObject({ problem: unavailable });

  other.leave();
  expect(await late.run(async () => hasPlace("globex"))).toBe(false);
  expect(hasPlace("globex")).toBe(true);
});
