import createClient from "openapi-fetch";
import type { components, operations, paths } from "../../openapi/generated/sandbox-types.ts";

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

/**
 * Every call of the sandbox's contract, by subject. Each resolves with the body of the response, and rejects with a {@link
 * SandboxCallError} when the sandbox refuses it.
 */
export type SandboxCalls = {
  /** The time that decides on waiting refunds and on retries. It only moves forward. */
  readonly clock: {
    read(): Promise<Result<"getClock">>;
    /** Such as `{ businessDays: 3 }`; authorizes each refund that falls due, but doesn't wait for the deliveries of webhooks. */
    advance(by: RequestBody<"advanceClock">): Promise<Result<"advanceClock">>;
    /** What happens next, and when. */
    due(): Promise<Result<"getDue">>;
  };
  /** Original payments to refund, and the state of refunds. */
  readonly payments: {
    create(payment: RequestBody<"createPayment">): Promise<Result<"createPayment">>;
    list(query?: Query<"listPayments">): Promise<Result<"listPayments">>;
    get(paymentId: string): Promise<Result<"getPayment">>;
    settle(paymentId: string, body?: RequestBody<"settlePayment">): Promise<Result<"settlePayment">>;
    fail(paymentId: string): Promise<Result<"failPayment">>;
    cover(paymentId: string): Promise<Result<"coverPayment">>;
  };
  /** What was sent to webhook subscriptions. */
  readonly deliveries: {
    list(query?: Query<"listDeliveries">): Promise<Result<"listDeliveries">>;
    get(webhookId: string): Promise<Result<"getDelivery">>;
    redeliver(webhookId: string): Promise<Result<"redeliver">>;
    /** Such as `{ state: "EXHAUSTED" }`; resolves with how many are sent again. */
    redeliverMany(choice: RequestBody<"redeliverMany">): Promise<Result<"redeliverMany">>;
  };
  readonly subscriptions: {
    list(query?: Query<"listSubscriptions">): Promise<Result<"listSubscriptions">>;
    get(subscriptionKey: string): Promise<Result<"getSubscription">>;
    end(subscriptionKey: string): Promise<void>;
    /** Such as `{ secretKey, overlapHours: 24 }`: for these hours deliveries carry signatures of the old secret, too. */
    rotateSecret(
      subscriptionKey: string,
      secret: RequestBody<"rotateSecret">,
    ): Promise<Result<"rotateSecret">>;
  };
  readonly events: {
    emit(event: RequestBody<"emitEvent">): Promise<Result<"emitEvent">>;
    list(query?: Query<"listEvents">): Promise<Result<"listEvents">>;
    get(eventId: string): Promise<Result<"getEvent">>;
  };
  /** A receiver of webhooks inside the sandbox, which can be made to fail. */
  readonly inbox: {
    read(): Promise<Result<"getInbox">>;
    set(settings: RequestBody<"setInbox">): Promise<Result<"setInbox">>;
  };
  readonly requests: {
    list(query?: Query<"listRequests">): Promise<Result<"listRequests">>;
  };
  readonly tokens: {
    create(token: RequestBody<"createToken">): Promise<Result<"createToken">>;
  };
  /** What the service's operators can do to a merchant: block its calls, and hold its refunds. */
  readonly restrictions: {
    read(): Promise<Result<"getRestrictions">>;
    set(restrictions: RequestBody<"setRestrictions">): Promise<Result<"setRestrictions">>;
  };
  /** What goes wrong with the next calls and deliveries of the merchant. */
  readonly faults: {
    /** Such as `{ kind: "CLOSED_AFTER", operation: "issueRefund" }`. */
    arm(fault: RequestBody<"armFault">): Promise<Result<"armFault">>;
    list(): Promise<Result<"listFaults">>;
    clear(): Promise<void>;
  };
  /** Which elements of the published contract the merchant's calls and deliveries met. */
  coverage(): Promise<Result<"getCoverage">>;
  clearCoverage(): Promise<void>;
  /** A later version of the contract, for your published calls and your deliveries. */
  readonly tomorrow: {
    read(): Promise<Result<"getTomorrow">>;
    /** Such as `{ on: true, seed: 7 }`; resolves with the seed and with what that version adds. */
    set(setting: RequestBody<"setTomorrow">): Promise<Result<"setTomorrow">>;
  };
  /** Says what has changed, as server-sent events, until it is cancelled. */
  changes(): Promise<ReadableStream<Uint8Array>>;
  /** Restores the data of the start, but not the clock. */
  reset(): Promise<void>;
};

