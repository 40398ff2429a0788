import createClient from "openapi-fetch";
import type { components, operations, paths } from "../../openapi/generated/sandbox-types.ts";

/**
 * Creates every call of the sandbox's contract for the bearer of an access token. Each resolves with the body of the response, and
 * rejects with a {@link SandboxCallError} when the sandbox refuses it.
 */
export function createCalls(baseUrl: string, accessToken: string, send: typeof fetch = fetch) {
  const headers = { Authorization: `Bearer ${accessToken}`, Accept: "application/json" };
  const http = createClient<paths>({ baseUrl, headers, fetch: send });
  const payment = (paymentId: string) => ({ params: { path: { paymentId } } });
  const webhook = (webhookId: string) => ({ params: { path: { webhookId } } });
  const readClock = () => resultOf<"getClock">(http.GET("/sandbox/clock"));
  const listDeliveries = (query: Query<"listDeliveries"> = {}): Promise<Result<"listDeliveries">> =>
    resultOf(http.GET("/sandbox/deliveries", { params: { query } }));
  const subscription = (subscriptionKey: string) => ({ params: { path: { subscriptionKey } } });
  return {
    /** The time that decides on waiting refunds and on retries. It only moves forward. */
    clock: {
      /** The time, and what is due next. */
      read: (): Promise<Result<"getClock">> => readClock(),
      /** Such as `{ businessDays: 10 }`. Authorizes each refund that falls due; to wait for webhooks as well, see `delivered`. */
      advance: (body: RequestBody<"advanceClock">): Promise<Result<"advanceClock">> =>
        resultOf(http.POST("/sandbox/clock/advance", { body })),
    },
    /** Original payments to refund, and the state of refunds. */
    payments: {
      create: (body: RequestBody<"createPayment">): Promise<Result<"createPayment">> =>
        resultOf(http.POST("/sandbox/payments", { body })),
      list: (query: Query<"listPayments"> = {}): Promise<Result<"listPayments">> =>
        resultOf(http.GET("/sandbox/payments", { params: { query } })),
      get: (id: string): Promise<Result<"getPayment">> =>
        resultOf(http.GET("/sandbox/payments/{paymentId}", payment(id))),
      settle: (id: string, body: RequestBody<"settlePayment"> = {}): Promise<Result<"settlePayment">> =>
        resultOf<"settlePayment">(
          http.POST("/sandbox/payments/{paymentId}/settle", { ...payment(id), body }),
        ),
      fail: (id: string): Promise<Result<"failPayment">> =>
        resultOf(http.POST("/sandbox/payments/{paymentId}/fail", payment(id))),
      cover: (id: string): Promise<Result<"coverPayment">> =>
        resultOf(http.POST("/sandbox/payments/{paymentId}/cover", payment(id))),
    },
    /** What was sent to webhook subscriptions. */
    deliveries: {
      list: (query: Query<"listDeliveries"> = {}): Promise<Result<"listDeliveries">> => listDeliveries(query),
      get: (id: string): Promise<Result<"getDelivery">> =>
        resultOf(http.GET("/sandbox/deliveries/{webhookId}", webhook(id))),
      redeliver: (id: string): Promise<Result<"redeliver">> =>
        resultOf(http.POST("/sandbox/deliveries/{webhookId}/redeliver", webhook(id))),
    },
    /**
     * Waits until each delivery that is due was attempted, such as after the clock moved, and resolves with the latest hundred. Rejects
     * when one is still due after `timeoutMs`, which is 20 seconds when left out.
     */
    delivered: async ({
      timeoutMs = 20_000,
    }: {
      timeoutMs?: number;
    } = {}): Promise<Result<"listDeliveries">["items"]> => {
      for (const end = performance.now() + timeoutMs; performance.now() < end; await pause(POLL_MS)) {
        const [{ now }, waiting] = await Promise.all([
          readClock(),
          listDeliveries({ state: "PENDING", limit: 100 }),
        ]);
        if (waiting.items.some(({ dueAt }) => dueAt !== null && dueAt <= now)) continue;
        return (await listDeliveries({ limit: 100 })).items;
      }
      throw new Error(`A delivery is still due after ${timeoutMs} ms.`);
    },
    subscriptions: {
      list: (query: Query<"listSubscriptions"> = {}): Promise<Result<"listSubscriptions">> =>
        resultOf(http.GET("/sandbox/subscriptions", { params: { query } })),
      get: (key: string): Promise<Result<"getSubscription">> =>
        resultOf(http.GET("/sandbox/subscriptions/{subscriptionKey}", subscription(key))),
      end: (key: string): Promise<Result<"endSubscription">> =>
        resultOf<"endSubscription">(
          http.DELETE("/sandbox/subscriptions/{subscriptionKey}", subscription(key)),
        ),
      /** Such as `{ secretKey, overlapHours: 24 }`: for these hours deliveries carry signatures of the old secret, too. */
      rotateSecret: (key: string, body: RequestBody<"rotateSecret">): Promise<Result<"rotateSecret">> =>
        resultOf<"rotateSecret">(
          http.POST("/sandbox/subscriptions/{subscriptionKey}/rotate-secret", { ...subscription(key), body }),
        ),
    },
    events: {
      emit: (body: RequestBody<"emitEvent">): Promise<Result<"emitEvent">> =>
        resultOf(http.POST("/sandbox/events", { body })),
      list: (query: Query<"listEvents"> = {}): Promise<Result<"listEvents">> =>
        resultOf(http.GET("/sandbox/events", { params: { query } })),
    },
    /** A receiver of webhooks inside the sandbox, which can be made to fail. */
    inbox: {
      read: (): Promise<Result<"getInbox">> => resultOf(http.GET("/sandbox/inbox")),
      set: (body: RequestBody<"setInbox">): Promise<Result<"setInbox">> =>
        resultOf(http.POST("/sandbox/inbox", { body })),
    },
    requests: {
      list: (query: Query<"listRequests"> = {}): Promise<Result<"listRequests">> =>
        resultOf(http.GET("/sandbox/requests", { params: { query } })),
    },
    tokens: {
      create: (body: RequestBody<"createToken">): Promise<Result<"createToken">> =>
        resultOf(http.POST("/sandbox/tokens", { body })),
    },
    /** What goes wrong with the next calls and deliveries of the merchant. */
    faults: {
      /** Such as `{ kind: "CLOSED_AFTER", operation: "issueRefund" }`. */
      arm: (body: RequestBody<"armFault">): Promise<Result<"armFault">> =>
        resultOf(http.POST("/sandbox/faults", { body })),
      list: (): Promise<Result<"listFaults">> => resultOf(http.GET("/sandbox/faults")),
      clear: (): Promise<Result<"clearFaults">> => resultOf(http.DELETE("/sandbox/faults")),
    },
    /** Which elements of the published contract the merchant's calls and deliveries met. */
    coverage: (): Promise<Result<"getCoverage">> => resultOf(http.GET("/sandbox/coverage")),
    /** A later version of the contract, for your published calls and your deliveries. */
    tomorrow: {
      read: (): Promise<Result<"getTomorrow">> => resultOf(http.GET("/sandbox/tomorrow")),
      /** Such as `{ on: true, seed: 7 }`; resolves with the seed and with what that version adds. */
      set: (body: RequestBody<"setTomorrow">): Promise<Result<"setTomorrow">> =>
        resultOf(http.POST("/sandbox/tomorrow", { body })),
    },
    /** Says what has changed, as server-sent events, until it is cancelled. */
    changes: async (): Promise<ReadableStream<Uint8Array>> => {
      const options = { parseAs: "stream", headers: { Accept: "text/event-stream" } } as const;
      const stream: unknown = await resultOf<"streamChanges">(http.GET("/sandbox/changes", options));
      return stream as ReadableStream<Uint8Array>; // `parseAs` makes it one
    },
    /** Restores the data of the start, but not the clock. */
    reset: (): Promise<Result<"resetSandbox">> => resultOf(http.POST("/sandbox/reset")),
  };
}

