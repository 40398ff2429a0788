import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import type { GaugeSources } from "./gauges.ts";
import { noObserver, type Observer } from "./observer.ts";
import type { ServedMetrics } from "./prometheus.ts";

export type RunningMetrics = {
  /** Where the metrics are served, such as `http://127.0.0.1:9464/metrics`; undefined when they are not served. */
  url: string | undefined;
  stop(): Promise<void>;
};

export type OpenMetrics = {
  metrics: Observer;
  /** Serves `/metrics` on a port of its own, so that callers of the API can't read it. */
  serve(sources: GaugeSources, logger: Logger): Promise<RunningMetrics>;
};

/** Without a port nothing is counted. */
export async function openMetrics({
  host,
  metricsPort: port,
}: Pick<Config, "host" | "metricsPort">): Promise<OpenMetrics> {
  if (port === undefined)
    return { metrics: noObserver, serve: async () => ({ url: undefined, stop: async () => {} }) };
  // Loaded only where metrics are wanted, because loading delays the start.
  const { createMetrics } = await import("./prometheus.ts");
  const metrics = createMetrics();
  return { metrics, serve: (sources, logger) => serve(metrics, sources, { host, port, logger }) };
}

async function serve(
  metrics: ServedMetrics,
  sources: GaugeSources,
  { host, port, logger }: { host: string; port: number; logger: Logger },
): Promise<RunningMetrics> {
  metrics.addGauges(sources);
  const server = createServer(async (request, response) => {
    if (request.method !== "GET" || request.url !== "/metrics") {
      response.writeHead(404).end();
      return;
    }
    try {
      const { text, contentType } = await metrics.read();
      response.writeHead(200, { "Content-Type": contentType }).end(text);
    } catch (error) {
      logger.error({ err: error }, "can't collect metrics");
      response.writeHead(500).end();
    }
  });
  server.listen({ host, port });
  await once(server, "listening"); // rejects with the error of the system
  const address = server.address() as AddressInfo; // it listens on a port
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${address.port}/metrics`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
