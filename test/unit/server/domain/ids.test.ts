import { expect, test, vi } from "vitest";
import {
  createEventId,
  createPaymentId,
  createRefundId,
  createSubscriptionKey,
  firstIdSince,
} from "../../../../server/domain/ids.ts";

test.each([
  ["rfd", createRefundId],
  ["pay", createPaymentId],
  ["sub", createSubscriptionKey],
  ["evt", createEventId],
])("ids that begin with %s are all different, grow, and fit into 64 characters", (prefix, create) => {
  const ids = Array.from({ length: 1_000 }, create);

  expect(new Set(ids).size).toBe(ids.length);
  expect(new Set(ids.map((id) => id.slice(-12))).size).toBe(ids.length); // their random ends
  expect([...ids].sort()).toEqual(ids);
  for (const id of ids) expect(id).toMatch(new RegExp(`^${prefix}_[0-9a-f-]{36}$`));
});

test("ids have the time of a clock that was set back by more than a minute", () => {
  const now = Date.now();
  vi.spyOn(Date, "now")
    .mockReturnValueOnce(now + 86_400_000)
    .mockReturnValue(now);
  const timeOf = (id: string) => Number.parseInt(id.replaceAll("-", "").slice(4, 16), 16);

  const [ahead, corrected] = [createRefundId(), createRefundId()].map(timeOf);

  expect([ahead, corrected]).toEqual([now + 86_400_000, now]);
  vi.restoreAllMocks();
});

test("the first id of a time comes before all ids of that time and later, and after all earlier ones", () => {
  const now = Date.now();
  const [first, later] = [
    firstIdSince("evt_", new Date(now - 1)),
    firstIdSince("evt_", new Date(now + 60_000)),
  ];
  const id = createEventId();

  expect(first).toMatch(/^evt_[0-9a-f]{8}-[0-9a-f]{4}-7$/);
  expect([first < id, id < later]).toEqual([true, true]);
  expect(firstIdSince("evt_", new Date(-1))).toBe("evt_00000000-0000-7");
});
