import type { Retry } from "../../../openapi/document/read-contract.ts";
import type { WatchedAttempt, WatchedCall } from "../features/bad-day.ts";

/** Finds what no merchant's system should do in the calls and deliveries of a run, such as a refund that was made twice. */
export function judge(seen: Seen, retryOf: RetryOf): Finding[] {
  const calls = seen.calls
    .flatMap((call) => read(call, retryOf) ?? [])
    .sort((a, b) => a.startedAt - b.startedAt);
  const callsByRefund = Map.groupBy(calls, ({ refund }) => refund);
  const callsByKey = byKey(calls);
  return [
    ...[...callsByRefund.values()].flatMap(
      (ofRefund) => findTwice(ofRefund) ?? findNewKey(ofRefund) ?? findNeverAsked(ofRefund, seen.attempts),
    ),
    ...findRepeats(callsByKey),
    ...callsByKey.flatMap(findTooEarly),
    ...seen.attempts
      .filter((attempt) => attempt.forged && isTaken(attempt))
      .map(({ payload, status }) =>
        finding("event.forged", `responded ${status} to ${typeOf(payload)} with a wrong signature`),
      ),
  ];
}

/** Something wrong that was seen from the service's side. */
export type Finding = {
  /** Stable, for machines and for `--ignore`. */
  readonly id: keyof typeof REASONS;
  readonly text: string;
};

/** What the findings are about, the decision that each breaks, and a public report of the same. */
export const REASONS = {
  "refund.twice": "D01: a clientReferenceId names one refund; square/square-mcp-server#31",
  "refund.new-key": "D09: what a key has begun is asked about with that key; medusajs/medusa#16681",
  "refund.never-asked": "D34: a call without a response is repeated with its requestKey; own-pay/OwnPay#222",
  "call.after-decision": "D34: a decisive response is not asked for again",
  "call.too-early": "D27: Retry-After says how long to wait",
  "event.forged": "D22: only a signed event is accepted",
  "event.refused": "D23: a valid event gets a 2xx, however often it comes and whatever is new in it",
  "event.unused": "D20: events say what becomes of a refund",
  required: "--require",
} as const;

/** What happened in one run: of each merchant between two resets. */
export type Seen = { readonly calls: WatchedCall[]; readonly attempts: WatchedAttempt[] };

/** `x-retry` of a response of `issueRefund`; undefined for a status that the contract doesn't have. */
export type RetryOf = (status: number) => Retry | undefined;

/** How much earlier than `Retry-After` says a call may come, in milliseconds, because clocks and networks differ. */
const TOLERANCE_MS = 150;

type Call = NonNullable<ReturnType<typeof read>>;
type Outcome = "recorded" | "refused" | "unknown" | "nothing";

/** Finds events that were not accepted. Used on bad days only, because in the plain run a test may refuse events on purpose. */
export function findRefused({ attempts }: Seen): Finding[] {
  return attempts
    .filter(({ forged, status }) => !forged && status !== null && status >= 300)
    .map(({ payload, status }) =>
      finding("event.refused", `responded ${status} to ${typeOf(payload)}: ${payload.slice(0, 200)}`),
    );
}

/** Whether the receiver accepted an event that the service really sent. */
export const isAccepted = (attempt: WatchedAttempt) => !attempt.forged && isTaken(attempt);

const isTaken = ({ status }: WatchedAttempt) => status !== null && status < 300;
const typeOf = (payload: string): string => JSON.parse(payload).type;
const finding = (id: Finding["id"], text: string): Finding => ({ id, text });
const byKey = (calls: readonly Call[]) => [
  ...Map.groupBy(calls, ({ merchant, key }) => `${merchant} ${key}`).values(),
];
const isDecision = ({ outcome }: Call) => outcome === "recorded" || outcome === "refused";

