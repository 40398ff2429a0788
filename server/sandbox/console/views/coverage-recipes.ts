import { getToken, type Result, type SandboxSchemas, sandbox } from "../parts/api.ts";
import { newSecret } from "./inbox.tsx";

type Item = SandboxSchemas["CoverageItem"];
type Produce = () => Promise<Result<unknown>>;

const REFUNDS = "/v1/refunds";
const SUBSCRIBE = "/v1/webhook/subscribe";
const PATHS: Readonly<Record<string, string>> = { issueRefund: REFUNDS, subscribeToWebhooks: SUBSCRIBE };
const usd = (value: number) => ({ currency: "USD", value }) as const;

type Sending = { body?: unknown; headers?: Record<string, string>; token?: string };

/** Makes a call of the published contract, which may be refused: that is what is to be met. */
async function call(
  path: string,
  { body = {}, headers = {}, token = getToken() }: Sending = {},
): Promise<Result<unknown>> {
  const response = await fetch(path, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${token}`,
      "Content-Type": "application/json",
      Accept: "application/json",
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { data: await response.text() };
}

type Status = "PROCESSING" | "SETTLED" | "FAILED" | "COVERED";

async function pay(status: Status = "SETTLED"): Promise<string> {
  const { data } = await sandbox.POST("/sandbox/payments", { body: { amount: usd(100), status } });
  return data?.paymentId ?? "";
}

const refundOf = (paymentId: string, fields: object = {}) => ({
  ...{ paymentId, amount: usd(1), requestKey: crypto.randomUUID() },
  ...fields,
});

/** Issues a refund of a new payment with this status. */
const refund =
  (status?: Status, fields?: object): Produce =>
  async () =>
    call(REFUNDS, { body: refundOf(await pay(status), fields) });

const refundOfRefund: Produce = async () => {
  const first = await call(REFUNDS, { body: refundOf(await pay()) });
  return call(REFUNDS, { body: refundOf(JSON.parse(String(first.data)).paymentId) });
};

const twice: Produce = async () => {
  const body = refundOf(await pay("FAILED"), { clientReferenceId: "order-1042" });
  await call(REFUNDS, { body });
  return call(REFUNDS, { body });
};

const subscribe = async (subscriptionDetails: object): Promise<Result<unknown>> => {
  const { data } = await sandbox.GET("/sandbox/inbox");
  return call(SUBSCRIBE, { body: { url: data?.url, secretKey: newSecret(), subscriptionDetails } });
};

/** Has an event delivered to the inbox. */
const event =
  (produce: Produce): Produce =>
  async () => {
    const { data } = await sandbox.GET("/sandbox/inbox");
    if (data?.subscriptionKey === null) await subscribe({ type: "ALL" });
    return produce();
  };

const move = (status: Status, to: "settle" | "fail" | "cover") =>
  event(async () => {
    const params = { path: { paymentId: await pay(status) } };
    if (to === "settle") return sandbox.POST("/sandbox/payments/{paymentId}/settle", { params, body: {} });
    if (to === "fail") return sandbox.POST("/sandbox/payments/{paymentId}/fail", { params });
    return sandbox.POST("/sandbox/payments/{paymentId}/cover", { params });
  });

const emit = (type: "account.linked" | "account.unlinked" | "customer.created") =>
  event(async () =>
    sandbox.POST("/sandbox/events", { body: { type, resourceId: `x_${crypto.randomUUID()}` } }),
  );

const EVENTS: Readonly<Record<string, Produce>> = {
  "refund.pending": event(refund("PROCESSING")),
  "refund.authorized": event(refund()),
  "refund.terminal_failed": event(refund("FAILED")),
  "payment.settled": move("PROCESSING", "settle"),
  "payment.failed": move("PROCESSING", "fail"),
  "payment.covered": move("SETTLED", "cover"),
  "account.linked": emit("account.linked"),
  "account.unlinked": emit("account.unlinked"),
  "customer.created": emit("customer.created"),
};

/** A valid body of each operation, for the calls of which something else is wrong. */
const bodyFor = async (path: string) => (path === REFUNDS ? refundOf(await pay()) : await toInbox());
const toInbox = async () => {
  const { data } = await sandbox.GET("/sandbox/inbox");
  return { url: data?.url, secretKey: newSecret(), subscriptionDetails: { type: "ALL" } };
};

const withFault = (kind: string) => async (path: string) =>
  call(path, { body: await bodyFor(path), headers: { "Sandbox-Fault": kind } });

/** How to get each status that both operations have. */
const STATUSES: Readonly<Record<string, (path: string) => Promise<Result<unknown>>>> = {
  200: async () => subscribe({ type: "ALL" }),
  201: refund(),
  400: (path) => call(path),
  async 401(path) {
    const restrict = (blocked: boolean) =>
      sandbox.POST("/sandbox/restrictions", { body: { blocked, held: false } });
    await restrict(true);
    await call(path);
    return restrict(false);
  },
  async 403(path) {
    const { data } = await sandbox.POST("/sandbox/tokens", { body: { scopes: [] } });
    return call(path, { token: data?.accessToken ?? "" });
  },
  404: () => call(REFUNDS, { body: refundOf("pay_unknown") }),
  406: (path) => call(path, { headers: { Accept: "text/plain" } }),
  413: (path) => call(path, { body: JSON.stringify("x".repeat(70_000)) }),
  415: (path) => call(path, { headers: { "Content-Type": "text/plain" } }),
  429: withFault("RATE_LIMITED"),
  500: withFault("INTERNAL_ERROR"),
  503: withFault("UNAVAILABLE"),
};

const CODES: Readonly<Record<string, Produce>> = {
  CUSTOMER_NOT_DEBITED: refund("FAILED"),
  PAYMENT_COVERED: refund("COVERED"),
  AMOUNT_EXCEEDS_REFUNDABLE: refund("SETTLED", { amount: usd(200) }),
  PAYMENT_NOT_REFUNDABLE: refundOfRefund,
  DUPLICATE_REQUEST_KEY: twice,
};
const STATES: Readonly<Record<string, Produce>> = {
  PENDING: refund("PROCESSING"),
  AUTHORIZED: refund(),
  TERMINAL_FAILED: refund("FAILED"),
};

/** How to meet a field, by the beginning of its name; the first that fits. */
const FIELDS: readonly [start: string, produce: Produce | undefined][] = [
  ["request RefundRequest.clientRefefenceId", refund("SETTLED", { clientRefefenceId: "order-1042" })],
  [
    "request RefundRequest",
    refund("SETTLED", { clientReferenceId: "order-1042", softDescriptor: "Refund 1042" }),
  ],
  ["request Amount", refund()],
  ["request EventSubscription", () => subscribe({ type: "EVENT", details: ["refund.pending"] })],
  ["request CategorySubscription", () => subscribe({ type: "CATEGORY", details: ["PAYMENT"] })],
  ["request AllSubscription", () => subscribe({ type: "ALL", details: [] })],
  ["request SubscriptionRequest", () => subscribe({ type: "ALL" })],
  ["response Subscription.", () => subscribe({ type: "ALL" })],
  ["response Refund", refund("FAILED")],
  ["response InvalidRequestProblem", () => call(REFUNDS)],
  ["response Violation", () => call(REFUNDS)],
  ["response Problem", () => call(REFUNDS, { body: refundOf("pay_unknown") })],
  ["response ", twice],
  ["event RefundPendingEvent", EVENTS["refund.pending"]],
  ["event RefundTerminalFailedEvent", EVENTS["refund.terminal_failed"]],
  ["event FailedRefundEventData", EVENTS["refund.terminal_failed"]],
  ["event RefundErrorDetails", EVENTS["refund.terminal_failed"]],
  ["event Refund", EVENTS["refund.authorized"]],
  ["event Amount", EVENTS["refund.authorized"]],
  ["event PaymentFailedEvent", EVENTS["payment.failed"]],
  ["event PaymentCoveredEvent", EVENTS["payment.covered"]],
  ["event Payment", EVENTS["payment.settled"]],
  ["event AccountUnlinkedEvent", EVENTS["account.unlinked"]],
  ["event Account", EVENTS["account.linked"]],
  ["event Customer", EVENTS["customer.created"]],
];

/** What meets an element of the contract; undefined where a page can't do it. */
export function recipeOf({ kind, name }: Item): Produce | undefined {
  const [operation = "", status = ""] = name.split(" ");
  const path = PATHS[operation] ?? REFUNDS;
  if (kind === "OPERATION") return path === REFUNDS ? refund() : () => subscribe({ type: "ALL" });
  if (kind === "STATUS") {
    if (name === "issueRefund 409") return twice;
    const produce = STATUSES[status];
    return produce && (() => produce(path));
  }
  if (kind === "ERROR_CODE") return CODES[name] ?? byCode(name);
  if (kind === "EVENT") return EVENTS[name];
  if (kind === "STATE") return STATES[name];
  return FIELDS.find(([start]) => name.startsWith(start))?.[1];
}

const STATUS_OF: Readonly<Record<string, number>> = {
  INVALID_REQUEST: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  PAYMENT_NOT_FOUND: 404,
  NOT_ACCEPTABLE: 406,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
  INTERNAL_ERROR: 500,
  UNAVAILABLE: 503,
};

function byCode(code: string): Produce | undefined {
  const produce = STATUSES[STATUS_OF[code] ?? 0];
  return produce && (() => produce(REFUNDS));
}
