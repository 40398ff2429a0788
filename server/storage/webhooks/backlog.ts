import { sql } from "kysely";
import type { Store } from "../database/tables.ts";
import { statementsOf } from "../statements/statements.ts";

/** Work that waits, for the metrics. */
export type Backlog = {
  readonly deliveries: {
    readonly due: number;
    readonly later: number;
    /** Claimed by some server. */
    readonly inHand: number;
  };
  /** Live subscriptions, by how their receivers responded last. */
  readonly subscriptions: { readonly responding: number; readonly silent: number; readonly unproven: number };
  /** For how long the oldest due delivery that is not in progress has been due; 0 when none is. */
  readonly oldestDeliverySeconds: number;
  /** The same for refunds that wait to be authorized. */
  readonly oldestRefundSeconds: number;
};

type BacklogRow = {
  due: number;
  later: number;
  in_hand: number;
  responding: number;
  silent: number;
  unproven: number;
  delivery_seconds: number;
  refund_seconds: number;
};

/** Counts the work that waits at `now` (domain time, D30). It reads only unfinished rows and live subscriptions, through partial indexes. */
export async function readBacklog(store: Store, now: Date): Promise<Backlog> {
  // On a cluster, there is a row for each part of the tables.
  const rows = await statementsOf(store).findOverall(
    store,
    sql<BacklogRow>`
    with ready as (
      select (count(*) filter (where due_at <= ${now}::timestamptz))::integer as due,
        (count(*) filter (where due_at > ${now}::timestamptz))::integer as later,
        min(due_at) as oldest
      from deliveries where state = 'PENDING' and leased_until is null
    ), hand as (
      select count(*)::integer as in_hand from deliveries where leased_until is not null
    ), live as (
      select (count(*) filter (where timeouts = 0))::integer as responding,
        (count(*) filter (where timeouts > 0))::integer as silent,
        (count(*) filter (where timeouts is null))::integer as unproven
      from subscriptions where ended_at is null
    ), refund as (
      select min(due_at) as oldest from payments
      where kind = 'REFUND' and status = 'PENDING' and due_at is not null
    )
    select ready.due, ready.later, hand.in_hand, live.*,
      greatest(0, coalesce(extract(epoch from ${now}::timestamptz - ready.oldest), 0))::float8 as delivery_seconds,
      greatest(0, coalesce(extract(epoch from ${now}::timestamptz - refund.oldest), 0))::float8 as refund_seconds
    from ready, hand, live, refund`,
  );
  const sum = (column: "due" | "later" | "in_hand" | "responding" | "silent" | "unproven") =>
    rows.reduce((total, row) => total + row[column], 0);
  return {
    deliveries: { due: sum("due"), later: sum("later"), inHand: sum("in_hand") },
    subscriptions: {
      responding: sum("responding"),
      silent: sum("silent"),
      unproven: sum("unproven"),
    },
    oldestDeliverySeconds: Math.max(0, ...rows.map((row) => row.delivery_seconds)),
    oldestRefundSeconds: Math.max(0, ...rows.map((row) => row.refund_seconds)),
  };
}
