import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import express, { type RequestHandler } from "express";
import * as openApiValidator from "express-openapi-validator";
import { pino } from "pino";
import { sandboxAccess } from "../../../server/auth/access-tokens.ts";
import { readConfig } from "../../../server/config/config.ts";
import { createConcurrencyLimit } from "../../../server/http/concurrency-limit.ts";
import { noObserver } from "../../../server/observability/observer.ts";
import { type AppParts, createApp } from "../../../server/process/express-app.ts";
import { createEncryptionKeys } from "../../../server/storage/webhooks/secret-encryption.ts";

/*
 * A server process: `ours` is the whole app on a store that accepts every refund, `validated` is express with express-openapi-validator,
 * set up as in its README, `bare` is express alone, and `refusing` is express that responds with 503. None logs anything.
 */
const original = {
  ...{ paymentId: "pay_settled", kind: "DEBIT", status: "PROCESSING", settledAt: null },
  ...{ amountCents: 1_000_000_000_000, refundedCents: 0 },
};

const yes = {
  loadOriginal: async () => ({ original, clockOffsetMs: 0, held: false, receivers: 0 }),
  saveRefund: async () => true,
};

const refund = {
  paymentId: "rfd_019e9bd0-4b7a-7c3e-9a51-2f60c8d3b7aa",
  paymentStatus: "PENDING",
  clientReferenceId: "order-1042",
};

async function createOurs(): Promise<RequestListener> {
  const realNow = () => new Date();
  const options = {
    ...{ config: readConfig({}), store: yes, clock: { realNow, isWrong: () => false } },
    encryptionKeys: createEncryptionKeys([]),
    targetPolicy: { allowLocal: true, allowPrivate: false },
    logger: pino({ level: "silent" }),
    findCaller: sandboxAccess(async () => ({ merchant: "acme", scopes: ["refunds", "webhooks"] })).findCaller,
    concurrency: createConcurrencyLimit({ total: 512, perMerchant: 256 }),
    ...{ refuseBlocked: () => {}, observer: noObserver, readinessChecks: [], isDraining: () => false },
    ...{ bodyTimeoutMs: 10_000, callLimitMs: 6_000 },
  };
  return createApp(options as unknown as AppParts); // only the part of the store that refunds use exists
}

const issueRefund: RequestHandler = (request, response) => {
  response.status(201).json({ ...refund, clientReferenceId: request.body.clientReferenceId });
};

/** Express with a JSON parser, and these handlers before the operation. */
const createExpress = (...handlers: RequestHandler[]) =>
  express()
    .use(express.json(), ...handlers)
    .post("/v1/refunds", issueRefund);

const apiSpec = "openapi/generated/openapi.yaml";
const validator = () =>
  openApiValidator.middleware({ apiSpec, validateRequests: true, validateResponses: true });

const bare = () => createExpress();
const refusing = () => express().use((_request, response) => void response.status(503).send("busy"));
const listeners = { ours: createOurs, bare, validated: () => createExpress(...validator()), refusing };

const create = listeners[process.argv[2] as keyof typeof listeners];
const server = createServer(await create());
server.listen(0, "127.0.0.1", () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
);
