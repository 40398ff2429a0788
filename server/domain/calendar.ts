import { Temporal } from "temporal-polyfill";
import { TIME_ZONE } from "./business-days.ts";

const FIRST_YEAR = 2020;
const LAST_YEAR = 2099;

/** Whether an instant lies in the years for which bank holidays are known, 2020 to 2099. */
export function isInCalendar(instant: Date): boolean {
  const year = instant.getUTCFullYear();
  return year >= FIRST_YEAR && year <= LAST_YEAR;
}

/**
 * Adds an ISO 8601 duration. Years, months, weeks and days are days of the Eastern calendar: a day later is the same
 * wall time on the next day, also across a change of daylight saving.
 *
 * @returns undefined for what is not a duration, or leads out of every calendar
 */
export function plusDuration(now: Date, duration: string): Date | undefined {
  try {
    const eastern = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(TIME_ZONE);
    return new Date(eastern.add(Temporal.Duration.from(duration)).epochMilliseconds);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