/** The access tokens of every sandbox's merchants, `acme` and `globex`. */
export const ACCESS_TOKEN = "sandbox_acme";
export const OTHER_ACCESS_TOKEN = "sandbox_globex";

type Schemas = components["schemas"];
type Id = keyof operations;
type Content<Holder> = Holder extends { content: { "application/json": infer Body } } ? Body : undefined;
type Responses<Of extends Id> = operations[Of]["responses"];

/** What a call resolves with: the body of its success, as the sandbox's contract describes it. */
export type Result<Of extends Id> = Content<Responses<Of>[keyof Responses<Of> & (200 | 201 | 202 | 204)]>;
/** The body that a call sends. */
export type RequestBody<Of extends Id> = Content<NonNullable<operations[Of]["requestBody"]>>;
/** The query of a list, such as `{ limit: 10, cursor }`. */
export type Query<Of extends Id> = NonNullable<operations[Of]["parameters"]["query"]>;

const POLL_MS = 25;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** The sandbox refused a call; the problem says why, as the contract describes it. */
export class SandboxCallError extends Error {
  override readonly name = "SandboxCallError";
  /** Such as 400. */
  readonly status: number;
  /** Such as `{ errorDetails: { errorCode: "INVALID_REQUEST", … }, violations: […], … }`. */
  readonly problem: Schemas["Problem"] & Partial<Pick<Schemas["InvalidRequestProblem"], "violations">>;

