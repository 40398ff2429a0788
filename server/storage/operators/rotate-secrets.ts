import { sql } from "kysely";
import type { Db } from "../database/tables.ts";
import type { EncryptionKeys } from "../webhooks/secrets.ts";

const BATCH_SIZE = 500;

/** In this order: a secret that is replaced meanwhile moves on to the column that is read later. */
const SECRET_COLUMNS = ["secret_ciphertext", "old_secret_ciphertext"] as const;

type SecretColumn = (typeof SECRET_COLUMNS)[number];
type StoredSecret = { subscription_key: string; merchant: string; secret: Uint8Array };

/** The result of a rotation. */
export type Rotation = {
  /** Secrets read. */
  readonly seen: number;
  /** Of these, encrypted again with the first key. */
  readonly rotated: number;
  /** Keys of the subscriptions whose secret none of the keys decrypts. */
  readonly unreadable: readonly string[];
};

/**
 * Encrypts with the first key every secret that another key has encrypted, in batches of one transaction each. Interrupted
 * and run again, it continues. Secrets that servers write meanwhile are not overwritten.
 */
export async function rotateSecrets(db: Db, keys: EncryptionKeys): Promise<Rotation> {
  let rotation: Rotation = { seen: 0, rotated: 0, unreadable: [] };
  for (const column of SECRET_COLUMNS) {
    for await (const batch of readBatches(db, column)) {
      const fresh = await toFresh(
        batch.filter((row) => !keys.isCurrent(row.secret)),
        keys,
      );
      rotation = {
        seen: rotation.seen + batch.length,
        rotated: rotation.rotated + (await writeBatch(db, column, fresh.rows)),
        unreadable: [...rotation.unreadable, ...fresh.unreadable],
      };
    }
  }
  return rotation;
}

async function* readBatches(db: Db, column: SecretColumn): AsyncGenerator<StoredSecret[]> {
  let last: string | undefined = "";
  while (last !== undefined) {
    const batch: StoredSecret[] = await readBatch(db, column, last);
    if (batch.length > 0) yield batch;
    last = batch.at(-1)?.subscription_key;
  }
}

async function readBatch(db: Db, column: SecretColumn, after: string): Promise<StoredSecret[]> {
  const { rows } = await sql<StoredSecret>`
    select subscription_key, merchant, ${sql.ref(column)} as secret from subscriptions
    where ${sql.ref(column)} is not null and subscription_key > ${after}
    order by subscription_key limit ${BATCH_SIZE}`.execute(db);
  return rows;
}

type FreshSecret = {
  readonly subscriptionKey: string;
  readonly merchant: string;
  readonly old: Uint8Array;
  readonly next: Uint8Array;
};

async function toFresh(batch: readonly StoredSecret[], keys: EncryptionKeys) {
  const rows: FreshSecret[] = [];
  const unreadable: string[] = [];
  for (const { subscription_key: subscriptionKey, merchant, secret: old } of batch) {
    try {
      const next = await keys.encrypt(merchant, await keys.decrypt(merchant, old));
      rows.push({ subscriptionKey, merchant, old, next });
    } catch {
      unreadable.push(subscriptionKey);
    }
  }
  return { rows, unreadable };
}

async function writeBatch(db: Db, column: SecretColumn, rows: readonly FreshSecret[]): Promise<number> {
  if (rows.length === 0) return 0;
  const { numAffectedRows = 0n } = await sql`
    update subscriptions s set ${sql.ref(column)} = fresh.next
    from unnest(
      ${rows.map((row) => row.subscriptionKey)}::text[],
      ${rows.map((row) => row.merchant)}::text[],
      ${rows.map((row) => Buffer.from(row.old))}::bytea[],
      ${rows.map((row) => Buffer.from(row.next))}::bytea[]
    ) as fresh (subscription_key, merchant, old, next)
    where s.subscription_key = fresh.subscription_key and s.merchant = fresh.merchant
      and ${sql.ref(`s.${column}`)} = fresh.old`.execute(db);
  return Number(numAffectedRows);
}
