import { Fragment } from "preact";
import { Code, RealTime, Status, Time, toHash, Until } from "./elements.tsx";
import { count, toEastern } from "./format-values.ts";
import type { SandboxSchemas } from "./sandbox-api.ts";

/** The life of a refund: past steps as filled marks, the next one as an open mark; the text says the same. */
export function Timeline({ refund, payment, course }: { refund: Refund; payment: Debit; course?: Course }) {
  const { due, history } = refund;
  const past = history.map(({ paymentStatus, at }) => ({ label: paymentStatus, at, open: false }));
  const marks = due ? [...past, { label: "AUTHORIZED" as const, at: due.at, open: true }] : past;
  return (
    <>
      <ol class="timeline">
        {marks.map(({ label, at, open }, index) => (
          <li key={label} class={`${label.toLowerCase()}${open ? " open" : ""}`}>
            <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
              <Mark label={label} />
            </svg>
            <strong>
              {!open && index === 0 && "Issued: "}
              {label}
              {open && ", due"}
            </strong>{" "}
            <Time at={at} />
            {index > 0 && waitOf(history[0]?.at, at)}
            {index === 0 && course?.call && <Call call={course.call} />}
            {!open && course?.deliveries.filter(isAbout(label)).map(Webhook)}
          </li>
        ))}
      </ol>
      <p>{inWords(refund, payment)}</p>
    </>
  );
}

type Refund = SandboxSchemas["RefundRecord"];
type Debit = SandboxSchemas["Debit"];

/** What led to a refund's statuses, and the webhooks about them; the sandbox forgets old requests. */
export type Course = {
  readonly call: SandboxSchemas["RequestRecord"] | undefined;
  readonly deliveries: readonly SandboxSchemas["Delivery"][];
};

const DAY_MS = 86_400_000;

function waitOf(from: string | undefined, to: string): string | undefined {
  const days = Math.round((Date.parse(to) - Date.parse(from ?? to)) / DAY_MS);
  return days > 0 ? `, after ${count(days, "day")}` : undefined;
}

const isAbout =
  (status: string) =>
  ({ type }: SandboxSchemas["Delivery"]) =>
    type === `refund.${status.toLowerCase()}`;

function Call({
  call: { requestId, path, status, milliseconds, at },
}: {
  call: SandboxSchemas["RequestRecord"];
}) {
  return (
    <p class="row">
      <a href={toHash("requests", requestId)}>POST {path}</a>
      <Code status={status} />
      <span class="quiet">
        <RealTime at={at} /> UTC, {milliseconds} ms
      </span>
    </p>
  );
}

/** A webhook with a line for each attempt. */
function Webhook({ webhookId, type, state, attempts, dueAt }: SandboxSchemas["Delivery"]) {
  return (
    <Fragment key={webhookId}>
      <p class="row">
        <a href={toHash("deliveries", webhookId)}>{type}</a>
        <Status value={state} />
      </p>
      {attempts.map(({ at, status, error, milliseconds }, index) => (
        <p class="row" key={at}>
          Attempt {index + 1}
          <Code status={status} />
          {error}
          <span class="quiet">
            <RealTime at={at} /> UTC, {milliseconds} ms
          </span>
        </p>
      ))}
      {dueAt !== null && (
        <p>
          Next attempt <Until at={dueAt} />
        </p>
      )}
    </Fragment>
  );
}

/** A circle, a square and a triangle, so that the states differ without colour. */
function Mark({ label }: { label: string }) {
  if (label === "AUTHORIZED") return <rect x="4" y="4" width="12" height="12" />;
  if (label === "TERMINAL_FAILED") return <path d="M3 16h14L10 3z" />;
  return <circle cx="10" cy="10" r="6" />;
}

function inWords({ paymentStatus, errorDetails, due }: Refund, { settledAt }: Debit): string {
  if (paymentStatus === "TERMINAL_FAILED")
    return `TERMINAL_FAILED with ${errorDetails?.errorCode}: ${errorDetails?.errorMessage}`;
  if (paymentStatus === "AUTHORIZED") return "AUTHORIZED: the money is on its way.";
  if (!due || settledAt === null)
    return "PENDING until its wait after settlement is over. The payment has not settled yet.";
  const skipped = due.holidays.length > 0 ? `, ${due.holidays.join(" and ")} skipped` : "";
  return `PENDING because the payment settled on ${toEastern(settledAt)}; due ${toEastern(due.at)}${skipped}.`;
}

/** How much of a payment has been refunded. */
export function RefundedBar({ payment: { amount, refundableAmount } }: { payment: Debit }) {
  const refunded = 1 - refundableAmount.value / amount.value;
  return (
    <svg
      class="bar"
      viewBox="0 0 100 6"
      preserveAspectRatio="none"
      role="img"
      aria-label={`${Math.round(refunded * 100)} % refunded`}
    >
      <rect class="whole" width="100" height="6" />
      <rect class="part" width={100 * refunded} height="6" />
    </svg>
  );
}
