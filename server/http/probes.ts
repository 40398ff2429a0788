import express, { type Router } from "express";
import pTimeout from "p-timeout";
import { ProblemError } from "../contract/problem.ts";
import { sendJson } from "./send-response.ts";

/** How long a readiness probe waits, in milliseconds: less than the timeout of those that send probes. */
const READY_LIMIT_MS = 3_000;

export type ProbeOptions = {
  /** Each rejects while a part that every request needs does not work. */
  readinessChecks: readonly (() => Promise<void>)[];
  isDraining: () => boolean;
};

/** `/healthz`: the process lives. `/readyz`: it can serve calls; 503 while it drains or can't serve them. */
export function createProbes(options: ProbeOptions): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  router.get("/healthz", (_request, response) => {
    sendJson(response, "application/json", { status: "ok" });
  });
  router.get("/readyz", async (_request, response) => {
    const ready = await isReady(options);
    response.status(ready ? 200 : 503);
    sendJson(response, "application/json", { status: ready ? "ready" : "unavailable" });
  });
  router.all(["/healthz", "/readyz"], refuseMethod);
  return router;
}

/** Whether the server can serve calls. */
export async function isReady({ readinessChecks, isDraining }: ProbeOptions): Promise<boolean> {
  if (isDraining()) return false;
  try {
    await pTimeout(Promise.all(readinessChecks.map((check) => check())), { milliseconds: READY_LIMIT_MS });
    return true;
  } catch {
    return false;
  }
}

/** For pages and probes, which allow only reading. */
export function refuseMethod(): never {
  throw new ProblemError("METHOD_NOT_ALLOWED", { headers: { Allow: "GET, HEAD" } });
}
