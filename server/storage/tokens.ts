import type { Store } from "./tables.ts";

/** Whom an access token speaks for, and what it may do (D18). */
export type TokenGrant = { readonly merchant: string; readonly scopes: readonly string[] };

/** The grant of a token, by its SHA-256: the token itself is stored nowhere. */
export async function findToken(store: Store, tokenSha256: Uint8Array): Promise<TokenGrant | undefined> {
  return store
    .selectFrom("access_tokens")
    .select(["merchant", "scopes"])
    .where("token_sha256", "=", tokenSha256)
    .executeTakeFirst();
}

/** Stores a token; one that is stored already keeps the grant it has. */
export async function insertToken(
  store: Store,
  { tokenSha256, merchant, scopes }: TokenGrant & { readonly tokenSha256: Uint8Array },
): Promise<void> {
  await store
    .insertInto("access_tokens")
    .values({ token_sha256: tokenSha256, merchant, scopes: [...scopes] })
    .onConflict((conflict) => conflict.column("token_sha256").doNothing())
    .execute();
}