/** Creates the calls for the bearer of an access token. */
export function createCalls(baseUrl: string, accessToken: string, send: typeof fetch = fetch): SandboxCalls {
  const headers = { Authorization: `Bearer ${accessToken}`, Accept: "application/json" };
  const http = createClient<paths>({ baseUrl, headers, fetch: send });
  const payment = (paymentId: string) => ({ params: { path: { paymentId } } });
  const webhook = (webhookId: string) => ({ params: { path: { webhookId } } });
  const subscription = (subscriptionKey: string) => ({ params: { path: { subscriptionKey } } });
  // By operation, so that an operation that the contract gains is missed here by the compiler.
  const calls = {
    getClock: () => resultOf(http.GET("/sandbox/clock")),
    advanceClock: (body) => resultOf(http.POST("/sandbox/clock/advance", { body })),
    getDue: () => resultOf(http.GET("/sandbox/clock/due")),
    createPayment: (body) => resultOf(http.POST("/sandbox/payments", { body })),
    listPayments: (query = {}) => resultOf(http.GET("/sandbox/payments", { params: { query } })),
    getPayment: (id) => resultOf(http.GET("/sandbox/payments/{paymentId}", payment(id))),
    settlePayment: (id, body = {}) =>
      resultOf(http.POST("/sandbox/payments/{paymentId}/settle", { ...payment(id), body })),
    failPayment: (id) => resultOf(http.POST("/sandbox/payments/{paymentId}/fail", payment(id))),
    coverPayment: (id) => resultOf(http.POST("/sandbox/payments/{paymentId}/cover", payment(id))),
    listDeliveries: (query = {}) => resultOf(http.GET("/sandbox/deliveries", { params: { query } })),
    getDelivery: (id) => resultOf(http.GET("/sandbox/deliveries/{webhookId}", webhook(id))),
    redeliver: (id) => resultOf(http.POST("/sandbox/deliveries/{webhookId}/redeliver", webhook(id))),
    redeliverMany: (body) => resultOf(http.POST("/sandbox/redeliveries", { body })),
    listSubscriptions: (query = {}) => resultOf(http.GET("/sandbox/subscriptions", { params: { query } })),
    getSubscription: (key) =>
      resultOf(http.GET("/sandbox/subscriptions/{subscriptionKey}", subscription(key))),
    endSubscription: (key) =>
      resultOf(http.DELETE("/sandbox/subscriptions/{subscriptionKey}", subscription(key))),
    rotateSecret: (key, body) =>
      resultOf(
        http.POST("/sandbox/subscriptions/{subscriptionKey}/rotate-secret", { ...subscription(key), body }),
      ),
    emitEvent: (body) => resultOf(http.POST("/sandbox/events", { body })),
    listEvents: (query = {}) => resultOf(http.GET("/sandbox/events", { params: { query } })),
    getEvent: (eventId) => resultOf(http.GET("/sandbox/events/{eventId}", { params: { path: { eventId } } })),
    getInbox: () => resultOf(http.GET("/sandbox/inbox")),
    setInbox: (body) => resultOf(http.POST("/sandbox/inbox", { body })),
    listRequests: (query = {}) => resultOf(http.GET("/sandbox/requests", { params: { query } })),
    createToken: (body) => resultOf(http.POST("/sandbox/tokens", { body })),
    getRestrictions: () => resultOf(http.GET("/sandbox/restrictions")),
    setRestrictions: (body) => resultOf(http.POST("/sandbox/restrictions", { body })),
    armFault: (body) => resultOf(http.POST("/sandbox/faults", { body })),
    listFaults: () => resultOf(http.GET("/sandbox/faults")),
    clearFaults: () => resultOf(http.DELETE("/sandbox/faults")),
    getCoverage: () => resultOf(http.GET("/sandbox/coverage")),
    clearCoverage: () => resultOf(http.DELETE("/sandbox/coverage")),
    getTomorrow: () => resultOf(http.GET("/sandbox/tomorrow")),
    setTomorrow: (body) => resultOf(http.POST("/sandbox/tomorrow", { body })),
    streamChanges: () => {
      const options = { parseAs: "stream", headers: { Accept: "text/event-stream" } } as const;
      return resultOf(http.GET("/sandbox/changes", options));
    },
    resetSandbox: () => resultOf(http.POST("/sandbox/reset")),
  } satisfies ByOperation;
  return {
    clock: { read: calls.getClock, advance: calls.advanceClock, due: calls.getDue },
    payments: {
      create: calls.createPayment,
      list: calls.listPayments,
      get: calls.getPayment,
      settle: calls.settlePayment,
      fail: calls.failPayment,
      cover: calls.coverPayment,
    },
    deliveries: {
      list: calls.listDeliveries,
      get: calls.getDelivery,
      redeliver: calls.redeliver,
      redeliverMany: calls.redeliverMany,
    },
    subscriptions: {
      list: calls.listSubscriptions,
      get: calls.getSubscription,
      end: calls.endSubscription,
      rotateSecret: calls.rotateSecret,
    },
    events: { emit: calls.emitEvent, list: calls.listEvents, get: calls.getEvent },
    inbox: { read: calls.getInbox, set: calls.setInbox },
    requests: { list: calls.listRequests },
    tokens: { create: calls.createToken },
    restrictions: { read: calls.getRestrictions, set: calls.setRestrictions },
    faults: { arm: calls.armFault, list: calls.listFaults, clear: calls.clearFaults },
    coverage: calls.getCoverage,
    clearCoverage: calls.clearCoverage,
    tomorrow: { read: calls.getTomorrow, set: calls.setTomorrow },
    changes: calls.streamChanges,
    reset: calls.resetSandbox,
  };
}

