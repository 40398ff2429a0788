import { sql } from "kysely";
import type { Db } from "../../storage/database/db-types.ts";
import { CUSTOMER_TEXTS, REFUND_COLUMNS } from "../../storage/payments/payment-record.ts";

/*
 * What each role of the guide may do: the only list of it. `rights` makes the database so, and `check` compares the database with it.
 * The names of the roles begin with the same word, such as `refunds_serve`.
 */

type Right = "select" | "insert" | "update" | "delete" | "execute";
/** The columns of each right; an empty text stands for all. */
type Rights = Readonly<Record<string, { readonly [Name in Right]?: string }>>;

const ALL = "";
const READ = { select: ALL };
const NEW_REFUND = ["kind", "sequence", ...Object.keys(REFUND_COLUMNS)].join(", ");
const TEXTS = CUSTOMER_TEXTS.join(", ");
const ATTEMPTS = "state, due_at, attempts, only_once, redelivery_requested, fence, leased_until, sending";
const SHARED: Rights = {
  kysely_migration: READ,
  kysely_migration_lock: READ,
  clock: READ,
  deliveries: { select: ALL, insert: ALL, update: ATTEMPTS, delete: ALL },
  delivery_attempts: { select: ALL, insert: ALL },
  events: { select: ALL, insert: ALL, delete: ALL },
};

const RIGHTS = {
  // A server adds refunds, authorizes them, and takes subscriptions. What it publishes, only functions of the owner write.
  serve: {
    ...SHARED,
    payments: { select: ALL, insert: NEW_REFUND, update: "status, history, sequence" },
    subscriptions: {
      select: ALL,
      insert: ALL,
      update: "ended_at, secret_ciphertext, old_secret_ciphertext, timeouts, caller",
    },
    deployment: { select: ALL, insert: "mode" },
    rate_limits: { select: ALL, insert: ALL, update: ALL },
    blocks: READ,
    last_check: READ,
    holds: READ,
    payouts: READ,
    payouts_waiting: { select: ALL, insert: ALL },
    take_turn: { execute: ALL },
    take_feed: { execute: ALL },
    publish_payouts: { execute: ALL },
    leave_feed: { execute: ALL },
    note_restore: { execute: ALL },
  },
  // Operators add payments, and say what became of them. Whatever they change, triggers record.
  admin: {
    ...SHARED,
    payments: {
      select: ALL,
      insert: `${NEW_REFUND}, settled_at`,
      update: `status, refunded_cents, settled_at, due_at, error_code, error_message, ${TEXTS}, history, sequence`,
    },
    subscriptions: {
      select: ALL,
      update:
        "ended_at, secret_ciphertext, old_secret_ciphertext, old_secret_until, secret_changed_at, caller",
      delete: ALL,
    },
    blocks: { select: ALL, insert: ALL, update: ALL, delete: ALL },
    erasures: { select: ALL, insert: ALL, update: ALL },
    erased_payments: { select: ALL, insert: ALL, update: ALL },
    last_check: { select: ALL, insert: ALL, update: ALL },
    holds: { select: ALL, insert: ALL, delete: ALL },
    deployment: READ,
    payouts: { select: ALL, insert: "payment_id, merchant, paid_as" },
    payouts_waiting: { select: ALL, insert: ALL },
    payout_feed: READ,
    feed: READ,
  },
  payouts: { payout_feed: READ },
  // Reports see no secret, no token, no URL, which may contain one, and no text about a customer.
  report: {
    payments: {
      select: `payment_id, merchant, kind, status, amount_cents, request_key, original_payment_id, refunded_cents,
        settled_at, due_at, error_code, history, sequence, created_at`,
    },
    events: { select: "event_id, merchant, type, resource_id, sequence, occurred_at" },
    subscriptions: { select: "subscription_key, merchant, type, details, created_at, ended_at" },
    deliveries: READ,
    delivery_attempts: { select: "webhook_id, merchant, number, at, status, milliseconds" },
  },
} as const satisfies Record<string, Rights>;

/** Which changes of operators are recorded, the column with the key of the record, and what is kept of its state. */
const RECORDED = {
  payments: [
    `insert or delete or update of status, settled_at, due_at, ${TEXTS}`,
    "payment_id, kind, status, amount_cents, settled_at, due_at, original_payment_id",
  ],
  holds: ["insert or update or delete", "merchant, reason"],
  blocks: ["insert or update or delete", "name, kind, reason, until"],
  subscriptions: ["update or delete", "subscription_key, ended_at, secret_changed_at"],
  events: ["insert or delete", "event_id, type, resource_id, sequence"],
  deliveries: ["update or delete", "webhook_id, state"],
  payouts: ["insert", "payment_id, paid_as"],
  payouts_waiting: ["insert", "payment_id"],
  erasures: ["insert or update", "merchant, before"],
  erased_payments: ["insert or update", "payment_id, sequence"],
} as const;

/** The expression for the lowest id that can have been created at a time: ids begin with the time of their server. */
export const firstIdAt = (prefix: "evt_" | "msg_", time: string) =>
  `'${prefix}' || regexp_replace(lpad(to_hex(floor(extract(epoch from ${time}) * 1000)::bigint), 12, '0'), '^(.{8})', '\\1-')`;

