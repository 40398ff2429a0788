import { useState } from "preact/hooks";
import { ProblemText, Until } from "../ui/elements.tsx";
import { count, fromEastern, toEastern, toUtc } from "../ui/format-values.ts";
import { type SandboxSchemas, sandbox, useCall, useLoaded } from "../ui/sandbox-api.ts";
import { readNow, setNow, useNow } from "../ui/sandbox-time.ts";

/** The sandbox's time, what is due next, and the ways to move on. */
export function Clock() {
  const { data } = useLoaded("due", ["clock", "payments", "webhooks"], readDue);
  const [message, setMessage] = useState("");
  const [date, setDate] = useState("");
  // On a phone the clock shows its time only, until it is opened.
  const [open, setOpen] = useState(false);
  const { problem, busy, run } = useCall();

  const advance = async (body: Advance) => {
    const moved = await run(() => sandbox.POST("/sandbox/clock/advance", { body }));
    setMessage(moved.data ? describe(moved.data) : "");
  };

  return (
    <section class={open ? "clock open" : "clock"} aria-label="Clock">
      {data ? <Now due={data} /> : <p class="quiet">Reading the clock…</p>}
      <button
        type="button"
        class="toggle"
        aria-expanded={open}
        aria-controls="moves"
        onClick={() => setOpen(!open)}
      >
        Move clock
      </button>
      <div class="row moves" id="moves">
        {STEPS.map(([label, step]) => (
          <button key={label} type="button" disabled={busy} onClick={() => advance(step)}>
            {label}
          </button>
        ))}
        <button
          type="button"
          class="primary"
          disabled={busy || !data?.next}
          onClick={() => data?.next && advance(toDue(data.next.at))}
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
          <button type="submit" disabled={busy || date === ""}>
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

type Advance = SandboxSchemas["ClockAdvance"];
type Time = SandboxSchemas["Clock"];

const STEPS: readonly [label: string, step: Advance][] = [
  ["+1 hour", { by: "PT1H" }],
  ["+1 business day", { businessDays: 1 }],
  ["+30 days", { by: "P30D" }],
];

async function readDue() {
  const due = await sandbox.GET("/sandbox/clock");
  if (due.data) setNow(due.data.now);
  return due;
}

const TICK_MS = 10_000;

/** The time passes on the page between two requests to the server. */
function Now({ due: { now, today, next } }: { due: Time }) {
  const shown = new Date(useNow(TICK_MS) ?? now).toISOString();
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
        {next ? (
          <>
            Next due: {describeDue(next)} on {toEastern(next.at)} (<Until at={next.at} />)
          </>
        ) : (
          "Nothing is scheduled."
        )}
      </p>
    </div>
  );
}

/** The clock never goes back, so what is overdue, such as a delivery whose receiver has not responded yet, is due now. */
function toDue(at: string): Advance {
  return Date.parse(at) > (readNow() ?? 0) ? { to: at } : { by: "PT0S" };
}

function describeDue({ refunds, deliveries }: NonNullable<Time["next"]>): string {
  const parts = [
    ...(refunds > 0 ? [`${count(refunds, "refund")} become${refunds === 1 ? "s" : ""} AUTHORIZED`] : []),
    ...(deliveries > 0
      ? [`${count(deliveries, "delivery", "deliveries")} ${deliveries === 1 ? "is" : "are"} sent again`]
      : []),
  ];
  return parts.join(", ");
}

/** The effects of moving the clock. */
function describe({ now, refunds, deliveries }: SandboxSchemas["AdvancedClock"]): string {
  const retried = deliveries > 0 ? `, ${count(deliveries, "delivery", "deliveries")} sent again` : "";
  return `It is ${toEastern(now)}: ${count(refunds, "refund")} authorized${retried}.`;
}
