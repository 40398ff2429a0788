import { randomBytes } from "node:crypto";
import { createDataDir } from "../../../helpers/databases.ts";
import type { Engine } from "../../../helpers/engine.ts";
import { dollars, type Subscription, subscriptionTo } from "../../../helpers/factories.ts";
import { type PostgresServer, startPostgres } from "../../../helpers/postgres.ts";
import type { ServerProcess } from "../../../helpers/process.ts";
import { type Receiver, type Responder, startReceiver } from "../../../helpers/receiver.ts";
import { sandboxOf } from "../../../helpers/sandbox.ts";
import { spawnServer } from "../../../helpers/server.ts";
import { ACME, createLedger, type Ledger, send } from "./load.ts";

/** A store that outlives the server processes on it, as in operation. */
export type LastingStore = AsyncDisposable & {
  /** Settings for a server process. */
  readonly env: Readonly<Record<string, string>>;
  readonly dataDir: string;
  start(): Promise<ServerProcess>;
};

export async function createLastingStore(engine: Engine): Promise<LastingStore> {
  if (engine === "postgres") return (await createCrashableStore()).store;
  const folder = await createDataDir();
  return toStore(folder.dataDir, {}, folder);
}

/** A PostgreSQL server that can be crashed, as a store. */
export async function createCrashableStore(): Promise<{ store: LastingStore; postgres: PostgresServer }> {
  const postgres = await startPostgres({ durable: true });
  const env = postgresEnv(postgres.urlOf("postgres"));
  return { store: toStore("unused", env, { [Symbol.asyncDispose]: () => postgres.stop() }), postgres };
}

export function postgresEnv(databaseUrl: string) {
  return { DATABASE_URL: databaseUrl, ENCRYPTION_KEY: randomBytes(32).toString("base64") };
}

function toStore(dataDir: string, env: Record<string, string>, disposable: AsyncDisposable): LastingStore {
  return {
    env,
    dataDir,
    start: () => spawnServer({ dataDir, env: { LOG_LEVEL: "silent", ...env } }),
    [Symbol.asyncDispose]: () => disposable[Symbol.asyncDispose](),
  };
}

/**
 * A payment with a large amount to refund, and a receiver of all events that outlives the servers.
 *
 * @param token the merchant's, by default acme's
 */
export async function createBusiness(
  server: { readonly url: string },
  token = ACME,
  respond?: Responder,
): Promise<{ ledger: Ledger; receiver: Receiver }> {
  const { body } = await sandboxOf(server, token)("createPayment", { body: { amount: dollars(9_999_999) } });
  const receiver = await startReceiver(respond);
  const refunds = { type: "EVENT", details: ["refund.authorized"] };
  const subscription = subscriptionTo(receiver.url, { subscriptionDetails: refunds });
  const subscribed = await send<Subscription>(server.url, "/v1/webhook/subscribe", subscription, token);
  if (subscribed?.status !== 200) throw new Error(`not subscribed: ${JSON.stringify(subscribed)}`);
  return { ledger: createLedger((body as { paymentId: string }).paymentId, token), receiver };
}
