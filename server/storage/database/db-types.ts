import type { Kysely, RawBuilder } from "kysely";
import type { OriginalStatus, RefundStatus } from "../../domain/refund-rules.ts";

/** Every statement is SQL and names the type of its rows, so the query builder knows no columns. */
export type Tables = Record<string, Record<string, unknown>>;

/** The database, or a transaction in it; every storage function takes one first. */
export type Db = Kysely<Tables>;

/** A value of a statement, or an expression for it where the statement is part of another text. */
export type Value<Type> = Type | RawBuilder<Type>;
export type Values<Parts> = { readonly [Name in keyof Parts]: Value<Parts[Name]> };

/** A status that a payment took, and the domain time at which it did (ISO 8601, UTC). */
export type HistoryEntry = { readonly status: RefundStatus | OriginalStatus; readonly at: string };
