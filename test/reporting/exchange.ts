/** A request with its response, as the reports show them. */
import type { OperationId } from "../../client/src/index.ts";

/** The request. Secrets have been removed from its texts. */
export type Sent = {
  readonly operation: OperationId | undefined;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
};

export type Received = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** As `parseBody` reads it. */
  readonly body: unknown;
  readonly milliseconds: number;
};

/** The JSON of a body, its text when it is not JSON, or undefined when it is empty. */
export function parseBody(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export type Exchange = { readonly sent: Sent; readonly received: Received };

/** The service does not behave as it should. */
export class CheckFailure extends Error {
  readonly expected: string;
  readonly sent: Sent | undefined;
  /** The response, or why there was none. */
  readonly received: Received | string | undefined;
  /** Three in a row end the run. */
  readonly timedOut: boolean;

  constructor(
    expected: string,
    {
      sent,
      received,
      timedOut = false,
    }: { sent?: Sent; received?: Received | string; timedOut?: boolean } = {},
  ) {
    super(`expected ${expected}`);
    this.expected = expected;
    this.sent = sent;
    this.received = received;
    this.timedOut = timedOut;
  }
}

/** Thrown by a check that can't be completed, which it only finds out while it runs. */
export class NotRun extends Error {}

/** Removes secrets from everything that is shown or written. */
export type Redactor = ReturnType<typeof createRedactor>;

export function createRedactor() {
  const names = new Map<string, string>();
  return {
    /** From now on `secret` is shown as `‹name›`. */
    add(name: string, secret: string | undefined): void {
      if (!secret) return;
      names.set(secret, `‹${name}›`);
      // The form that it has inside JSON.
      names.set(JSON.stringify(secret).slice(1, -1), `‹${name}›`);
    },
    apply(text: string): string {
      // Longest first, because one token may begin with another.
      const secrets = [...names].sort(([a], [b]) => b.length - a.length);
      return secrets.reduce((shown, [secret, name]) => shown.replaceAll(secret, name), text);
    },
  };
}
