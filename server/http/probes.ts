import type { Router } from "express";
import express from "express";
import { ProblemError } from "../contract/problem.ts";
import { sendJson } from "./middleware/send-response.ts";

export interface ProbeOptions {
  /** Rejects when something is missing that every call needs. */
  checkReady: () => Promise<void>;
  isDraining: () => boolean;
}

/** `/healthz`: the process lives. `/readyz`: it can serve calls; 503 while it drains or can't serve them. */
export function createProbes({ checkReady, isDraining }: ProbeOptions): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  router.get("/healthz", (_request, response) => {
    sendJson(response, "application/json", { status: "ok" });
  });
  router.get("/readyz", async (_request, response) => {
    const ready =
      !isDraining() &&
      (await checkReady().then(
        () => true,
        () => false,
      ));
    response.status(ready ? 200 : 503);
    sendJson(response, "application/json", { status: ready ? "ready" : "unavailable" });
  });
  router.all(["/healthz", "/readyz"], refuseMethod);
  return router;
}

/** For pages and probes, which allow only reading. */
export function refuseMethod(): never {
  throw new ProblemError("METHOD_NOT_ALLOWED", { headers: { Allow: "GET, HEAD" } });
}
