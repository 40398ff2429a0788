import type { RequestListener } from "node:http";
import express from "express";
import type { Logger } from "pino";
import type { ConcurrencyLimit } from "./admission/concurrency-limit.ts";
import type { RateLimiter } from "./admission/rate-limiter.ts";
import type { Caller, FindCaller } from "./auth/bearer.ts";
import type { Config } from "./config/config.ts";
import { type ContractDocument, readDocument, type Schemas } from "./contract/document.ts";
import type { Handler, Handlers, PublishedId, SandboxId } from "./contract/operations.ts";
import { unavailable } from "./contract/problem.ts";
import { compileResponseValidators } from "./contract/validate-response.ts";
import type { DomainClock } from "./domain/clock.ts";
import { limitRate } from "./http/access.ts";
import { type Api, createApi } from "./http/api.ts";
import { findCallerAddress } from "./http/caller-address.ts";
import { createDeadline, noDeadline } from "./http/deadline.ts";
import { handleErrors, notFound } from "./http/error-handler.ts";
import { checkReferences, issueRefund } from "./http/issue-refund.ts";
import { refuseOverload } from "./http/overload.ts";
import { createPages } from "./http/pages.ts";
import { createProbes, type ProbeOptions } from "./http/probes.ts";
import {
  checkHost,
  checkLocalHost,
  checkPlainHead,
  type HeadCheck,
  requireHead,
} from "./http/request-head.ts";
import { logRequests } from "./http/request-log.ts";
import { guardResponses } from "./http/response-guard.ts";
import { setSecurityHeaders } from "./http/security-headers.ts";
import { checkTarget, subscribeToWebhooks } from "./http/subscribe-to-webhooks.ts";
import { traceRequests } from "./http/trace-requests.ts";
import type { Observer } from "./observability/observer.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";
import { isUnavailable } from "./storage/database/unavailable.ts";
import type { PaymentKey } from "./storage/statements/payment-record.ts";
import type { BoundStorage } from "./storage/storage.ts";
import type { EncryptionKeys } from "./storage/webhooks/secrets.ts";
import { GUESSABLE_SECRET, isGuessable } from "./webhooks/guessable-secret.ts";
import { secretFormOf } from "./webhooks/sign-delivery.ts";
import { findTargetError, type TargetPolicy } from "./webhooks/target.ts";

export type AppOptions = ProbeOptions & {
  config: Config;
  store: BoundStorage;
  clock: DomainClock;
  encryptionKeys: EncryptionKeys;
  /** Authenticates callers by their access tokens. */
  findCaller: FindCaller;
  /** Throws for a caller whom an operator has blocked. */
  refuseBlocked: (caller: Caller) => void;
  /** Which URLs webhooks may be sent to. */
  targetPolicy: TargetPolicy;
  logger: Logger;
  metrics: Observer;
  /** Called with each refund that has been issued. */
  onIssued?: ((refund: PaymentKey) => void) | undefined;
  /** Bounds how many requests are under way at a time. */
  concurrency: ConcurrencyLimit;
  /** Undefined: merchants may call as often as they like. */
  rateLimiter: RateLimiter | undefined;
  /** Milliseconds that a caller has to send a body. */
  bodyTimeoutMs: number;
  /** Milliseconds that a request to the published contract may wait for the store in all. */
  callLimitMs: number;
  /** Served, too, if there is one. */
  sandbox?: Sandbox | undefined;
  /** Served instead of the published contract, to show the effect of a change. */
  document?: ContractDocument;
};