/** Which rows: every role those that its rights allow, and a server no more than these. */
function toPolicies(role: string, days: number | undefined): readonly (readonly [string, string, string])[] {
  const past = days === undefined ? "'-infinity'::timestamptz" : `now() - interval '${days} days'`;
  const old = days === undefined ? "false" : `webhook_id < ${firstIdAt("msg_", past)}`;
  const only = (action: string) => `as restrictive for ${action} to ${role}`;
  return [
    ["payments", "all_rows", "using (true)"],
    ["events", "all_rows", "using (true)"],
    ["deliveries", "all_rows", "using (true)"],
    ["payments", "adds_refunds", `${only("insert")} with check (kind = 'REFUND')`],
    [
      "payments",
      "authorizes_refunds",
      `${only("update")} with check (kind = 'REFUND' and status <> 'TERMINAL_FAILED')`,
    ],
    ["events", "adds_events_of_refunds", `${only("insert")} with check (type like 'refund.%')`],
    ["events", "removes_past", `${only("delete")} using (occurred_at < ${past})`],
    ["deliveries", "removes_finished", `${only("delete")} using (state <> 'PENDING' and ${old})`],
  ];
}

const rolesOf = (word: string) =>
  Object.entries<Rights>(RIGHTS).map(([name, rights]) => ({ role: `${word}_${name}`, rights }));

/** Gives the roles their rights, and has the changes of operators recorded, all in one transaction, as the owner of the tables. */
export async function grantRights(db: Db, word: string, days: number | undefined): Promise<void> {
  const roles = rolesOf(word);
  const names = roles.map(({ role }) => role).join(", ");
  const objects = [...new Set(roles.flatMap(({ rights }) => Object.entries(rights)))];
  const kindOf = (rights: Rights[string]) => ("execute" in rights ? "function " : "");
  const statements = [
    `grant usage on schema public to ${names}`,
    ...objects.map(([object, rights]) => `revoke all on ${kindOf(rights)}${object} from ${names}`),
    ...roles.flatMap(({ role, rights }) =>
      Object.entries(rights).map(([object, granted]) => {
        const list = Object.entries(granted).map(([right, columns]) =>
          columns === ALL ? right : `${right} (${columns})`,
        );
        return `grant ${list.join(", ")} on ${kindOf(granted)}${object} to ${role}`;
      }),
    ),
    ...toPolicies(`${word}_serve`, days).flatMap(([table, name, rule]) => [
      `alter table ${table} enable row level security`,
      `drop policy if exists ${name} on ${table}`,
      `create policy ${name} on ${table} ${rule}`,
    ]),
    ...Object.entries(RECORDED).map(
      // Tables that Citus spreads can't have triggers.
      ([table, [changes, columns]]) => `do $do$ begin
        create or replace trigger recorded after ${changes} on ${table} for each row
          when (pg_has_role('${word}_admin', 'member')) execute function record_change(${columns});
        exception when feature_not_supported then null;
      end $do$`,
    ),
  ];
  await db.transaction().execute(async (transaction) => {
    for (const statement of statements) await sql.raw(statement).execute(transaction);
  });
}

/** What the roles have and should not, or lack; nothing in a database without them, such as one of a single role. */
export async function compareRights(db: Db): Promise<string[]> {
  const { rows: words } = await sql<{ word: string }>`
    select distinct substr(rolname, 1, length(rolname) - length('_serve')) as word
    from pg_class c, aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
    where c.oid = 'payments'::regclass and rolname like '%\\_serve'`.execute(db);
  const found: string[] = [];
  for (const { word } of words) {
    const roles = rolesOf(word);
    const { rows } = await sql<{ right: string }>`
      with acls as (
        select relname as object, ''::text as column, relacl as acl from pg_class where relnamespace = current_schema()::regnamespace
        union all
        select attrelid::regclass::text, attname, attacl from pg_attribute where attacl is not null
        union all
        select proname, '', proacl from pg_proc where pronamespace = current_schema()::regnamespace
      )
      select rolname || ': ' || lower(privilege_type) || ' ' || object || case when "column" = '' then '' else '.' || "column" end as right
      from acls, aclexplode(acl) a join pg_roles r on r.oid = a.grantee
      where rolname = any(${roles.map(({ role }) => role)}::text[])
        and object not in ('admin_actions', 'admin_changes', 'record_admin_action')
      union all
      select rolname || ': more than a plain role' from pg_roles r
      where rolname = any(${roles.map(({ role }) => role)}::text[]) and (rolsuper or rolcreaterole or rolcreatedb or rolbypassrls
        or exists (select from pg_auth_members where member = r.oid))
      union all
      select rolname || ': a setting of its own' from pg_db_role_setting s join pg_roles r on r.oid = s.setrole
      where rolname = any(${roles.map(({ role }) => role)}::text[]) and rolname <> ${`${word}_report`}`.execute(
      db,
    );
    const has = new Set(rows.map(({ right }) => right));
    const should = new Set(roles.flatMap(({ role, rights }) => toTexts(role, rights)));
    found.push(
      ...[...has].filter((right) => !should.has(right)).map((right) => `${right} is a right too many`),
    );
    found.push(...[...should].filter((right) => !has.has(right)).map((right) => `${right} is missing`));
  }
  const { rows: tables } = await sql<{ name: string }>`
    select name from unnest(${Object.keys(RECORDED)}::text[]) as name where ${words.length > 0} and not exists (
      select from pg_trigger where tgrelid = name::regclass and tgname = 'recorded' and tgenabled in ('O', 'A'))`.execute(
    db,
  );
  return [
    ...found,
    ...tables.map(({ name }) => `table ${name}: the trigger recorded is missing or disabled`),
  ];
}

function toTexts(role: string, rights: Rights): string[] {
  return Object.entries(rights).flatMap(([object, granted]) =>
    Object.entries(granted).flatMap(([right, columns]) =>
      columns.split(",").map((column) => `${role}: ${right} ${object}${column && `.${column.trim()}`}`),
    ),
  );
}
