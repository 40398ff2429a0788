import { useEffect, useState } from "preact/hooks";
import { type Problem, type SandboxSchemas, sandbox, useLoaded } from "../data/api.ts";
import { count, fromEastern, toEastern, toUtc } from "../data/format.ts";
import { ProblemText } from "../parts/parts.tsx";

type Advance = SandboxSchemas["ClockAdvance"];
type Due = SandboxSchemas["Due"];

const STEPS: readonly [label: string, step: Advance][] = [
  ["+1 hour", { by: "PT1H" }],
  ["+1 business day", { businessDays: 1 }],
  ["+3 business days", { businessDays: 3 }],
];

/** The sandbox's time, what is due next, and the ways to move on. */
export function Clock() {
  const { data } = useLoaded("due", ["clock", "payments", "webhooks"], readDue);
  const [message, setMessage] = useState("");
  const [problem, setProblem] = useState<Problem>();
  const [date, setDate] = useState("");

  const advance = async (body: Advance) => {
    const before = await readSnapshot();
    const { error } = await sandbox.POST("/sandbox/clock/advance", { body });
    setProblem(error as Problem | undefined);
    setMessage(error ? "" : await describe(before));
  };

  return (
    <section class="clock" aria-label="Clock">
      {data ? <Now due={data} /> : <p class="quiet">Reading the clock…</p>}
      <div class="row moves">
        {STEPS.map(([label, step]) => (
          <button key={label} type="button" onClick={() => advance(step)}>
            {label}
          </button>
        ))}
        <button
          type="button"
          class="primary"
          disabled={!data?.next}
          onClick={() => data?.next && advance({ to: later(data.next.at, data.now) })}
        >
          To next due
        </button>
        <form
          class="row"
          onSubmit={(event) => {
            event.preventDefault();
            if (date !== "") advance({ to: fromEastern(date) });
          }}
        >
          <label class="inline">
            <span>To (ET)</span>
            <input
              type="datetime-local"
              value={date}
              onInput={(event) => setDate(event.currentTarget.value)}
            />
          </label>
          <button type="submit" disabled={date === ""}>
            Go
          </button>
        </form>
      </div>
      <p role="status" class="message">
        {message}
      </p>
      <ProblemText problem={problem} />
    </section>
  );
}

const readDue = () => sandbox.GET("/sandbox/clock/due");

const TICK_MS = 10_000;

/** The time passes on the page between two requests to the server. */
function Now({ due: { now, today, next } }: { due: Due }) {
  const [readAt, setReadAt] = useState(Date.now());
  const [shownAt, setShownAt] = useState(readAt);
  useEffect(() => {
    setReadAt(Date.now());
    setShownAt(Date.now());
    const timer = setInterval(() => setShownAt(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [now]);
  const shown = new Date(Date.parse(now) + Math.max(0, shownAt - readAt)).toISOString();
  return (
    <div class="now">
      <p class="row">
        <strong class="amount">{toEastern(shown)}</strong>
        <span class="quiet utc">{toUtc(shown).slice(0, -4)} UTC</span>
        <span class={today.businessDay ? "chip open" : "chip"}>
          {today.businessDay ? "Business day" : `Not a business day: ${today.closedFor}`}
        </span>
      </p>
      <p class="next">
        {next ? `Next due: ${describeDue(next)} on ${toEastern(next.at)}` : "Nothing is scheduled."}
      </p>
    </div>
  );
}

/** Anything overdue is done now. */
function later(at: string, now: string): string {
  return at < now ? now : at;
}

function describeDue({ refunds, deliveries }: NonNullable<Due["next"]>): string {
  const parts = [
    ...(refunds > 0 ? [`${count(refunds, "refund")} become${refunds === 1 ? "s" : ""} AUTHORIZED`] : []),
    ...(deliveries > 0
      ? [`${count(deliveries, "delivery", "deliveries")} ${deliveries === 1 ? "is" : "are"} sent again`]
      : []),
  ];
  return parts.join(", ");
}

const NEWEST = { params: { query: { limit: 100 } } };

type Snapshot = {
  events: readonly { eventId: string; type: string }[];
  more: boolean;
  due: Due["items"];
  now: string;
};

async function readSnapshot(): Promise<Snapshot> {
  const [events, due] = await Promise.all([sandbox.GET("/sandbox/events", NEWEST), readDue()]);
  return {
    events: events.data?.items ?? [],
    more: events.data?.nextCursor != null,
    due: due.data?.items ?? [],
    now: due.data?.now ?? "",
  };
}

/** Lists the effects of moving the clock. */
async function describe(before: Snapshot): Promise<string> {
  const after = await readSnapshot();
  const newest = before.events[0]?.eventId;
  const known = after.events.findIndex(({ eventId }) => eventId === newest);
  const fresh = known === -1 ? after.events : after.events.slice(0, known);
  const orMore = known === -1 && after.more ? " or more" : "";
  const authorized = fresh.filter(({ type }) => type === "refund.authorized").length;
  const repeated = before.due.filter(({ kind, at }) => kind === "DELIVERY" && at <= after.now).length;
  const parts = [
    `${count(authorized, "refund")}${orMore} authorized`,
    `${count(fresh.length, "event")}${orMore} emitted`,
    ...(repeated > 0 ? [`${count(repeated, "delivery", "deliveries")} sent again`] : []),
  ];
  return `It is ${toEastern(after.now)}: ${parts.join(", ")}.`;
}
