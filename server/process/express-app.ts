import express, { type Router } from "express";
import type { Logger } from "pino";
import type { Caller, FindCaller } from "../auth/bearer-token.ts";
import type { Config } from "../config/config.ts";
import { type ContractDocument, readDocument, servedOperations } from "../contract/contract-document.ts";
import type { Handlers, OperationId, PublishedId } from "../contract/operation-types.ts";
import { compileResponseValidators } from "../contract/validate-response.ts";
import type { DomainClock } from "../domain/domain-time.ts";
import { findCallerAddress } from "../http/caller-address.ts";
import type { ConcurrencyLimit } from "../http/concurrency-limit.ts";
import { createPages } from "../http/docs-pages.ts";
import { handleErrors, refusePath } from "../http/error-handler.ts";
import { createProbes, type ProbeOptions } from "../http/health-probes.ts";
import { checkReferences, issueRefund } from "../http/issue-refund.ts";
import { type ApiOptions, serveApi } from "../http/operation-routes.ts";
import { type App, refuseOverload } from "../http/overload.ts";
import { limitRate, type RateLimiter } from "../http/rate-limiter.ts";
import { createDeadline } from "../http/request-deadline.ts";
import { checkHost, checkPlainHead, type HeadCheck } from "../http/request-head.ts";
import type { Middleware } from "../http/request-locals.ts";
import { logRequests } from "../http/request-log.ts";
import { guardResponses } from "../http/response-guard.ts";
import { readSecurityHeaders } from "../http/security-headers.ts";
import { checkTarget, subscribeToWebhooks } from "../http/subscribe-to-webhooks.ts";
import type { Observer } from "../observability/observer.ts";
import { isUnavailable } from "../storage/database/database-errors.ts";
import type { Store } from "../storage/open-store.ts";
import type { PaymentKey } from "../storage/payments/payment-record.ts";
import type { EncryptionKeys } from "../storage/webhooks/secret-encryption.ts";
import { GUESSABLE_SECRET, isGuessable } from "../webhooks/secret-strength.ts";
import { secretFormOf } from "../webhooks/sign-delivery.ts";
import type { Webhooks } from "../webhooks/start-webhooks.ts";
import { findTargetError, type TargetPolicy } from "../webhooks/target-policy.ts";

/** The app of the published contract, with its probes and its pages. */
export async function createApp(parts: AppParts, document?: ContractDocument): Promise<App> {
  return assembleApp<PublishedId>(parts, {
    document: document ?? readDocument("openapi"),
    handlers: createHandlers(parts),
    bodyChecks: {
      issueRefund: checkReferences,
      subscribeToWebhooks: checkTarget((url) => findTargetError(url, parts.targetPolicy)),
    },
    refuseBlocked: parts.refuseBlocked,
    deadline: createDeadline(parts.callLimitMs),
    ignoreUnknownQuery: true,
    headChecks: [],
    routers: [createProbes(parts), await createPages(parts.config)],
    isWarm: parts.config.mode === "production",
  });
}

export type AppParts = ProbeOptions & {
  config: Config;
  store: Store;
  clock: DomainClock;
  encryptionKeys: EncryptionKeys;
  findCaller: FindCaller;
  refuseBlocked: (caller: Caller) => void;
  targetPolicy: TargetPolicy;
  /** Why deliveries to a new subscription can't succeed now, which is logged; undefined: not checked. */
  findObstacle?: Webhooks["findObstacle"] | undefined;
  logger: Logger;
  observer: Observer;
  onIssued?: ((refund: PaymentKey) => void) | undefined;
  concurrency: ConcurrencyLimit;
  /** Undefined: merchants may call as often as they like. */
  rateLimiter: RateLimiter | undefined;
  bodyTimeoutMs: number;
  /** Milliseconds that a request to the published contract may wait for the store in all. */
  callLimitMs: number;
};

function publishedPaths(): string[] {
  const operations = servedOperations(readDocument("openapi"));
  return operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
}

/** What an app serves: the operations of a document, and other routes. */
type Served<Ids extends OperationId> = Pick<
  ApiOptions<Ids>,
  "document" | "handlers" | "bodyChecks" | "refuseBlocked" | "deadline" | "ignoreUnknownQuery"
> & {
  /** Further checks of each request's head. */
  headChecks: readonly HeadCheck[];
  routers: readonly Router[];
  /** Whether its schemas are compiled now, rather than with the first call that needs them. */
  isWarm: boolean;
};

/** Puts the steps of every request in their order. */
export async function assembleApp<Ids extends OperationId>(
  parts: AppParts,
  served: Served<Ids>,
): Promise<App> {
  const { config, logger, observer } = parts;
  const { document, isWarm } = served;
  const headChecks = [checkHost, checkPlainHead, ...served.headChecks];
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  // Set before the first route: the request validator reads both here.
  app.enable("case sensitive routing");
  app.enable("strict routing");
  const log = logRequests(logger, findCallerAddress(config.callerAddressHeader), observer.observeRequest);
  const guard = guardResponses(compileResponseValidators(document, { whenUsed: !isWarm }), logger);
  const securityHeaders = readSecurityHeaders();
  // One step, because each costs time in every request.
  const begin: Middleware = (request, response, next) => {
    log(request, response);
    guard(request, response);
    response.setHeaders(securityHeaders);
    for (const check of headChecks) check(request);
    next();
  };
  app.use(begin);
  const warmUp = serveApi<Ids>(app, {
    ...served,
    findCaller: parts.findCaller,
    limitRate: limitRate(parts.rateLimiter),
    isDraining: parts.isDraining,
    bodyTimeoutMs: parts.bodyTimeoutMs,
  });
  for (const router of served.routers) app.use(router);
  app.use(refusePath(publishedPaths(), config.mode === "sandbox"));
  app.use(handleErrors(logger, isUnavailable));
  if (isWarm) await warmUp();
  return refuseOverload(app, {
    document,
    headChecks,
    concurrency: parts.concurrency,
    isDraining: parts.isDraining,
    observe: observer.observeRequest,
    onRefused: observer.countRefusal,
    logger,
  });
}

function createHandlers(parts: AppParts): Handlers {
  const { store, clock, encryptionKeys, observer, onIssued, logger } = parts;
  const issue = issueRefund(store, clock, parts.rateLimiter?.charge);
  return {
    async issueRefund(request) {
      const response = await issue(request);
      if ("body" in response) {
        const { paymentId, paymentStatus } = response.body;
        observer.countRefunds(paymentStatus, 1);
        onIssued?.({ merchant: request.merchant, paymentId });
      }
      return response;
    },
    subscribeToWebhooks: subscribeToWebhooks({
      store,
      clock,
      keys: encryptionKeys,
      inspect({ url, secretKey }, subscription) {
        // Otherwise a merchant whose whsec_ isn't followed by base64 would never find out why signatures differ.
        logger.info({ ...subscription, secretForm: secretFormOf(secretKey) }, "subscription");
        if (isGuessable(secretKey)) logger.warn(subscription, GUESSABLE_SECRET);
        parts.findObstacle?.(url, subscription.merchant).then((obstacle) => {
          if (obstacle)
            logger.warn(subscription, `deliveries to ${new URL(url).origin} would fail: ${obstacle}`);
        });
      },
    }),
  };
}
