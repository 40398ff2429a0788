import holidays from "@18f/us-federal-holidays";
import { Temporal } from "temporal-polyfill";

export const TIME_ZONE = "America/New_York";
const SATURDAY = 6;

/** D16: a refund is authorised from the start of this business day after the date of settlement. */
const WAITING_BUSINESS_DAYS = 3;

const closedDaysByYear = new Map<number, ReadonlySet<string>>();

/** The Federal Reserve moves a Sunday holiday to Monday; for a Saturday holiday it closes no other day (D16). */
function closedDays(year: number): ReadonlySet<string> {
  const known = closedDaysByYear.get(year);
  if (known) return known;

  const days = holidays.allForYear(year, { shiftSaturdayHolidays: false, shiftSundayHolidays: true });
  const closed = new Set(days.map((day) => day.dateString));
  closedDaysByYear.set(year, closed);
  return closed;
}

function toEastern(instant: Date): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(TIME_ZONE);
}

/** Whether the Federal Reserve works on this Eastern date (D16). */
export function isBusinessDay(date: Temporal.PlainDate): boolean {
  return date.dayOfWeek < SATURDAY && !closedDays(date.year).has(date.toString());
}

/**
 * The n-th business day after a date; the date itself need not be one.
 *
 * @param count whole number of business days, 0 for the date itself
 * @throws RangeError when count is negative or not whole
 */
export function addBusinessDays(date: Temporal.PlainDate, count: number): Temporal.PlainDate {
  if (!Number.isInteger(count) || count < 0) {
    throw new RangeError(`a number of business days is a whole number from 0, not ${count}`);
  }
  let day = date;
  for (let left = count; left > 0; ) {
    day = day.add({ days: 1 });
    if (isBusinessDay(day)) left -= 1;
  }
  return day;
}

/** When a refund of a payment settled at this instant is authorised: 00:00 Eastern, third business day after (D16). */
export function refundDueAt(settledAt: Date): Date {
  const due = addBusinessDays(toEastern(settledAt).toPlainDate(), WAITING_BUSINESS_DAYS);
  return new Date(due.toZonedDateTime(TIME_ZONE).epochMilliseconds);
}

/**
 * The same Eastern wall time on the n-th business day after today. A time that a daylight-saving night leaves out is
 * taken an hour later, one that it repeats is taken at its first pass.
 *
 * @throws RangeError when count is negative or not whole
 */
export function plusBusinessDays(now: Date, count: number): Date {
  const today = toEastern(now);
  const day = addBusinessDays(today.toPlainDate(), count);
  const later = day.toZonedDateTime({ timeZone: TIME_ZONE, plainTime: today.toPlainTime() });
  return new Date(later.epochMilliseconds);
}
