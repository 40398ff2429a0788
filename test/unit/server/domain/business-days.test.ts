import fc from "fast-check";
import { Temporal } from "temporal-polyfill";
import { describe, expect, test } from "vitest";
import {
  addBusinessDays,
  calendarDayOf,
  holidaysBefore,
  isBusinessDay,
  isInCalendar,
  plusBusinessDays,
  plusDuration,
  refundDueAt,
} from "../../../../server/domain/business-days.ts";
import { toDomainTime } from "../../../../server/domain/domain-time.ts";
import fixture from "../../../fixtures/business-days.json" with { type: "json" };

const date = (text: string) => Temporal.PlainDate.from(text);
const eastern = (text: string) =>
  new Date(Temporal.PlainDateTime.from(text).toZonedDateTime("America/New_York").epochMilliseconds);
const toEasternText = (instant: Date) =>
  Temporal.Instant.fromEpochMilliseconds(instant.getTime())
    .toZonedDateTimeISO("America/New_York")
    .toPlainDateTime()
    .toString();

/** Any instant, to the millisecond, in the years that the rules cover. */
const anyInstant = fc
  .integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2100, 0, 1) - 1 })
  .map((time) => new Date(time));
const anyDate = anyInstant.map((instant) => date(instant.toISOString().slice(0, 10)));

describe("a business day", () => {
  // Of 2026: a King's and a Washington's birthday, Memorial, Labor, Columbus, Veterans, Thanksgiving and Christmas Day.
  const HOLIDAYS = ["01-19", "02-16", "05-25", "09-07", "10-12", "11-11", "11-26", "12-25"];
  test.each([
    ...HOLIDAYS.map((day) => `2026-${day}`),
    ...["2027-07-05", "2023-01-02"], // the Monday after a Sunday holiday
    "2023-06-19",
  ])("is not the holiday %s", (day) => {
    expect(isBusinessDay(date(day))).toBe(false);
  });

  test.each([
    ["2026-07-03", "the Friday before a Saturday holiday"],
    ["2021-12-31", "the Friday before a New Year's Day on a Saturday"],
    ["2020-06-19", "19 June before it was a holiday"],
  ])("is %s, %s", (day) => {
    expect(isBusinessDay(date(day))).toBe(true);
  });

  test("is reached by adding any number of business days, and such numbers add up", () => {
    const count = fc.integer({ min: 1, max: 30 });
    fc.assert(
      fc.property(anyDate, count, count, (from, first, second) => {
        const to = addBusinessDays(from, first);

        let passed = 0;
        for (let day = from; Temporal.PlainDate.compare(day, to) < 0; ) {
          day = day.add({ days: 1 });
          if (isBusinessDay(day)) passed += 1;
        }
        expect(passed).toBe(first);
        expect(isBusinessDay(to)).toBe(true);
        expect(addBusinessDays(from, 0).equals(from)).toBe(true);
        expect(addBusinessDays(to, second).equals(addBusinessDays(from, first + second))).toBe(true);
      }),
    );
  });
});

describe("refundDueAt", () => {
  test.each(fixture.vectors)(
    "settled on $settled: authorized from $authorized ($why)",
    ({ settled, authorized }) => {
      for (const time of ["00:00:00", "12:00:00", "23:59:59.999"]) {
        expect(toEasternText(refundDueAt(eastern(`${settled}T${time}`)))).toBe(`${authorized}T00:00:00`);
      }
    },
  );

  test.each([
    ["2026-11-13T23:30:00-05:00", "2026-11-18T05:00:00.000Z", "at 23:30 on a Friday, a Saturday in UTC"],
    ["2026-11-16T00:30:00-05:00", "2026-11-19T05:00:00.000Z", "at 00:30 on a Monday"],
    ["2026-03-05T12:00:00-05:00", "2026-03-10T04:00:00.000Z", "over the night that is an hour shorter"],
    ["2026-10-29T12:00:00-04:00", "2026-11-03T05:00:00.000Z", "over the night that is an hour longer"],
    ["2026-11-01T01:30:00-05:00", "2026-11-04T05:00:00.000Z", "in the hour that comes twice, second pass"],
    ["2026-03-08T03:00:00-04:00", "2026-03-11T04:00:00.000Z", "right after the hour that is left out"],
  ])("%s is followed by %s: %s", (settledAt, dueAt) => {
    expect(refundDueAt(new Date(settledAt)).toISOString()).toBe(dueAt);
  });

  test.each([
    ["2027-01-12T05:00:00Z", "2027-01-14", "2027-01-15"],
    ["2027-07-13T04:00:00Z", "2027-07-15", "2027-07-16"],
  ])(
    "settled just before %s, midnight in New York: on %s; at midnight: on %s",
    (midnight, dueBefore, dueAfter) => {
      const before = new Date(Date.parse(midnight) - 1);
      expect(toEasternText(refundDueAt(before))).toBe(`${dueBefore}T00:00:00`);
      expect(toEasternText(refundDueAt(new Date(midnight)))).toBe(`${dueAfter}T00:00:00`);
    },
  );

  test("is midnight in New York, on a business day, and never earlier for a later settlement", () => {
    fc.assert(
      fc.property(anyInstant, anyInstant, (one, other) => {
        const due = refundDueAt(one);
        const text = toEasternText(due);
        expect(text.slice(10)).toBe("T00:00:00");
        expect(isBusinessDay(date(text.slice(0, 10)))).toBe(true);
        if (one <= other) expect(due <= refundDueAt(other)).toBe(true);
      }),
    );
  });
});

