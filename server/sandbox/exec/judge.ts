import type { WatchedAttempt, WatchedCall } from "../handlers/bad-day.ts";

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
export type RetryOf = (
  status: number,
) => { readonly outcome: string; readonly repeat: string; readonly when?: string } | undefined;

/** How much earlier than `Retry-After` says a call may come, in milliseconds, because clocks and networks differ. */
const TOLERANCE_MS = 150;

type Refund = { paymentId?: unknown; amount?: { value?: unknown }; clientReferenceId?: string | null };
type Read = WatchedCall & {
  readonly key: string;
  readonly body: Refund;
  readonly startedAt: number;
  readonly outcome: Outcome;
};
type Outcome = "recorded" | "refused" | "unknown" | "nothing";

/** Finds what no merchant's system should do. */
export function judge(seen: Seen, retryOf: RetryOf): Finding[] {
  const calls = seen.calls
    .flatMap((call) => read(call, retryOf) ?? [])
    .sort((one, other) => one.startedAt - other.startedAt);
  const byKey = [...Map.groupBy(calls, ({ key }) => key).values()];
  const twice = findTwice(calls);
  const doubled = new Set(twice.flatMap(({ intent }) => intent));
  const newKeys = findNewKeys(byKey).filter(
    ({ first }, index, all) =>
      !doubled.has(intentOf(first)) &&
      all.findIndex((one) => intentOf(one.first) === intentOf(first)) === index,
  );
  const replaced = new Set([...doubled, ...newKeys.map(({ first }) => intentOf(first))]);
  return [
    ...twice.map(({ text }): Finding => ({ id: "refund.twice", text })),
    ...newKeys.map(({ text }): Finding => ({ id: "refund.new-key", text })),
    ...byKey
      .filter((same) => same[0] && !replaced.has(intentOf(same[0])))
      .flatMap((same) => findNeverAsked(same, seen.attempts)),
    ...findRepeats(byKey),
    ...byKey.flatMap(findTooEarly),
    ...seen.attempts
      .filter(({ forged, status }) => forged && status !== null && status < 300)
      .map(
        ({ payload, status }): Finding => ({
          id: "event.forged",
          text: `responded ${status} to ${typeOf(payload)} with a wrong signature`,
        }),
      ),
  ];
}

/** Finds events that were not accepted: only where every response matters, since a receiver may well fail for a test. */
export function findRefused({ attempts }: Seen): Finding[] {
  return attempts
    .filter(({ forged, status }) => !forged && status !== null && status >= 300)
    .map(({ payload, status }) => ({
      id: "event.refused",
      text: `responded ${status} to ${typeOf(payload)}: ${payload.slice(0, 200)}`,
    }));
}

function read(call: WatchedCall, retryOf: RetryOf): Read | undefined {
  const { operation, requestKey: key, requestBody, status, fault, endedAt, milliseconds } = call;
  if (operation !== "issueRefund" || key === null || requestBody === null) return undefined;
  const retry = status === null || fault === "TRUNCATED" ? undefined : retryOf(status);
  const unnamed = status === null || fault === "TRUNCATED" || status >= 500 ? "unknown" : "nothing";
  const named = retry?.repeat === "changed" ? "refused" : (retry?.outcome as Outcome | undefined);
  return {
    ...call,
    key,
    body: JSON.parse(requestBody),
    startedAt: endedAt - milliseconds,
    outcome: named ?? unnamed,
  };
}

/** Names what a call is to bring about: a refund by its reference, or by its payment and amount. */
function intentOf({ merchant, body: { paymentId, amount, clientReferenceId } }: Read): string {
  return `${merchant} ${clientReferenceId ?? `${paymentId} by ${amount?.value}`}`;
}

const show = ({ body: { paymentId, amount, clientReferenceId } }: Read) =>
  `${amount?.value} of ${paymentId} (clientReferenceId ${clientReferenceId ?? "none"})`;

