import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { pino } from "pino";
import { sandboxAccess } from "../../../server/access.ts";
import { type AppOptions, createApp } from "../../../server/app.ts";
import { readConfig } from "../../../server/config.ts";
import { admitAtMost } from "../../../server/http/backpressure.ts";
import { noMetrics } from "../../../server/metrics/metrics.ts";

/*
 * A process of the benchmarks: with `ours` the whole app over a store that only says yes, with `bare` express alone. Both
 * answer a refund with the same body, and log nothing.
 */
const original = {
  paymentId: "pay_settled",
  kind: "DEBIT",
  status: "PROCESSING",
  amountCents: 1_000_000_000_000,
  refundedCents: 0,
  settledAt: null,
};

const yes = {
  loadOriginal: async () => ({ original, clockOffsetMs: 0 }),
  saveRefund: async () => true,
};

async function createOurs(): Promise<RequestListener> {
  const realNow = () => new Date();
  const options = {
    config: readConfig({}),
    store: yes,
    clock: { realNow, now: async () => realNow() },
    encryptionKeys: [],
    targetPolicy: { allowLocal: true, allowPrivate: false },
    logger: pino({ level: "silent" }),
    findCaller: sandboxAccess(async () => ({ merchant: "acme", scopes: ["refunds", "webhooks"] })).findCaller,
    admission: admitAtMost(256),
    metrics: noMetrics,
    checkReady: async () => {},
    runDue: async () => {},
    isDraining: () => false,
    bodyTimeoutMs: 10_000,
    callLimitMs: 6_000,
  };
  return createApp(options as unknown as AppOptions); // only what refunds need of the store is there
}

function createBare(): RequestListener {
  const app = express();
  app.use(express.json());
  app.post("/v1/refunds", (request, response) => {
    const { clientReferenceId } = request.body;
    const paymentId = "rfd_019e9bd0-4b7a-7c3e-9a51-2f60c8d3b7aa";
    response.status(201).json({ paymentId, paymentStatus: "PENDING", clientReferenceId });
  });
  return app;
}

const server = createServer(process.argv[2] === "ours" ? await createOurs() : createBare());
server.listen(0, "127.0.0.1", () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
);
