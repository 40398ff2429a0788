import type { HandlersOf, RequestBody } from "../../contract/operation-types.ts";
import { invalidRequestError } from "../../contract/problem.ts";
import { calendarDayOf, isInCalendar, plusBusinessDays, plusDuration } from "../../domain/business-days.ts";
import { toDomainTime } from "../../domain/domain-time.ts";
import type { SandboxParts } from "./response-bodies.ts";

/** Reads the sandbox's clock (D30) and advances it. */
export function clockHandlers({
  store,
  clock,
  runDue,
  changes,
}: SandboxParts): HandlersOf<"getClock" | "advanceClock"> {
  return {
    async getClock({ merchant }) {
      const now = await clock.now();
      const next = await store.findNextDue({ merchant });
      const { date, closedFor } = calendarDayOf(now);
      return {
        status: 200,
        body: {
          now: now.toISOString(),
          today: { date, businessDay: closedFor === null, closedFor },
          next: next ? { ...next, at: next.at.toISOString() } : null,
        },
      };
    },

    async advanceClock({ merchant, body }) {
      // Counted before the clock moves: afterwards, the scan for what is due may already have changed the count.
      // Deliveries under way were due before the move, so they don't count.
      const after = await clock.now();
      const until = targetOf(body, after);
      const due = await store.countDue({ merchant, until, after });
      const waiting = await store.listPayments({
        merchant,
        kind: "REFUND",
        status: "PENDING",
        limit: MAX_EVENTS,
      });
      await store.advance((offsetMs) => {
        const realNow = clock.realNow();
        // An invalid request throws, which rolls back the transaction that holds the clock's lock.
        return targetOf(body, toDomainTime(realNow, offsetMs)).getTime() - realNow.getTime();
      });
      await runDue();
      changes.notify(["clock", "payments", "webhooks"]);
      const events = (typeof waiting === "string" ? [] : waiting.items).flatMap((record) =>
        record.kind === "REFUND" && record.dueAt && record.dueAt <= until
          ? [{ type: "refund.authorized" as const, paymentId: record.paymentId }]
          : [],
      );
      return { status: 200, body: { now: (await clock.now()).toISOString(), ...due, events } };
    },
  };
}

/** The most events that are listed. */
const MAX_EVENTS = 100;

type ClockRequest = RequestBody<"advanceClock">;

/** The time to which the clock is advanced. Throws when it lies in the past or beyond the calendar. */
function targetOf(request: ClockRequest, now: Date): Date {
  const [field, time] = requestedTime(request, now);
  const error = time ? errorOf(time, now) : "must be a time or duration that exists";
  if (time && !error) return time;
  throw invalidRequestError([{ pointer: `/${field}`, message: error ?? "" }]);
}

function requestedTime(
  { to, by, businessDays }: ClockRequest,
  now: Date,
): [field: keyof ClockRequest, time: Date | undefined] {
  if (to !== undefined) return ["to", new Date(to)];
  if (by !== undefined) return ["by", plusDuration(now, by)];
  // 0 days must return the same instant: converted to wall time and back, an hour that is repeated in autumn may be the earlier one.
  return ["businessDays", businessDays ? plusBusinessDays(now, businessDays) : now];
}

const PAST_CALENDAR =
  "can't move the clock: it is past 2099, where its calendar ends, and it never goes back; start the sandbox on an empty DATA_DIR or database";

function errorOf(time: Date, now: Date): string | undefined {
  if (!isInCalendar(now)) return PAST_CALENDAR;
  if (Number.isNaN(time.getTime())) return "must be a time, such as 2026-11-25T14:30:00Z";
  if (time < now) return `must not be before the sandbox's time, which is ${now.toISOString()}`;
  return isInCalendar(time) ? undefined : "must not lead beyond the year 2099";
}
