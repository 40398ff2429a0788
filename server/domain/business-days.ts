import holidays from "@18f/us-federal-holidays";
import { Temporal } from "temporal-polyfill";
import { WAITING_BUSINESS_DAYS } from "../../openapi/generated/values.ts";

/** When a refund of a payment settled at this instant is authorized: 00:00 Eastern, when enough business days have passed (D16). */
export function refundDueAt(settledAt: Date): Date {
  // Eastern time differs from UTC by whole hours, so the Eastern date is the same throughout an hour.
  const hour = Math.floor(settledAt.getTime() / HOUR_MS);
  const known = dueByHour.get(hour);
  if (known !== undefined) return new Date(known);

  const date = addBusinessDays(toEastern(settledAt).toPlainDate(), WAITING_BUSINESS_DAYS);
  const due = date.toZonedDateTime(TIME_ZONE).epochMilliseconds;
  if (dueByHour.size >= MAX_HOURS) dueByHour.clear();
  dueByHour.set(hour, due);
  return new Date(due);
}

const TIME_ZONE = "America/New_York";
const SATURDAY = 6;

/** The years for which bank holidays are known. */
const FIRST_YEAR = 2020;
const LAST_YEAR = 2099;

/** The names of the closed days of a year, by their dates. */
const closedDaysByYear = new Map<number, ReadonlyMap<string, string>>();

/** The Federal Reserve moves a Sunday holiday to Monday; for a Saturday holiday it closes no other day (D16). */
function closedDays(year: number): ReadonlyMap<string, string> {
  const known = closedDaysByYear.get(year);
  if (known) return known;

  const days = holidays.allForYear(year, { shiftSaturdayHolidays: false, shiftSundayHolidays: true });
  const closed = new Map(days.map((day) => [day.dateString, day.name]));
  closedDaysByYear.set(year, closed);
  return closed;
}

function toEastern(instant: Date): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(TIME_ZONE);
}

/** Whether the Federal Reserve is open on this Eastern date (D16). */
export function isBusinessDay(date: Temporal.PlainDate): boolean {
  return date.dayOfWeek < SATURDAY && !closedDays(date.year).has(date.toString());
}

/** An Eastern date, and why the Federal Reserve is closed on it: `Saturday`, `Thanksgiving Day`; null on a business day. */
export type CalendarDay = { readonly date: string; readonly closedFor: string | null };

/** The Eastern date of an instant. */
export function calendarDayOf(instant: Date): CalendarDay {
  const date = toEastern(instant).toPlainDate();
  const weekend = date.dayOfWeek === SATURDAY ? "Saturday" : "Sunday";
  const closedFor = date.dayOfWeek < SATURDAY ? holidayOn(date) : weekend;
  return { date: date.toString(), closedFor };
}

function holidayOn(date: Temporal.PlainDate): string | null {
  return closedDays(date.year).get(date.toString()) ?? null;
}

/** The bank holidays that lie in the wait before a refund is due (D16), the earliest first. */
export function holidaysBefore(dueAt: Date): string[] {
  const names: string[] = [];
  let day = toEastern(dueAt).toPlainDate();
  for (let left = WAITING_BUSINESS_DAYS; left > 0; ) {
    day = day.subtract({ days: 1 });
    if (isBusinessDay(day)) left -= 1;
    else if (day.dayOfWeek < SATURDAY) names.unshift(holidayOn(day) ?? "");
  }
  return names;
}

/**
 * The n-th business day after a date; the date itself may be a closed day.
 * @param count whole number of business days, 0 for the date itself
 * @throws RangeError when count is negative or not whole
 */
export function addBusinessDays(date: Temporal.PlainDate, count: number): Temporal.PlainDate {
  if (!Number.isInteger(count) || count < 0)
    throw new RangeError(`a number of business days is a whole number from 0, not ${count}`);
  let day = date;
  for (let left = count; left > 0; ) {
    day = day.add({ days: 1 });
    if (isBusinessDay(day)) left -= 1;
  }
  return day;
}

const HOUR_MS = 3_600_000;
const MAX_HOURS = 10_000;

/** When refunds are due, in milliseconds, by the hour of the settlement, because many payments settle in the same hours. */
const dueByHour = new Map<number, number>();

/**
 * The same Eastern wall time on the n-th business day after today. A time that the change to daylight saving skips
 * becomes the time an hour later; one that the change back repeats means its first occurrence.
 * @throws RangeError when count is negative or not whole
 */
export function plusBusinessDays(now: Date, count: number): Date {
  const today = toEastern(now);
  const day = addBusinessDays(today.toPlainDate(), count);
  const later = day.toZonedDateTime({ timeZone: TIME_ZONE, plainTime: today.toPlainTime() });
  return new Date(later.epochMilliseconds);
}

/** Whether an instant lies in the years for which bank holidays are known, 2020 to 2099. */
export function isInCalendar(instant: Date): boolean {
  const year = instant.getUTCFullYear();
  return year >= FIRST_YEAR && year <= LAST_YEAR;
}

/**
 * Adds an ISO 8601 duration. Years, months, weeks and days follow the Eastern calendar: one day later is the
 * same wall time on the next day, also across a change of daylight saving.
 * @returns undefined when the text is not a duration, or the result is outside the range of a date
 */
export function plusDuration(now: Date, duration: string): Date | undefined {
  try {
    return new Date(toEastern(now).add(Temporal.Duration.from(duration)).epochMilliseconds);
  } catch {
    return undefined;
  }
}
