import { sql } from "kysely";
import type { Db } from "../database/db-types.ts";
import type { EncryptionKeys } from "./secret-encryption.ts";
import { type OneSubscription, STORED_SECRETS, type StoredSecrets } from "./subscriptions.ts";

/**
 * Replaces the secret of a subscription. Until the overlap has passed, deliveries carry a signature of each. Repeated with the
 * same secret it changes nothing, so that the old one is not lost; only an overlap of 0 ends the present overlap.
 */
export async function changeSecret(
  db: Db,
  { merchant, subscriptionKey, secretKey, overlapMs, now }: SecretChange,
  keys: EncryptionKeys,
): Promise<ChangedSecret> {
  const isSubscription = sql`s.subscription_key = ${subscriptionKey} and s.merchant = ${merchant}`;
  for (;;) {
    const stored = sql<StoredSecrets>`select ${STORED_SECRETS} from subscriptions s where ${isSubscription}`;
    const [row] = (await stored.execute(db)).rows;
    const present = row?.secretCiphertext;
    if (!present) return { kind: "not-live" };
    const oldUntil = (row.oldSecretCiphertext && row.oldSecretUntil) ?? now;
    const overlaps = oldUntil > now;
    // One that no key opens is replaced like any other.
    const isSame = (await keys.decrypt(merchant, present).catch(() => undefined)) === secretKey;
    if (overlapMs > 0 && isSame) return { kind: "unchanged", oldSecretUntil: overlaps ? oldUntil : null };
    if (overlapMs > 0 && overlaps) return { kind: "overlapping", oldSecretUntil: oldUntil };

    const until = new Date(now.getTime() + overlapMs);
    const next = await keys.encrypt(merchant, secretKey);
    const { numAffectedRows = 0n } = await sql`
      update subscriptions s set secret_ciphertext = ${next}, old_secret_ciphertext = ${overlapMs > 0 ? present : null}::bytea,
        old_secret_until = ${until}::timestamptz, secret_changed_at = ${now}::timestamptz
      where ${isSubscription} and s.secret_ciphertext = ${present}`.execute(db);
    // Otherwise it was changed, or encrypted with another key, since it was read.
    if (numAffectedRows > 0n) return { kind: "changed", oldSecretUntil: overlapMs > 0 ? until : null };
  }
}

export type SecretChange = OneSubscription & {
  /** The new secret, in clear. */
  readonly secretKey: string;
  /** For how long deliveries are also signed with the secret before, in milliseconds; 0: no longer at all. */
  readonly overlapMs: number;
  /** The domain's time (D30). */
  readonly now: Date;
};

/** The result of a change. `oldSecretUntil` is null when only the present secret signs. */
export type ChangedSecret =
  | { readonly kind: "changed" | "unchanged"; readonly oldSecretUntil: Date | null }
  /** The secret before the last change still signs, and a third one is not taken beside it. */
  | { readonly kind: "overlapping"; readonly oldSecretUntil: Date }
  | { readonly kind: "not-live" };

/** Removes the old secrets whose overlap has passed. */
export async function forgetOldSecrets(db: Db, now: Date): Promise<void> {
  await sql`
    update subscriptions set old_secret_ciphertext = null
    where old_secret_ciphertext is not null and old_secret_until <= ${now}::timestamptz`.execute(db);
}
