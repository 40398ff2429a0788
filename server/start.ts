import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Logger } from "pino";
import { createApp } from "./app.ts";
import type { Config } from "./config.ts";
import { toDomainTime } from "./domain/clock.ts";
import { startDueScan } from "./due-scan.ts";
import { createHttpServer } from "./http/server.ts";
import { seedSandbox } from "./sandbox/seed.ts";
import { bindStore } from "./storage/bind.ts";
import { type Database, openDatabase } from "./storage/database.ts";
import { keepEncryptionKey } from "./storage/encryption-key.ts";
import { storage } from "./storage/storage.ts";
import type { TargetPolicy } from "./webhooks/target.ts";
import { startWebhooks, type WebhookSettings, type Webhooks } from "./webhooks/webhooks.ts";

export interface StartOptions {
  logger: Logger;
  /** Real time. */
  realNow?: () => Date;
  /** Milliseconds that a caller has to send a body. */
  bodyTimeoutMs?: number;
  /** Milliseconds that a caller has to send a head. */
  headTimeoutMs?: number;
  /** How webhooks are sent, where it is to be otherwise than usual. */
  webhooks?: Partial<WebhookSettings>;
}

export interface RunningServer {
  /** Where it listens, such as `http://127.0.0.1:3000`. */
  url: string;
  database: Database;
  /** Answers what is in flight, refuses what comes, then lets go of everything. May be called again. */
  close(): Promise<void>;
}

const DEFAULT_BODY_TIMEOUT_MS = 10_000;
const DEFAULT_HEAD_TIMEOUT_MS = 10_000;

/** Opens the store, fills a sandbox, and listens. Rejects when a part can't start, and leaves nothing open then. */
export async function startServer(config: Config, options: StartOptions): Promise<RunningServer> {
  const { logger, realNow = () => new Date(), bodyTimeoutMs = DEFAULT_BODY_TIMEOUT_MS } = options;
  const database = await openDatabase({
    databaseUrl: config.databaseUrl,
    dataDir: config.dataDir,
    onConnectionError: (error) => logger.warn({ err: error }, "lost a database connection"),
  });
  let webhooks: Webhooks | undefined;
  try {
    const encryptionKeys =
      config.encryptionKeys.length > 0 ? config.encryptionKeys : [await keepEncryptionKey(config.dataDir)];
    const store = bindStore(database.db, storage);
    const clock = { realNow, now: async () => toDomainTime(realNow(), await store.readOffset()) };
    if (config.mode === "sandbox") await seedSandbox({ store, clock });

    const targetPolicy = toTargetPolicy(config);
    const sender = await startWebhooks({
      database,
      clock,
      encryptionKeys,
      policy: targetPolicy,
      logger,
      settings: options.webhooks,
    });
    webhooks = sender;

    let draining = false;
    const isDraining = () => draining;
    const dueScan = startDueScan(async () => {
      await store.authorizeDue(await clock.now());
      await sender.dispatch();
    }, logger);
    const { ping } = database;
    const parts = { config, store, clock, encryptionKeys, targetPolicy, logger, ping, isDraining };
    const app = await createApp({ ...parts, bodyTimeoutMs, runDue: dueScan.run });
    const server = createHttpServer(app, options.headTimeoutMs ?? DEFAULT_HEAD_TIMEOUT_MS);
    await listen(server, config).catch(async (error: unknown) => {
      await dueScan.stop();
      throw error;
    });

    let closing: Promise<void> | undefined;
    const stop = async () => {
      await Promise.all([drain(server), sender.stop()]);
      await dueScan.stop();
      await database.close();
    };
    const close = () => {
      draining = true;
      closing ??= stop();
      return closing;
    };
    return { url: toUrl(server, config), database, close };
  } catch (error) {
    await webhooks?.stop();
    await database.close();
    throw error;
  }
}

/** Where webhooks may go (D24): in the sandbox also to this machine. */
function toTargetPolicy({ mode, allowPrivateTargets }: Config): TargetPolicy {
  return { allowLocal: mode === "sandbox", allowPrivate: allowPrivateTargets };
}

function listen(server: Server, { host, port }: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** Waits for what is in flight. A connection kept alive would hold the server open after its last answer. */
function drain(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const closeIdle = setInterval(() => server.closeIdleConnections(), 50);
    server.close(() => {
      clearInterval(closeIdle);
      resolve();
    });
  });
}

function toUrl(server: Server, { host }: Config): string {
  const { port } = server.address() as AddressInfo; // a server that listens on a port has no other kind of address
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
