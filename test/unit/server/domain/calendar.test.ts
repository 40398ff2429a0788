import { describe, expect, test } from "vitest";
import { isInCalendar, plusDuration } from "../../../../server/domain/calendar.ts";

describe("isInCalendar", () => {
  test.each([
    ["2019-12-31T23:59:59.999Z", false],
    ["2020-01-01T00:00:00.000Z", true],
    ["2099-12-31T23:59:59.999Z", true],
    ["2100-01-01T00:00:00.000Z", false],
    ["never", false],
  ])("%s: %s", (instant, expected) => {
    expect(isInCalendar(new Date(instant))).toBe(expected);
  });
});

describe("plusDuration", () => {
  test.each([
    ["2026-11-25T15:00:00Z", "PT90M", "2026-11-25T16:30:00.000Z", "ninety minutes"],
    ["2026-10-31T14:00:00Z", "P1D", "2026-11-01T15:00:00.000Z", "a day that has 25 hours in New York"],
    ["2026-10-31T14:00:00Z", "PT24H", "2026-11-01T14:00:00.000Z", "24 hours, whatever the day has"],
    ["2026-01-31T15:00:00Z", "P1M", "2026-02-28T15:00:00.000Z", "a month that is shorter"],
    ["2026-11-25T15:00:00Z", "-PT1S", "2026-11-25T14:59:59.000Z", "back, which others refuse"],
  ])("%s and %s is %s: %s", (now, duration, expected) => {
    expect(plusDuration(new Date(now), duration)?.toISOString()).toBe(expected);
  });

  test.each(["", "P", "1 day", "PT", "P1H", "P999999999Y"])("%j leads nowhere", (duration) => {
    expect(plusDuration(new Date("2026-11-25T15:00:00Z"), duration)).toBeUndefined();
  });
});