/** Reads which refund a call asks for, by its reference, or by its payment and amount, and how the call ended. */
function read(call: WatchedCall, retryOf: RetryOf) {
  const { operation, requestKey: key, requestBody, status, fault, endedAt, milliseconds, merchant } = call;
  if (operation !== "issueRefund" || key === null || requestBody === null) return undefined;
  const isLost = status === null || fault === "TRUNCATED";
  const retry = isLost ? undefined : retryOf(status);
  const unnamed: Outcome = isLost || status >= 500 ? "unknown" : "nothing";
  const { paymentId, amount, clientReferenceId: reference } = JSON.parse(requestBody);
  return {
    ...call,
    key,
    refund: `${merchant} ${reference ?? `${paymentId} by ${amount?.value}`}`,
    shown: `${amount?.value} of ${paymentId} (clientReferenceId ${reference ?? "none"})`,
    hasReference: Boolean(reference),
    startedAt: endedAt - milliseconds,
    outcome: retry?.repeat === "changed" ? ("refused" as const) : (retry?.outcome ?? unnamed),
  };
}

/** @param calls for one refund, as far as their references say, with any keys */
function findTwice(calls: readonly Call[]): Finding[] | undefined {
  const made = calls.filter(
    (call) => call.hasReference && call.made && call.made.status !== "TERMINAL_FAILED",
  );
  const refunds = new Map(made.map((call) => [call.made?.paymentId, call]));
  if (refunds.size < 2) return undefined;
  const keys = [...refunds.values()].map(({ key }) => key).join(" and ");
  return [
    finding("refund.twice", `${refunds.size} refunds were made of ${made[0]?.shown}, with the keys ${keys}`),
  ];
}

/** Finds the first key that was replaced by another one although its call may have made the refund. */
function findNewKey(calls: readonly Call[]): Finding[] | undefined {
  const keys = byKey(calls);
  for (const [index, withKey] of keys.entries()) {
    const next = keys[index + 1]?.[0];
    if (!next) return undefined;
    const before = withKey.filter(({ endedAt }) => endedAt <= next.startedAt);
    const sinceDecision = before.slice(before.findLastIndex(isDecision) + 1);
    if (before.length > 0 && !sinceDecision.some(({ outcome }) => outcome === "unknown")) continue;
    const text = `${next.shown} was first requested with the key ${withKey[0]?.key}, and then with ${next.key}`;
    return [finding("refund.new-key", text)];
  }
  return undefined;
}

function findNeverAsked(calls: readonly Call[], attempts: readonly WatchedAttempt[]): Finding[] {
  return byKey(calls).flatMap((withKey) => {
    const last = withKey.at(-1);
    if (last?.outcome !== "unknown") return [];
    // An accepted event has shown whether the refund exists.
    const ids = withKey.flatMap(({ made }) => made?.paymentId ?? []);
    const isAboutIt = ({ payload }: WatchedAttempt) => ids.some((id) => payload.includes(id));
    if (attempts.some((attempt) => isAccepted(attempt) && isAboutIt(attempt))) return [];
    const got = last.status === null ? "no response" : `${last.status}`;
    return finding(
      "refund.never-asked",
      `${last.shown} got ${got}, and its key ${last.key} was never sent again`,
    );
  });
}

/** One call after a refund was made is allowed: a test of the 409 makes it. If every refund is requested again, that is a mistake. */
function findRepeats(callsByKey: readonly (readonly Call[])[]): Finding[] {
  const repeats = callsByKey.flatMap((calls) => {
    const decided = calls.findIndex(isDecision);
    const first = calls[decided];
    const later = calls.slice(decided + 1);
    const after = later.filter(({ requestBody }) => requestBody === first?.requestBody).length;
    return first ? { first, after } : [];
  });
  const recorded = repeats.filter(({ first }) => first.outcome === "recorded" && first.status === 201);
  const all = recorded.length > 1 && recorded.every(({ after }) => after > 0);
  return repeats
    .filter(({ first, after }) => after > (first.outcome === "recorded" && !all ? 1 : 0))
    .map(({ first, after }) =>
      finding("call.after-decision", `${first.shown} got ${first.status}, and was sent ${after} more times`),
    );
}

function findTooEarly(calls: readonly Call[]): Finding[] {
  return calls.flatMap(({ key, retryAfter, status, endedAt }, index) => {
    const next = calls[index + 1];
    if (!next || retryAfter === undefined) return [];
    const waited = Math.max(0, next.startedAt - endedAt);
    if (waited >= 1000 * retryAfter - TOLERANCE_MS) return [];
    const text = `${key} got ${status} with Retry-After: ${retryAfter}, and came again after ${waited} ms`;
    return finding("call.too-early", text);
  });
}
