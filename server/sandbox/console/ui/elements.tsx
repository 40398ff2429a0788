import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { pretty, toEastern, toUtc, toWait } from "./format-values.ts";
import { type Problem, type Result, useCall } from "./sandbox-api.ts";
import { useNow } from "./sandbox-time.ts";

/* The small elements of which all views are made: times, statuses, links, buttons, texts of problems. */

export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={toUtc(at)}>
      {toEastern(at)}
    </time>
  );
}

/** A time of the real clock, in UTC. Times of the sandbox's clock are shown in Eastern time. */
export function RealTime({ at }: { at: string }) {
  return <time dateTime={at}>{toUtc(at).slice(0, -1)}</time>;
}

/** How long it takes until a time of the sandbox's clock, such as `in 5 s`. */
export function Until({ at }: { at: string }) {
  const now = useNow(1_000);
  return (
    <time dateTime={at} title={`${toEastern(at)}, ${toUtc(at)}`}>
      {now === undefined ? toEastern(at) : toWait(Date.parse(at) - now)}
    </time>
  );
}

/** A status in words and in its colour; the shape of the mark distinguishes it without colour. */
export function Status({ value }: { value: string }) {
  return <span class={`status ${value.toLowerCase()}`}>{value}</span>;
}

/** The status of a response; a dash when there was no response. */
export function Code({ status }: { status: number | null }) {
  const good = status !== null && status < 400;
  return <span class={good ? "code good" : "code bad"}>{status ?? "—"}</span>;
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

/** The address of a record, such as `#/payments/pay_settled`. */
export const toHash = (view: string, id: string) => `#/${view}/${encodeURIComponent(id)}`;

/** A link to a record by its identifier. */
export function Id({ view, id }: { view: string; id: string }) {
  return (
    <a class="id" href={toHash(view, id)}>
      <bdi>{id}</bdi>
    </a>
  );
}

/** The resource of an event; only payments and refunds have a page. */
export function Resource({ id }: { id: string }) {
  if (id.startsWith("rfd_")) return <Id view="refunds" id={id} />;
  return id.startsWith("pay_") ? <Id view="payments" id={id} /> : <bdi class="id">{id}</bdi>;
}

/** The head of a page: its path, its title and its actions. */
export function PageHead({
  up,
  title,
  children,
}: {
  up?: { view: string; label: string };
  title: ComponentChildren;
  children?: ComponentChildren;
}) {
  return (
    <header class="page-head">
      {up && (
        <a class="up" href={`#/${up.view}`}>
          {up.label}
        </a>
      )}
      <h1>{title}</h1>
      {children && <div class="row actions">{children}</div>}
    </header>
  );
}

type ActionProps = {
  children: ComponentChildren;
  call: () => Promise<Result<unknown>>;
  primary?: boolean;
  disabled?: boolean;
  pressed?: boolean;
  /** What it does, for readers who can't see where the button is. */
  name?: string;
};

/** A button that makes a call, and the problem of that call. */
export function Action({ children, call, primary, disabled = false, pressed, name }: ActionProps) {
  const { problem, busy, run } = useCall();
  return (
    <>
      <button
        type="button"
        class={primary ? "primary" : undefined}
        aria-label={name}
        aria-pressed={pressed}
        disabled={busy || disabled}
        onClick={() => run(call)}
      >
        {children}
      </button>
      <ProblemText problem={problem} />
    </>
  );
}

/** Shows a secret that can't be read again. */
export function ShownOnce({ label, secret }: { label: string; secret: string }) {
  return (
    <p class="row once" role="status">
      <span>{label} It is shown only now:</span>
      <code>{secret}</code>
      <Copy label="Copy" of="the secret" text={secret} />
    </p>
  );
}

/** Names and values; those that are null or undefined are left out. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) =>
        value == null ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

/** JSON, or any other text, with a button that copies it. */
export function Body({ label, text }: { label: string; text: string | null }) {
  const shown = pretty(text);
  return (
    <section class="body" aria-label={label}>
      <div class="row body-head">
        <strong class="quiet">{label}</strong>
        {text !== null && <Copy label="Copy" of={label} text={shown} />}
      </div>
      <pre>{shown}</pre>
    </section>
  );
}

/** Describes a problem, with a link to the record that a duplicate key belongs to. */
export function ProblemText({ problem }: { problem: Problem | undefined }) {
  if (!problem) return null;
  return (
    <div class="problem" role="alert">
      <strong>
        {[problem.status, problem.errorDetails?.errorCode ?? problem.title].filter(Boolean).join(" ")}
      </strong>
      {problem.violations?.length === 0 && <p>Correct the fields that are marked.</p>}
      {problem.violations ? (
        <ul>
          {problem.violations.map(({ pointer, message }) => (
            <li key={pointer}>
              <code>{pointer || "body"}</code> {message}
            </li>
          ))}
        </ul>
      ) : (
        <p>{problem.detail}</p>
      )}
      {problem.existing && (
        <p>
          The key belongs to <Resource id={problem.existing.paymentId} />.
        </p>
      )}
    </div>
  );
}

/** @param of the copied text, for readers who can't see where the button is */
export function Copy({ text, label, of }: { text: string; label: string; of?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return (
    <button type="button" class="small" aria-label={of && `${label} ${of}`} onClick={copy}>
      {copied ? "Copied" : label}
    </button>
  );
}