/** Assembles the app: the one module that knows every part. */
export async function createApp(options: AppOptions): Promise<RequestListener> {
  const { config, logger, sandbox } = options;
  const published = options.document ?? readDocument("openapi");
  // The published contract has most of the requests, so it comes first: each router before it would cost them time.
  const apis = createApis(options, published);
  const validators = [compileResponseValidators(published)];
  if (sandbox) validators.push(compileResponseValidators(sandbox.document, { whenUsed: true }));

  const headChecks: HeadCheck[] = [checkHost, checkPlainHead];
  if (sandbox) headChecks.push(checkLocalHost(config.host, sandbox.isLocal));

  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  // Set before the first route: the request validator reads both here.
  app.enable("case sensitive routing");
  app.enable("strict routing");
  app.use(traceRequests);
  app.use(logRequests(logger, findCallerAddress(config.callerAddressHeader), options.metrics.observeRequest));
  // Before the guard, so that it records the response that was sent.
  for (const step of sandbox?.outerSteps ?? []) app.use(step);
  app.use(guardResponses(validators, logger));
  app.use(setSecurityHeaders());
  app.use(requireHead(headChecks));
  for (const { router } of apis) app.use(router);
  for (const router of sandbox?.routers ?? []) app.use(router);
  app.use(createProbes(options));
  app.use(await createPages(config, sandbox?.adaptText));
  app.use(notFound);
  app.use(handleErrors(logger, isUnavailable));
  // Only the published contract: sandboxes are started often, and most of their own operations are never called.
  await apis[0].warmUp(app);
  return refuseOverload(app, {
    ...options,
    documents: sandbox ? [published, sandbox.document] : [published],
    headChecks,
    observe: options.metrics.observeRequest,
    onRefused: options.metrics.countRefusal,
  });
}

function createApis(options: AppOptions, published: ContractDocument): [published: Api, ...others: Api[]] {
  const { targetPolicy, rateLimiter, sandbox } = options;
  const common = { ...options, limitRate: limitRate(rateLimiter) };
  const publishedApi = createApi<PublishedId>({
    ...common,
    document: published,
    handlers: createHandlers(options),
    bodyChecks: {
      issueRefund: checkReferences,
      subscribeToWebhooks: checkTarget((url) => findTargetError(url, targetPolicy)),
    },
    deadline: createDeadline(options.callLimitMs),
    ignoreUnknownQuery: true,
    beforeHandler: sandbox?.beforeHandler,
    bodySteps: sandbox?.bodySteps,
  });
  if (!sandbox) return [publishedApi];
  const sandboxApi = createApi<SandboxId>({
    ...common,
    document: sandbox.document,
    handlers: sandbox.handlers,
    bodyChecks: {},
    // So that a merchant who tries a block out can end it.
    refuseBlocked: () => {},
    // Moving the clock by years, or resetting a large store, takes long.
    deadline: noDeadline,
    ignoreUnknownQuery: false,
  });
  return [publishedApi, sandboxApi];
}

function createHandlers(options: AppOptions): Handlers {
  const { store, clock, encryptionKeys, metrics, onIssued, logger } = options;
  const encrypt = (merchant: string, secret: string) =>
    encryptionKeys.encrypt(merchant, secret).catch((error: unknown) => {
      throw unavailable(error); // a KMS can be away as a database can
    });
  return {
    issueRefund: observeIssued(issueRefund(store, clock.realNow), (merchant, refund) => {
      metrics.countRefunds(refund.paymentStatus, 1);
      onIssued?.({ merchant, paymentId: refund.paymentId });
    }),
    subscribeToWebhooks: subscribeToWebhooks({
      store,
      clock,
      encrypt,
      inspectSecret(secretKey, subscription) {
        // A merchant whose whsec_ isn't followed by base64 would look for the reason in vain.
        logger.info({ ...subscription, secretForm: secretFormOf(secretKey) }, "subscription");
        if (isGuessable(secretKey)) logger.warn(subscription, GUESSABLE_SECRET);
      },
    }),
  };
}

function observeIssued(
  issue: Handler<"issueRefund">,
  observe: (merchant: string, refund: Schemas["Refund"]) => void,
): Handler<"issueRefund"> {
  return async (request) => {
    const response = await issue(request);
    if ("body" in response) observe(request.merchant, response.body);
    return response;
  };
}