test.each([
  ["2026-11-28T04:59:59Z", "2026-11-27", null],
  ["2026-11-28T05:00:00Z", "2026-11-28", "Saturday"],
  ["2026-11-29T12:00:00Z", "2026-11-29", "Sunday"],
  ["2026-11-26T12:00:00Z", "2026-11-26", "Thanksgiving Day"],
])("%s is the Eastern date %s, which is closed for %s", (instant, day, closedFor) => {
  expect(calendarDayOf(new Date(instant))).toEqual({ date: day, closedFor });
});

test.each([
  ["2026-11-19", []],
  ["2026-12-01", ["Thanksgiving Day"]],
  ["2027-01-06", ["New Year's Day"]],
  ["2026-11-27", ["Thanksgiving Day"]],
  ["2026-12-02", []],
])("the wait for a refund that is due on %s is longer by %j", (due, names) => {
  expect(holidaysBefore(eastern(`${due}T00:00:00`))).toEqual(names);
});

test("domain time is real time and what a sandbox's clock was advanced by", () => {
  expect(toDomainTime(new Date(5), 3)).toEqual(new Date(8));
});

test("a number of business days is whole, and not negative", () => {
  for (const count of [-1, 0.5])
    expect(() => addBusinessDays(date("2026-11-25"), count)).toThrow(`not ${count}`);
});

describe("plusBusinessDays", () => {
  test.each([
    ["2026-11-25T10:15:30.123", 1, "2026-11-27T10:15:30.123", "over Thanksgiving"],
    ["2026-03-06T18:00:00", 1, "2026-03-09T18:00:00", "over the night that is an hour shorter"],
    ["2026-10-30T18:00:00", 1, "2026-11-02T18:00:00", "over the night that is an hour longer"],
  ])("%s plus %i is %s: %s", (now, count, expected) => {
    expect(toEasternText(plusBusinessDays(eastern(now), count))).toBe(expected);
  });
});

test.each([
  ["2019-12-31T23:59:59.999Z", false],
  ["2020-01-01T00:00:00.000Z", true],
  ["2099-12-31T23:59:59.999Z", true],
  ["2100-01-01T00:00:00.000Z", false],
  ["never", false],
])("%s is in the calendar: %s", (instant, expected) => {
  expect(isInCalendar(new Date(instant))).toBe(expected);
});

test.each<[now: string, duration: string, expected: string | undefined, why: string]>([
  ["2026-10-31T14:00:00Z", "P1D", "2026-11-01T15:00:00.000Z", "a day that has 25 hours in New York"],
  ["2026-10-31T14:00:00Z", "PT24H", "2026-11-01T14:00:00.000Z", "24 hours, whatever the day has"],
  ["2026-01-31T15:00:00Z", "P1M", "2026-02-28T15:00:00.000Z", "a month that is shorter"],
  ["2026-11-25T15:00:00Z", "-PT1S", "2026-11-25T14:59:59.000Z", "back, which others refuse"],
  ["2026-11-25T15:00:00Z", "1 day", undefined, "nowhere, as it is no duration"],
  ["2026-11-25T15:00:00Z", "P999999999Y", undefined, "nowhere, as it is too long"],
])("%s and %s is %s: %s", (now, duration, expected) => {
  expect(plusDuration(new Date(now), duration)?.toISOString()).toBe(expected);
});
