/** Calls of the sandbox by their operation ids, with bodies typed by its document: `sandbox("createPayment", { body })`. */
import { readContract } from "../../openapi/document/read-contract.ts";
import type { SandboxSchemas, Schemas } from "../../server/contract/contract-document.ts";
import type { HandlerResponse, SandboxId } from "../../server/contract/operation-types.ts";
import { ACCESS_TOKEN } from "../../server/sandbox/sandbox-client.ts";
import { createMerchant, dollars, type Refund } from "./factories.ts";
import { post, type TestResponse } from "./server.ts";

const contract = readContract("sandbox");

export type Debit = SandboxSchemas["Debit"];
export type PaymentRecord = SandboxSchemas["PaymentRecord"];

/** The body of a successful response; for problems see `problemOf`. */
type SuccessBody<Id extends SandboxId> = BodyOf<HandlerResponse<Id>>;
type BodyOf<Response> = Response extends { status: number; body?: infer Body } ? Body : never;

export type SandboxResponse<Id extends SandboxId> = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: SuccessBody<Id>;
};

export type SandboxCall = {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number>>;
  /** A string is sent unchanged, anything else as JSON. */
  readonly body?: unknown;
  /** The caller's access token; null sends no `Authorization`. */
  readonly token?: string | null;
};

export type Sandbox = <Id extends SandboxId>(id: Id, call?: SandboxCall) => Promise<SandboxResponse<Id>>;

/** The sandbox calls of a server, acme's by default. Throws on every response that the contract does not allow. */
export function sandboxOf(server: { readonly url: string }, ownToken: string | null = ACCESS_TOKEN): Sandbox {
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
    const result = {
      status: response.status,
      headers: response.headers,
      body: text === "" ? undefined : JSON.parse(text),
    };
    const violations = contract.violationsOf(id, result);
    if (violations.length > 0)
      throw new Error(`${id} responded with ${response.status} ${text}: ${violations.join("; ")}`);
    return result;
  };
}

function toQuery(query: Readonly<Record<string, string | number>>): string {
  const entries = Object.entries(query).map(([name, value]) => [name, String(value)]);
  return entries.length === 0 ? "" : `?${new URLSearchParams(entries)}`;
}

/** The fields of a problem that do not differ from one response to the next. */
export function problemOf({ status, body }: { readonly status: number; readonly body: unknown }) {
  const { detail, errorDetails, violations } = body as SandboxSchemas["Problem"] &
    Partial<Pick<Schemas["InvalidRequestProblem"], "violations">>;
  return { status, errorCode: errorDetails.errorCode, ...(violations ? { violations } : { detail }) };
}

/** The problem of a call with one violation. */
export function violationAt(pointer: string, message: unknown) {
  return { status: 400, errorCode: "INVALID_REQUEST", violations: [{ pointer, message }] };
}

/** The problem of a call that names a record that the caller does not have. */
export function notFound(detail: string) {
  return { status: 404, errorCode: "NOT_FOUND", detail };
}

type Server = Parameters<typeof createMerchant>[0] & { readonly url: string };

/** A new merchant, with the calls that tests make on its behalf. */
export type Merchant = {
  readonly merchant: string;
  readonly token: string;
  readonly sandbox: Sandbox;
  issue<Body = Refund>(body: unknown): Promise<TestResponse<Body>>;
  /** Creates an original payment, by default of 100.00. */
  create(fields?: object): Promise<Debit>;
  get(paymentId: string): Promise<PaymentRecord>;
};

export async function createSandboxMerchant(server: Server): Promise<Merchant> {
  return merchantAt(server, await createMerchant(server));
}

/** A merchant as another server sees it, or the same one after its restart. */
export function merchantAt(
  server: { readonly url: string },
  { merchant, token }: { readonly merchant: string; readonly token: string },
): Merchant {
  const sandbox = sandboxOf(server, token);
  return {
    merchant,
    token,
    sandbox,
    issue: (body) => post(server.url, "/v1/refunds", body, { token }),
    create: async (fields = {}) => {
      const { status, body } = await sandbox("createPayment", { body: { amount: dollars(100), ...fields } });
      if (status !== 201) throw new Error(`no payment was made: ${JSON.stringify(body)}`);
      return body as Debit; // 201 has no other body
    },
    get: async (paymentId) => {
      const { status, body } = await sandbox("getPayment", { path: { paymentId } });
      if (status !== 200) throw new Error(`no record was found: ${JSON.stringify(body)}`);
      return body as PaymentRecord; // 200 has no other body
    },
  };
}

/** The events of one payment or refund, oldest first. */
export async function eventsOf({ database: { db } }: Server, resourceId: string) {
  const events = db.selectFrom("events").where("resource_id", "=", resourceId).orderBy("sequence");
  return events.select(["type", "sequence", "occurred_at"]).execute();
}
