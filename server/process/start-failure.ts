import { networkInterfaces } from "node:os";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/environment.ts";
import { DataDirError } from "../storage/database/data-folder-lock.ts";
import { StoreStartError } from "../storage/database/start-error.ts";

/**
 * Why a server can't start: one or two sentences for a wrong setting or a failed system call, and the stack for anything
 * else.
 * @param config undefined when the settings themselves are wrong
 */
export function explainStartFailure(error: unknown, config: Config | undefined): string {
  for (const expected of EXPECTED) if (error instanceof expected) return error.message;
  if (!(error instanceof Error)) return String(error);
  const { code, syscall, port, hostname } = error as NodeJS.ErrnoException & {
    port?: number;
    hostname?: string;
  };
  if (code === "EADDRINUSE" && config && port !== undefined) return explainTakenPort(port, config);
  const isUnknownHost = code === "EADDRNOTAVAIL" || (syscall === "getaddrinfo" && hostname === config?.host);
  if (isUnknownHost && config) return explainUnknownHost(config.host);
  const remedy = REMEDIES[String(syscall)];
  return remedy ? `${error.message}. ${remedy}` : (error.stack ?? error.message);
}

/** What the operator can change when a system call fails at the start, by the name of the call. */
const REMEDIES: Readonly<Record<string, string>> = {
  listen: "Choose another address with HOST, PORT, PROBE_PORT or METRICS_PORT.",
  getaddrinfo: "Choose another address with HOST or DATABASE_URL.",
  connect: "Start the database that should listen there, or choose another one with DATABASE_URL.",
  mkdir: "Set DATA_DIR to a folder that can be written.",
  open: "Set DATA_DIR to a folder that can be written.",
};

/** Errors whose messages say what to do. */
const EXPECTED = [ConfigError, DataDirError, StoreStartError];

function explainTakenPort(port: number, { host, probePort, metricsPort }: Config): string {
  const settings = { PROBE_PORT: probePort, METRICS_PORT: metricsPort };
  const [setting] = Object.entries(settings).find(([, value]) => value === port) ?? [];
  const other = setting ? `choose another port with ${setting}` : "take a free port with --port 0 (PORT=0)";
  return `Port ${port} of ${host} is taken by another process. Stop it, or ${other}.`;
}

function explainUnknownHost(host: string): string {
  const addresses = Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).map(({ address }) => address),
  );
  return (
    `HOST=${host} is not an address of this machine. Use ${[...new Set(addresses)].join(", ")}, ` +
    "or 0.0.0.0 for all of them; for callers that use another name, put a proxy in front of it."
  );
}
