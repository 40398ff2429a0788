import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { noObserver, type Observer } from "./observer.ts";
import type { GaugeSources } from "./prometheus-gauges.ts";
import { noSideServer, type SideServer, startSideServer } from "./second-port.ts";

/** Opens the metrics of a server, and what serves them at `/metrics`. Without a port nothing is counted. */
export async function openMetrics({
  host,
  metricsPort: port,
}: Pick<Config, "host" | "metricsPort">): Promise<OpenMetrics> {
  if (port === undefined) return { metrics: noObserver, serve: async () => noSideServer };
  // Loaded only where metrics are wanted, because loading delays the start.
  const { createMetrics } = await import("./prometheus-metrics.ts");
  const metrics = createMetrics();
  const serve: OpenMetrics["serve"] = async (sources, logger) => {
    metrics.addGauges(sources);
    return startSideServer(
      async (request, response) => {
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
      },
      { host, port },
    );
  };
  return { metrics, serve };
}

export type OpenMetrics = {
  metrics: Observer;
  /** Serves `/metrics` on a port of its own, so that callers of the API can't read it. */
  serve(sources: GaugeSources, logger: Logger): Promise<SideServer>;
};
