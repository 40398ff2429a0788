import { plusBusinessDays } from "../domain/business-days.ts";
import { isInCalendar, plusDuration } from "../domain/calendar.ts";
import { toDomainTime } from "../domain/clock.ts";
import type { HandlersOf, RequestBody } from "../http/operations.ts";
import { invalidBody } from "../http/problem.ts";
import type { SandboxParts } from "./store.ts";

type Wish = RequestBody<"advanceClock">;

/** The sandbox's clock (D30): read, and moved forward. */
export function clockHandlers({
  store,
  clock,
  runDue,
}: SandboxParts): HandlersOf<"getClock" | "advanceClock"> {
  const readClock = async () => ({ status: 200, body: { now: (await clock.now()).toISOString() } }) as const;
  return {
    getClock: readClock,

    async advanceClock({ body }) {
      await store.advance((offsetMs) => {
        const realNow = clock.realNow();
        // Thrown, so that the transaction under which the clock is locked ends with it.
        return target(body, toDomainTime(realNow, offsetMs)).getTime() - realNow.getTime();
      });
      await runDue();
      return readClock();
    },
  };
}

/** Where the clock is to stand. Throws when that is in the past, or beyond the calendar. */
function target(wish: Wish, now: Date): Date {
  const [field, time] = wanted(wish, now);
  const fault = time ? faultOf(time, now) : "must be a time or duration that exists";
  if (time && !fault) return time;
  throw invalidBody([{ pointer: `/${field}`, message: fault ?? "" }]);
}

function wanted({ to, by, businessDays }: Wish, now: Date): [field: keyof Wish, time: Date | undefined] {
  if (to !== undefined) return ["to", new Date(to)];
  if (by !== undefined) return ["by", plusDuration(now, by)];
  // None is now, also in the hour that an autumn night repeats: its wall time taken anew could be an hour ago.
  return ["businessDays", businessDays ? plusBusinessDays(now, businessDays) : now];
}

function faultOf(time: Date, now: Date): string | undefined {
  if (Number.isNaN(time.getTime())) return "must be a time, such as 2026-11-25T14:30:00Z";
  if (time < now) return `must not lie before the sandbox's time, which is ${now.toISOString()}`;
  return isInCalendar(time) ? undefined : "must not lead beyond the year 2099";
}
