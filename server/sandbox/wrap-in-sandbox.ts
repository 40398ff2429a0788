import type { IncomingMessage } from "node:http";
import type { Request } from "express";
import { readDocument } from "../contract/contract-document.ts";
import type { SandboxId } from "../contract/operation-types.ts";
import { createPages } from "../http/docs-pages.ts";
import { noDeadline } from "../http/request-deadline.ts";
import { checkLocalHost } from "../http/request-head.ts";
import type { HttpResponse, Middleware } from "../http/request-locals.ts";
import { assembleApp } from "../process/express-app.ts";
import type { Core, Hooks } from "../process/start-server.ts";
import { createConsolePage, nameOwnAddress } from "./console-page.ts";
import { type BadDay, createBadDay, type Watch } from "./features/bad-day.ts";
import { createCallFaults } from "./features/call-faults.ts";
import { createChanges } from "./features/change-stream.ts";
import { clockHandlers } from "./features/clock-handlers.ts";
import { createCoverage } from "./features/contract-coverage.ts";
import { createDeliveryFaults } from "./features/delivery-faults.ts";
import { createFaultList } from "./features/fault-list.ts";
import { SANDBOX_MERCHANTS, type SandboxMerchant, TOMORROW_MERCHANT } from "./features/fixtures.ts";
import { paymentHandlers } from "./features/payment-handlers.ts";
import { createRequestMemory } from "./features/recorded-requests.ts";
import { resetAndTokenHandlers, seed } from "./features/reset-and-tokens.ts";
import { createTomorrow } from "./features/tomorrow.ts";
import { webhookHandlers } from "./features/webhook-handlers.ts";
import { createInbox } from "./features/webhook-inbox.ts";

/** Fills the store, and wraps the server with all that is the sandbox's own, which is kept in memory. */
export async function wrapInSandbox(core: Core, shape: SandboxShape): Promise<Hooks> {
  const { tomorrowSeed, workers = 0, watch } = shape;
  const { app, http } = core;
  const { store, clock, logger, config, encryptionKeys } = app;
  const changes = createChanges(http.draining);
  const coverage = createCoverage(readDocument("openapi"));
  const faults = createFaultList(changes, clock.realNow);
  const deliveryFaults = createDeliveryFaults(faults, coverage.recordEvent);
  const tomorrow = createTomorrow({ store, clock, changes, logger });
  const further = Array.from({ length: workers }, (_, index): SandboxMerchant => `worker${index + 1}`);
  if (tomorrowSeed !== undefined) await tomorrow.switchOn(TOMORROW_MERCHANT, tomorrowSeed);
  await seed({ store, clock }, tomorrowSeed === undefined ? further : [...further, TOMORROW_MERCHANT]);
  if (shape.isTomorrow)
    for (const merchant of [...SANDBOX_MERCHANTS, ...further]) await tomorrow.switchOn(merchant);
  const badDay = createBadDay(shape.badDay, watch ?? {});

  const document = readDocument("sandbox");
  const callFaults = createCallFaults({ take: (occasion) => faults.take(occasion) ?? badDay.take(occasion) });
  const requests = createRequestMemory(changes, app.findCaller, callFaults.kindOf, (call) => {
    coverage.recordCall(call.merchant, call);
    watch?.onCall(call);
  });
  const inbox = createInbox({ store, changes, ownUrl: http.ownUrl, realNow: clock.realNow });
  const parts = { store, clock, changes, logger, encryptionKeys, runDue: core.runDue };
  const checkLocal = checkLocalHost(config.host, http.isLocal);
  const sandboxApp = await assembleApp<SandboxId>(app, {
    document,
    handlers: {
      ...changes.handlers,
      ...requests.handlers,
      ...inbox.handlers,
      ...faults.handlers,
      ...coverage.handlers,
      ...resetAndTokenHandlers(parts, [
        requests,
        inbox,
        faults,
        tomorrow,
        ...(watch ? [{ forget: watch.onReset }] : []),
      ]),
      ...tomorrow.handlers,
      ...clockHandlers(parts),
      ...paymentHandlers(parts),
      ...webhookHandlers({ ...parts, tomorrow }, deliveryFaults.find),
    },
    bodyChecks: {},
    refuseBlocked: () => {},
    // Moving the clock by years, or resetting a large store, takes long.
    deadline: noDeadline,
    ignoreUnknownQuery: false,
    headChecks: [checkLocal],
    routers: [inbox.router, createConsolePage(), await createPages(config, nameOwnAddress)],
    // Sandboxes are started often, and most of their own operations are never called.
    isWarm: false,
  });

  const isOfCore = (request: IncomingMessage) => {
    try {
      checkLocal(request);
      return OF_THE_CORE.test(request.url ?? "");
    } catch {
      return false; // the sandbox's app refuses it
    }
  };
  /** They see the request before the core, and its response after the core has checked it. */
  const outerSteps: readonly Middleware[] = [requests.record, callFaults.onWire, tomorrow.reviseResponses];
  return {
    attempts: tomorrow.before(badDay.wrap(deliveryFaults)),
    observer: {
      observeAttempt: () => changes.notify(["webhooks", "inbox"]),
      countRefunds: (status) => status === "AUTHORIZED" && changes.notify(["payments", "webhooks"]),
    },
    wrap: (core) => (plainRequest, plainResponse) => {
      // Express adds the members of its own types before a step uses them.
      const request = plainRequest as Request;
      const response = plainResponse as HttpResponse;
      const isCore = isOfCore(plainRequest);
      Object.assign(response, { locals: isCore ? { intercept } : {} });
      for (const step of isCore ? outerSteps : [requests.record]) step(request, response, () => {});
      (isCore ? core : sandboxApp)(request, response);
    },
  };

  function intercept(point: "body" | "handler", operation: string, request: Request, response: HttpResponse) {
    const step = point === "body" ? tomorrow.acceptLaterFields : callFaults.beforeHandler(operation);
    step(request, response, () => {});
  }
}

/** The paths that the core serves; the sandbox serves all others. */
const OF_THE_CORE = /^\/(v1\/|(healthz|readyz)(\?|$))/;

/** What a program that starts a sandbox chooses, besides the settings of its environment. */
export type SandboxShape = {
  /** The seed of the merchant that plays a later version from the start; undefined: there is none. */
  readonly tomorrowSeed?: number | undefined;
  /** Further merchants, `worker1` and so on, for tests that run at the same time. */
  readonly workers?: number;
  /** Whether every merchant plays a later version. */
  readonly isTomorrow?: boolean;
  readonly badDay?: BadDay | undefined;
  readonly watch?: Watch;
};
