/*
 * Eastern time and the Federal Reserve's days, implemented again from the rules only, because the model must not share code
 * with the server. Instants are milliseconds, dates are midnights in UTC.
 */
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const [SUNDAY, MONDAY, THURSDAY, SATURDAY] = [0, 1, 4, 6];

const easternFormat = new Intl.DateTimeFormat("en-US", {
  timeZone: "America/New_York",
  hourCycle: "h23",
  year: "numeric",
  month: "numeric",
  day: "numeric",
  hour: "numeric",
  minute: "numeric",
  second: "numeric",
});

/** The wall clock of New York, read as UTC. */
function toWallTime(instant: number): number {
  const parts = easternFormat.formatToParts(instant).map(({ type, value }) => [type, Number(value)]);
  const { year, month, day, hour, minute, second } = Object.fromEntries(parts);
  return Date.UTC(year, month - 1, day, hour, minute, second, new Date(instant).getUTCMilliseconds());
}

/** The instant of an unambiguous wall time; on business days all are, because clocks change on Sundays. */
function fromWallTime(wallTime: number): number {
  const candidates = [4, 5].map((hoursBehind) => wallTime + hoursBehind * HOUR_MS);
  return candidates.find((instant) => toWallTime(instant) === wallTime) ?? Number.NaN;
}

const FIXED_HOLIDAYS = ["1-1", "6-19", "7-4", "11-11", "12-25"];
/** Month, weekday, and the range of days of the month in which the holiday falls. */
const FLOATING_HOLIDAYS: [month: number, weekday: number, from: number, to: number][] = [
  [1, MONDAY, 15, 21],
  [2, MONDAY, 15, 21],
  [5, MONDAY, 25, 31],
  [9, MONDAY, 1, 7],
  [10, MONDAY, 8, 14],
  [11, THURSDAY, 22, 28],
];

function isBusinessDay(date: number): boolean {
  const weekday = new Date(date).getUTCDay();
  if (weekday === SUNDAY || weekday === SATURDAY || isFixedHoliday(date)) return false;
  if (weekday === MONDAY && isFixedHoliday(date - DAY_MS)) return false;
  const [month, day] = [new Date(date).getUTCMonth() + 1, new Date(date).getUTCDate()];
  return !FLOATING_HOLIDAYS.some(
    ([inMonth, on, from, to]) => inMonth === month && on === weekday && from <= day && day <= to,
  );
}

function isFixedHoliday(date: number): boolean {
  return FIXED_HOLIDAYS.includes(`${new Date(date).getUTCMonth() + 1}-${new Date(date).getUTCDate()}`);
}

function plusBusinessDays(date: number, count: number): number {
  let day = date;
  for (let left = count; left > 0; ) {
    day += DAY_MS;
    if (isBusinessDay(day)) left -= 1;
  }
  return day;
}

/** The same wall time on the n-th business day after the day of an instant. */
export function laterByBusinessDays(instant: number, count: number): number {
  if (count === 0) return instant;
  const wallTime = toWallTime(instant);
  const timeOfDay = wallTime % DAY_MS;
  return fromWallTime(plusBusinessDays(wallTime - timeOfDay, count) + timeOfDay);
}

/** When the refunds of a payment that settled at an instant are authorized. */
export function dueAfter(settledAt: number): number {
  const wallTime = toWallTime(settledAt);
  return fromWallTime(plusBusinessDays(wallTime - (wallTime % DAY_MS), 3));
}