function findTwice(calls: readonly Read[]) {
  const made = calls.filter(
    (call) => call.body.clientReferenceId && call.made && call.made.status !== "TERMINAL_FAILED",
  );
  return [...Map.groupBy(made, intentOf)].flatMap(([intent, same]) => {
    const ids = new Map(same.map((call) => [call.made?.paymentId, call]));
    const [first] = same;
    if (!first || ids.size < 2) return [];
    const keys = [...ids.values()].map(({ key }) => key).join(" and ");
    return [{ intent, text: `${ids.size} refunds were made of ${show(first)}, with the keys ${keys}` }];
  });
}

function findNewKeys(byKey: readonly (readonly Read[])[]) {
  const starts = byKey.flatMap((same) => same[0] ?? []);
  return byKey.flatMap((same) => {
    const [first] = same;
    if (!first) return [];
    const next = starts.find(
      (one) => one.key !== first.key && intentOf(one) === intentOf(first) && one.startedAt > first.startedAt,
    );
    if (!next) return [];
    const before = same.filter(({ endedAt }) => endedAt <= next.startedAt);
    const decided = before.findLastIndex(({ outcome }) => outcome === "recorded" || outcome === "refused");
    // Nothing has ended yet, or a response was lost since the last one that decided.
    if (before.length > 0 && !before.slice(decided + 1).some(({ outcome }) => outcome === "unknown"))
      return [];
    return [
      {
        first,
        text: `${show(first)} was begun with the key ${first.key}, and then asked for with ${next.key}`,
      },
    ];
  });
}

function findNeverAsked(same: readonly Read[], attempts: readonly WatchedAttempt[]): Finding[] {
  const last = same.at(-1);
  if (last?.outcome !== "unknown") return [];
  // An event has said what has become of it.
  const ids = same.flatMap(({ made }) => made?.paymentId ?? []);
  const isKnown = attempts.some(
    ({ payload, status, forged }) =>
      !forged && status !== null && status < 300 && ids.some((id) => payload.includes(id)),
  );
  if (isKnown) return [];
  const got = last.status === null ? "no response" : `${last.status}`;
  return [
    {
      id: "refund.never-asked",
      text: `${show(last)} got ${got}, and its key ${last.key} was never sent again`,
    },
  ];
}

/** One more call after a refund was made is that of a second run, which gets the 409; all refunds made twice are not. */
function findRepeats(byKey: readonly (readonly Read[])[]): Finding[] {
  const repeats = byKey.map((same) => {
    const decided = same.findIndex(({ outcome }) => outcome === "recorded" || outcome === "refused");
    const first = same[decided];
    const after = first ? same.slice(decided + 1).filter((one) => one.requestBody === first.requestBody) : [];
    return { first, after: after.length };
  });
  const recorded = repeats.filter(({ first }) => first?.outcome === "recorded" && first.status === 201);
  const all = recorded.length > 1 && recorded.every(({ after }) => after > 0);
  return repeats.flatMap(({ first, after }): Finding[] =>
    first && after > (first.outcome === "recorded" && !all ? 1 : 0)
      ? [
          {
            id: "call.after-decision",
            text: `${show(first)} got ${first.status}, and was sent ${after} more times`,
          },
        ]
      : [],
  );
}

function findTooEarly(same: readonly Read[]): Finding[] {
  return same.flatMap(({ retryAfter, status, endedAt, ...call }, index): Finding[] => {
    const next = same[index + 1];
    if (!next || retryAfter === undefined) return [];
    const waited = next.startedAt - endedAt;
    if (waited >= 1000 * retryAfter - TOLERANCE_MS) return [];
    const text = `${call.key} got ${status} with Retry-After: ${retryAfter}, and came again after ${Math.max(0, waited)} ms`;
    return [{ id: "call.too-early", text }];
  });
}

const typeOf = (payload: string): string => JSON.parse(payload).type;
