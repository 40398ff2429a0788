import express, { type Express } from "express";
import helmet from "helmet";
import type { Logger } from "pino";
import type { Config } from "./config.ts";
import { checkReferences, checkTarget } from "./http/checks.ts";
import { readContract } from "./http/contract.ts";
import { refuseWhile, requireLocalHost, trackRequests } from "./http/envelope.ts";
import { handleErrors, notFound } from "./http/errors.ts";
import { issueRefund } from "./http/handlers/issue-refund.ts";
import { subscribeToWebhooks } from "./http/handlers/subscribe-to-webhooks.ts";
import type { Handlers } from "./http/operations.ts";
import { createPages } from "./http/pages.ts";
import { createProbes } from "./http/probes.ts";
import { createRateLimit, unlimited } from "./http/rate-limit.ts";
import { createApi } from "./http/routes.ts";
import { readOffset } from "./storage/clock.ts";
import type { Database } from "./storage/database.ts";
import { findByRequestKey, loadOriginal, saveRefund } from "./storage/refunds.ts";
import { encryptSecret } from "./storage/secrets.ts";
import { insertSubscription } from "./storage/subscriptions.ts";
import { findToken } from "./storage/tokens.ts";
import { isUnavailable } from "./storage/unavailable.ts";
import { findTargetFault } from "./webhooks/target.ts";

export interface AppOptions {
  config: Config;
  database: Database;
  encryptionKeys: readonly Buffer[];
  logger: Logger;
  /** Real time; the domain's time is this plus the offset in the database (D30). */
  realNow: () => Date;
  isDraining: () => boolean;
  /** Milliseconds that a caller has to send a body. */
  bodyTimeoutMs: number;
}

const LOOPBACK_HOSTS = ["127.0.0.1", "localhost", "::1"];

/** Puts the server together: the one place that knows every part. */
export async function createApp(options: AppOptions): Promise<Express> {
  const { config, database, logger, isDraining } = options;
  const sandbox = config.mode === "sandbox";

  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.enable("case sensitive routing");
  app.enable("strict routing");

  app.use(trackRequests(logger));
  app.use(helmet());
  app.use(createProbes({ ping: database.ping, isDraining }));
  app.use(refuseWhile(isDraining));
  if (sandbox && LOOPBACK_HOSTS.includes(config.host)) app.use(requireLocalHost);
  app.use(await createPages());
  app.use(
    createApi({
      document: await readContract("openapi"),
      handlers: createHandlers(options),
      checks: { issueRefund: checkReferences, subscribeToWebhooks: checkTarget(toTargetCheck(config)) },
      findToken: (tokenSha256) => findToken(database.db, tokenSha256),
      takeQuota: config.rateLimit === undefined ? unlimited : createRateLimit(config.rateLimit),
      bodyTimeoutMs: options.bodyTimeoutMs,
    }),
  );
  app.use(notFound);
  app.use(handleErrors(logger, isUnavailable));
  return app;
}

function createHandlers({ database: { db }, encryptionKeys, realNow }: AppOptions): Handlers {
  return {
    issueRefund: issueRefund(
      {
        loadOriginal: (of) => loadOriginal(db, of),
        saveRefund: (refund) => saveRefund(db, refund),
        findByRequestKey: (of) => findByRequestKey(db, of),
      },
      realNow,
    ),
    subscribeToWebhooks: subscribeToWebhooks({
      insertSubscription: (subscription) => insertSubscription(db, subscription),
      now: async () => new Date(realNow().getTime() + (await readOffset(db))),
      encrypt: (merchant, secret) => encryptSecret(encryptionKeys, merchant, secret),
    }),
  };
}

function toTargetCheck({ mode, allowPrivateTargets }: Config): (url: string) => string | undefined {
  const policy = { allowLocal: mode === "sandbox", allowPrivate: allowPrivateTargets };
  return (url) => findTargetFault(url, policy);
}
