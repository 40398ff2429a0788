import express, { type Router } from "express";
import pTimeout from "p-timeout";
import { ProblemError } from "../contract/problem.ts";
import { noSideServer, type SideServer, startSideServer } from "../observability/second-port.ts";
import { sendJson } from "./send-response.ts";

/** `/healthz`: the process lives. `/readyz`: it can serve calls; 503 while it drains or can't serve them. */
export function createProbes(options: ProbeOptions): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  router.get(["/healthz", "/readyz"], async (request, response) => {
    const { code, body } = (await probe(request.path, options)) ?? { code: 404, body: {} };
    response.status(code);
    sendJson(response, "application/json", body);
  });
  router.all(["/healthz", "/readyz"], refuseMethod);
  return router;
}

/** How long a readiness probe waits, in milliseconds: less than the timeout of those that send probes. */
const READY_LIMIT_MS = 3_000;

export type ProbeOptions = {
  /** Each rejects while a part that every request needs does not work. */
  readinessChecks: readonly (() => Promise<void>)[];
  isDraining: () => boolean;
};

/** What a probe of this path responds with; undefined for any other path. */
async function probe(path: string, options: ProbeOptions) {
  if (path === "/healthz") return { code: 200, body: { status: "ok" } };
  if (path !== "/readyz") return undefined;
  return (await isReady(options))
    ? { code: 200, body: { status: "ready" } }
    : { code: 503, body: { status: "unavailable" } };
}

async function isReady({ readinessChecks, isDraining }: ProbeOptions): Promise<boolean> {
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

/**
 * Serves the probes on a port of their own as well: on the port of the callers, a probe's connection is accepted after those of all
 * callers who connected before it.
 * @param port undefined: they have none
 */
export async function startProbeServer(
  { host, port }: { host: string; port: number | undefined },
  options: ProbeOptions,
): Promise<SideServer> {
  if (port === undefined) return noSideServer;
  return startSideServer(
    async ({ method = "", url = "" }, response) => {
      const found = ["GET", "HEAD"].includes(method) ? await probe(url, options) : undefined;
      const { code, body } = found ?? { code: 404, body: {} };
      response.writeHead(code, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    },
    { host, port },
  );
}
