import { createServer } from "node:http";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { listen, toUrl } from "../http/listen.ts";
import type { GaugeSources } from "./gauges.ts";
import type { Metrics } from "./prometheus.ts";

/** Counts nothing, for a server without `METRICS_PORT`. */
export const noMetrics: Metrics = {
  observeRequest() {},
  countRefunds() {},
  countSkippedRefunds() {},
  observeAttempt() {},
};

export type RunningMetrics = {
  metrics: Metrics;
  /** Where the metrics are served, such as `http://127.0.0.1:9464/metrics`; undefined when they are not served. */
  url: string | undefined;
  stop(): Promise<void>;
};

/** Serves `/metrics` on a port of its own, so that callers of the API can't read it. Without a port nothing is counted. */
export async function startMetrics(
  { host, metricsPort }: Pick<Config, "host" | "metricsPort">,
  { logger, ...sources }: GaugeSources & { logger: Logger },
): Promise<RunningMetrics> {
  if (metricsPort === undefined) return { metrics: noMetrics, url: undefined, stop: async () => {} };
  // Loaded only where metrics are wanted, because loading delays the start.
  const { createMetrics } = await import("./prometheus.ts");
  const metrics = createMetrics(sources);
  const server = createServer(async (request, response) => {
    if (request.method !== "GET" || request.url !== "/metrics") {
      response.writeHead(404).end();
      return;
    }
    try {
      const text = await metrics.text();
      response.writeHead(200, { "Content-Type": metrics.contentType }).end(text);
    } catch (error) {
      logger.error({ err: error }, "can't collect metrics");
      response.writeHead(500).end();
    }
  });
  await listen(server, { host, port: metricsPort });
  return {
    metrics,
    url: `${toUrl(server, host)}/metrics`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
