import { createServer } from "node:http";
import type { Logger } from "pino";
import type { Config } from "../config.ts";
import { listen, toUrl } from "../listening.ts";
import type { GaugeSources } from "./gauges.ts";
import { createMetrics, type Metrics, noMetrics } from "./metrics.ts";

export interface RunningMetrics {
  metrics: Metrics;
  /** Where they are read; undefined: nowhere. */
  url: string | undefined;
  close(): Promise<void>;
}

/** Serves `/metrics` on a port of its own, so that who may call the service can't read how it fares. */
export async function startMetrics(
  { host, metricsPort }: Pick<Config, "host" | "metricsPort">,
  { logger, ...sources }: GaugeSources & { logger: Logger },
): Promise<RunningMetrics> {
  if (metricsPort === undefined) return { metrics: noMetrics, url: undefined, close: async () => {} };
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
      logger.error({ err: error }, "can't tell metrics");
      response.writeHead(500).end();
    }
  });
  await listen(server, { host, port: metricsPort });
  return {
    metrics,
    url: `${toUrl(server, host)}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
