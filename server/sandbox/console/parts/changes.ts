import { type Page, type Result, type SandboxSchemas, sandbox } from "./api.ts";
import { count, toDollars, toEastern } from "./format.ts";

type Payment = SandboxSchemas["PaymentRecord"];

/** The records that a step can change. */
type Snapshot = {
  now: string;
  payments: ReadonlyMap<string, Payment>;
  events: readonly { eventId: string; type: string }[];
};

/** Describes the differences in sentences; empty when there are none. */
export type Difference = readonly string[];

/** A smaller difference is only the time that the step itself took. */
const MOVED_MS = 60_000;

export async function takeSnapshot(): Promise<Snapshot> {
  const [clock, payments, events] = await Promise.all([
    sandbox.GET("/sandbox/clock"),
    // The library's form of the types loses `string & {}`.
    readAll(
      (query) => sandbox.GET("/sandbox/payments", { params: { query } }) as Promise<Result<Page<Payment>>>,
    ),
    readAll((query) => sandbox.GET("/sandbox/events", { params: { query } })),
  ]);
  return {
    now: clock.data?.now ?? "",
    payments: new Map(payments.map((payment) => [payment.paymentId, payment])),
    events,
  };
}

/** Reads every page of a list. */
async function readAll<Item>(
  load: (query: { limit: number; cursor?: string }) => Promise<Result<Page<Item>>>,
): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { data } = await load({ limit: 100, ...(cursor !== undefined && { cursor }) });
    items.push(...(data?.items ?? []));
    cursor = data?.nextCursor ?? null;
  }
  return items;
}

export function differenceOf(before: Snapshot, after: Snapshot): Difference {
  const removed = [...before.payments.keys()].filter((id) => !after.payments.has(id)).length;
  const fresh = after.events.filter(({ eventId }) => !before.events.some((one) => one.eventId === eventId));
  return [
    ...(Date.parse(after.now) - Date.parse(before.now) > MOVED_MS
      ? [`The clock moved from ${toEastern(before.now)} to ${toEastern(after.now)}.`]
      : []),
    ...(removed > 0 ? [`${count(removed, "payment record")} removed.`] : []),
    ...[...after.payments.values()].flatMap((payment) =>
      changesOf(before.payments.get(payment.paymentId), payment),
    ),
    ...fresh.reverse().map(({ type }) => `The event ${type} was emitted.`),
  ];
}

function changesOf(before: Payment | undefined, after: Payment): string[] {
  const { paymentId, status } = after;
  if (!before)
    return [
      `${after.kind === "REFUND" ? "Refund" : "Payment"} ${paymentId} is new: ${status}, ${toDollars(after.amount)}.`,
    ];
  const moved = before.status === status ? [] : [`${paymentId}: ${before.status} became ${status}.`];
  if (before.kind !== "DEBIT" || after.kind !== "DEBIT") return moved;
  const [had, has] = [before.refundableAmount, after.refundableAmount];
  if (had.value === has.value) return moved;
  return [...moved, `${paymentId}: ${toDollars(had)} left to refund became ${toDollars(has)}.`];
}
