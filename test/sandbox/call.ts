import { readContract } from "../../scripts/lib/contract.ts";
import type { Reply, SandboxId } from "../../server/http/operations.ts";
import type { SandboxSchemas, Schemas } from "../../server/http/schemas.ts";

const contract = readContract("sandbox");

export type Debit = SandboxSchemas["Debit"];
export type RefundRecord = SandboxSchemas["RefundRecord"];
export type PaymentRecord = SandboxSchemas["PaymentRecord"];

/** The body of an operation's success. A problem has another one: see `problemOf`. */
type SuccessBody<Id extends SandboxId> = Extract<Reply<Id>, { status: number }>["body"];

export type SandboxAnswer<Id extends SandboxId> = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: SuccessBody<Id>;
};

export type SandboxCall = {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number>>;
  /** A text is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  /** Whose call it is; null sends no `Authorization`. */
  readonly token?: string | null;
};

export type Sandbox = <Id extends SandboxId>(id: Id, call?: SandboxCall) => Promise<SandboxAnswer<Id>>;

/** The calls of a server's sandbox, acme's where nothing is said. Fails on every answer that the contract does not allow. */
export function sandboxOf(
  server: { readonly url: string },
  ownToken: string | null = "sandbox_acme",
): Sandbox {
  return async (id, { path = {}, query = {}, body, token = ownToken } = {}) => {
    const { path: template, method } = contract.operation(id);
    const filled = template.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(path[name] ?? ""));
    const response = await fetch(server.url + filled + toQuery(query), {
      method,
      headers: {
        Accept: "application/json",
        ...(token !== null && { Authorization: `Bearer ${token}` }),
        ...(body !== undefined && { "Content-Type": "application/json" }),
      },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const answer = {
      status: response.status,
      headers: response.headers,
      body: text === "" ? undefined : JSON.parse(text),
    };
    const faults = contract.faultsOf(id, answer);
    if (faults.length > 0) throw new Error(`${id} answered ${response.status} ${text}: ${faults.join("; ")}`);
    return answer;
  };
}

function toQuery(query: Readonly<Record<string, string | number>>): string {
  const entries = Object.entries(query).map(([name, value]) => [name, String(value)]);
  return entries.length === 0 ? "" : `?${new URLSearchParams(entries)}`;
}

/** What a problem tells, without what differs from one answer to the next. */
export function problemOf({ status, body }: { readonly status: number; readonly body: unknown }) {
  const { detail, errorDetails, violations } = body as Schemas["Problem"] &
    Partial<Schemas["InvalidRequestProblem"]>;
  return { status, errorCode: errorDetails.errorCode, ...(violations ? { violations } : { detail }) };
}

/** The problem of a call with one fault. */
export function faultAt(pointer: string, message: unknown) {
  return { status: 400, errorCode: "INVALID_REQUEST", violations: [{ pointer, message }] };
}

/** The problem of a call that names a record which the caller does not have. */
export function notFound(detail: string) {
  return { status: 404, errorCode: "NOT_FOUND", detail };
}