type Members<Group extends keyof SandboxCalls> = SandboxCalls[Group];

/** Every operation, and where callers find it. */
type ByOperation = { [Of in Exclude<Id, keyof Found>]: never } & Found;
type Found = {
  getClock: Members<"clock">["read"];
  advanceClock: Members<"clock">["advance"];
  getDue: Members<"clock">["due"];
  createPayment: Members<"payments">["create"];
  listPayments: Members<"payments">["list"];
  getPayment: Members<"payments">["get"];
  settlePayment: Members<"payments">["settle"];
  failPayment: Members<"payments">["fail"];
  coverPayment: Members<"payments">["cover"];
  listDeliveries: Members<"deliveries">["list"];
  getDelivery: Members<"deliveries">["get"];
  redeliver: Members<"deliveries">["redeliver"];
  redeliverMany: Members<"deliveries">["redeliverMany"];
  listSubscriptions: Members<"subscriptions">["list"];
  getSubscription: Members<"subscriptions">["get"];
  endSubscription: Members<"subscriptions">["end"];
  rotateSecret: Members<"subscriptions">["rotateSecret"];
  emitEvent: Members<"events">["emit"];
  listEvents: Members<"events">["list"];
  getEvent: Members<"events">["get"];
  getInbox: Members<"inbox">["read"];
  setInbox: Members<"inbox">["set"];
  listRequests: Members<"requests">["list"];
  createToken: Members<"tokens">["create"];
  getRestrictions: Members<"restrictions">["read"];
  setRestrictions: Members<"restrictions">["set"];
  armFault: Members<"faults">["arm"];
  listFaults: Members<"faults">["list"];
  clearFaults: Members<"faults">["clear"];
  getCoverage: Members<"coverage">;
  clearCoverage: Members<"clearCoverage">;
  getTomorrow: Members<"tomorrow">["read"];
  setTomorrow: Members<"tomorrow">["set"];
  streamChanges: Members<"changes">;
  resetSandbox: Members<"reset">;
};

/**
 * The type comes from the operation: the client's own type loses the strings that an open list allows.
 *
 * @throws SandboxCallError for a response that is not a success
 */
async function resultOf<Body>(
  call: Promise<{ data?: unknown; error?: unknown; response: Response }>,
): Promise<Body> {
  const { data, error, response } = await call;
  if (!response.ok) throw new SandboxCallError(response.status, error as SandboxCallError["problem"]);
  return data as Body; // undefined for a response without a body, as its type says
}
