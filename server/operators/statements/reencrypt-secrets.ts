import { sql } from "kysely";
import type { Db } from "../../storage/database/db-types.ts";
import type { EncryptionKeys } from "../../storage/webhooks/secret-encryption.ts";

/**
 * Encrypts with the first key every secret that another key has encrypted. Interrupted and run again, it continues. Secrets that
 * servers write meanwhile are not overwritten.
 */
export async function rotateSecrets(db: Db, keys: EncryptionKeys): Promise<Rotation> {
  let [seen, rotated] = [0, 0];
  const unreadable: string[] = [];
  for (const column of SECRET_COLUMNS.map((name) => sql.ref(name))) {
    let last: string | undefined = "";
    while (last !== undefined) {
      const { rows }: { rows: StoredSecret[] } = await sql<StoredSecret>`
        select subscription_key as "subscriptionKey", merchant, ${column} as secret from subscriptions
        where ${column} is not null and subscription_key > ${last}
        order by subscription_key limit ${PAGE}`.execute(db);
      for (const { subscriptionKey, merchant, secret } of rows) {
        if (keys.isCurrent(secret)) continue;
        const text = await keys.decrypt(merchant, secret).catch(() => undefined);
        if (text === undefined) unreadable.push(subscriptionKey);
        else {
          const { numAffectedRows } = await sql`
            update subscriptions set ${column} = ${await keys.encrypt(merchant, text)}
            where subscription_key = ${subscriptionKey} and merchant = ${merchant}
              and ${column} = ${secret}`.execute(db);
          rotated += Number(numAffectedRows);
        }
      }
      seen += rows.length;
      last = rows.at(-1)?.subscriptionKey;
    }
  }
  return { seen, rotated, unreadable };
}

const PAGE = 500;

/** In this order: a secret that is replaced meanwhile moves on to the column that is read later. */
const SECRET_COLUMNS = ["secret_ciphertext", "old_secret_ciphertext"] as const;

type StoredSecret = { subscriptionKey: string; merchant: string; secret: Uint8Array };

export type Rotation = {
  readonly seen: number;
  /** Of these, encrypted again with the first key. */
  readonly rotated: number;
  /** Keys of the subscriptions whose secret none of the keys decrypts. */
  readonly unreadable: readonly string[];
};
