import express, { type Express } from "express";
import helmet, { type HelmetOptions } from "helmet";
import type { Logger } from "pino";
import type { Config } from "./config.ts";
import type { DomainClock } from "./domain/clock.ts";
import { compileAnswerChecks } from "./http/answer-check.ts";
import type { FindCaller } from "./http/authenticate.ts";
import type { Admission } from "./http/backpressure.ts";
import { checkReferences, checkTarget } from "./http/checks.ts";
import { type ContractDocument, readContract } from "./http/contract.ts";
import { requireHost, requireLocalHost, trackRequests } from "./http/envelope.ts";
import { handleErrors, notFound } from "./http/errors.ts";
import { guardAnswers } from "./http/guard.ts";
import { issueRefund } from "./http/handlers/issue-refund.ts";
import { subscribeToWebhooks } from "./http/handlers/subscribe-to-webhooks.ts";
import type { Handler, Handlers, PublishedId, SandboxId } from "./http/operations.ts";
import { createPages } from "./http/pages.ts";
import { createPatience, endlessPatience } from "./http/patience.ts";
import { createProbes } from "./http/probes.ts";
import { createQuotas } from "./http/quotas.ts";
import { createRateLimit, type TakeQuota, unlimited } from "./http/rate-limit.ts";
import { type ApiOptions, createApi } from "./http/routes.ts";
import type { Metrics } from "./metrics/metrics.ts";
import { createSandboxHandlers } from "./sandbox/handlers.ts";
import type { Bound } from "./storage/bind.ts";
import { encryptSecret } from "./storage/secrets.ts";
import type { storage } from "./storage/storage.ts";
import { isUnavailable } from "./storage/unavailable.ts";
import { findTargetFault, type TargetPolicy } from "./webhooks/target.ts";

export interface AppOptions {
  config: Config;
  store: Bound<typeof storage>;
  clock: DomainClock;
  encryptionKeys: readonly Buffer[];
  /** Who bears an access token. */
  findCaller: FindCaller;
  /** Which urls may be subscribed. */
  targetPolicy: TargetPolicy;
  logger: Logger;
  metrics: Metrics;
  /** Rejects when something is missing without which no call can be served. */
  checkReady: () => Promise<void>;
  /** Does what is due now; resolves when all of it has happened. */
  runDue: () => Promise<void>;
  /** Bounds how many calls use the store at a time. */
  admission: Admission;
  isDraining: () => boolean;
  /** Milliseconds that a caller has to send a body. */
  bodyTimeoutMs: number;
  /** Milliseconds that a published call may wait for the store in all. */
  callLimitMs: number;
  /** Served instead of the published contract; to see what a changed one would do. */
  document?: ContractDocument;
}

/** For answers that no browser shows; the docs pages have a policy of their own. */
const SECURITY_HEADERS: HelmetOptions = {
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  },
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
};

const LOOPBACK_HOSTS = ["127.0.0.1", "localhost", "::1"];

/** Puts the server together: the one place that knows every part. */
export async function createApp(options: AppOptions): Promise<Express> {
  const { config, store, clock, targetPolicy, runDue, logger, checkReady, isDraining, admission } = options;
  const published = options.document ?? (await readContract("openapi"));
  const sandbox = config.mode === "sandbox" ? await readContract("sandbox") : undefined;
  const access: Pick<
    ApiOptions<never>,
    "findCaller" | "takeQuota" | "admission" | "isDraining" | "bodyTimeoutMs"
  > = {
    admission,
    isDraining,
    findCaller: options.findCaller,
    takeQuota: limitRate(options),
    bodyTimeoutMs: options.bodyTimeoutMs,
  };

  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.use(trackRequests(logger, options.metrics.observeRequest));
  app.use(guardAnswers([published, ...(sandbox ? [sandbox] : [])].map(compileAnswerChecks), logger));
  app.use(requireHost);
  app.use(helmet(SECURITY_HEADERS));
  if (sandbox && LOOPBACK_HOSTS.includes(config.host)) app.use(requireLocalHost);
  // What is called most comes first: each route before it costs every call a look.
  app.use(
    createApi<PublishedId>({
      ...access,
      document: published,
      handlers: createHandlers(options),
      checks: {
        issueRefund: checkReferences,
        subscribeToWebhooks: checkTarget((url) => findTargetFault(url, targetPolicy)),
      },
      patience: createPatience(options.callLimitMs),
      ignoreUnknownQuery: true,
    }),
  );
  if (sandbox) {
    app.use(
      createApi<SandboxId>({
        ...access,
        document: sandbox,
        handlers: createSandboxHandlers({ store, clock, runDue }),
        checks: {},
        // A clock that moves years, or the reset of a large store, takes its time.
        patience: endlessPatience,
        ignoreUnknownQuery: false,
      }),
    );
  }
  app.use(createProbes({ checkReady, isDraining }));
  app.use(await createPages());
  app.use(notFound);
  app.use(handleErrors(logger, isUnavailable));
  return app;
}

/** One server counts for itself; several, which have a database in common, count together. */
function limitRate({ config, store, logger }: AppOptions): TakeQuota {
  const { rateLimit: callsPerSecond, databaseUrl } = config;
  if (callsPerSecond === undefined) return unlimited;
  const report = databaseUrl ? store.reportCalls : undefined;
  return createRateLimit(callsPerSecond, createQuotas({ callsPerSecond, report, logger }));
}

function createHandlers({ store, clock, encryptionKeys, metrics }: AppOptions): Handlers {
  const encrypt = (merchant: string, secret: string) => encryptSecret(encryptionKeys, merchant, secret);
  return {
    issueRefund: countIssued(issueRefund(store, clock.realNow), metrics),
    subscribeToWebhooks: subscribeToWebhooks({ store, clock, encrypt }),
  };
}

function countIssued(issue: Handler<"issueRefund">, metrics: Metrics): Handler<"issueRefund"> {
  return async (call) => {
    const reply = await issue(call);
    if ("body" in reply) metrics.countRefunds(reply.body.paymentStatus, 1);
    return reply;
  };
}