  constructor(status: number, problem: SandboxCallError["problem"]) {
    const violations = problem.violations ?? [];
    const details = violations.map(({ pointer, message }) => `${pointer || "/"} ${message}`);
    super([`${status} ${problem.detail}`, ...details].join("\n"));
    this.status = status;
    this.problem = problem;
  }
}

/** Every call of the sandbox's contract, by subject. */
export type SandboxCalls = ReturnType<typeof createCalls>;

/**
 * The type comes from the operation: the client's own type loses the strings that an open list allows.
 * @throws SandboxCallError for a response that is not a success
 */
async function resultOf<Of extends Id>(
  call: Promise<{ data?: unknown; error?: unknown; response: Response }>,
): Promise<Result<Of>> {
  const { data, error, response } = await call;
  if (!response.ok) throw new SandboxCallError(response.status, error as SandboxCallError["problem"]);
  return data as Result<Of>; // undefined for a response without a body, as its type says
}

/** All options are optional. */
export type SandboxOptions = {
  /** Without one, a free port. */
  port?: number;
  /** The address to listen on; `127.0.0.1`, which only this machine reaches, when left out. */
  host?: string;
  /** The folder that keeps the data. Without one they are in memory, and gone when the sandbox is closed. */
  dataDir?: string;
  /**
   * Further settings, by the names of the environment variables, such as `{ RATE_LIMIT: "5" }`. The environment itself is not
   * read, so that a test does the same everywhere.
   */
  settings?: Readonly<Record<string, string>>;
  /** Receives the log, one JSON object on each line. Without it, nothing is logged. */
  log?: (line: string) => void;
};

/** A running sandbox, with every call of its contract for the merchant `acme`. */
export type Sandbox = SandboxCalls & {
  /** Its address, such as `http://127.0.0.1:40123`: the base URL of a client. */
  readonly url: string;
  /** The access token of the merchant `acme`, `sandbox_acme`, with both scopes. */
  readonly accessToken: string;
  /** The access token of another merchant, `globex`. */
  readonly otherAccessToken: string;
  /** The calls of another bearer, such as `sandbox.as(sandbox.otherAccessToken)`. */
  as(accessToken: string): SandboxCalls;
  /** Waits for requests in flight, then stops. May be called again. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};
