import { readFileSync } from "node:fs";
import { ConfigError, type Environment } from "./environment.ts";

/** Descriptors that the database, deliveries, the issuer, files and the log need; half of them all where there are few. */
const KEPT_DESCRIPTORS = 1_024;
/** Far more than replicas behind a proxy have, and few enough to fit into memory. */
const DEFAULT_CONNECTIONS = 10_000;
/** What most systems grant a process that asks for nothing. */
const USUAL_LIMIT = 1_024;

/**
 * How many connections callers may have open at a time: so few that descriptors are left for everything else. Throws
 * {@link ConfigError}.
 */
export function readMaxConnections(env: Environment, limit = readDescriptorLimit()): number {
  const most = limit - Math.min(KEPT_DESCRIPTORS, Math.ceil(limit / 2));
  const text = env.MAX_CONNECTIONS;
  if (!text) return Math.min(DEFAULT_CONNECTIONS, most);
  if (!/^[1-9]\d{0,9}$/.test(text)) {
    throw new ConfigError(`MAX_CONNECTIONS must be a whole number of connections, not "${text}".`);
  }
  if (Number(text) <= most) return Number(text);
  throw new ConfigError(
    `MAX_CONNECTIONS must be at most ${most}, because this process may have ${limit} open files and needs some itself: raise that limit (ulimit -n, LimitNOFILE), or lower the setting.`,
  );
}

/** Linux says it; elsewhere the usual limit is assumed. */
function readDescriptorLimit(): number {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return soft === undefined ? USUAL_LIMIT : Number(soft);
  } catch {
    return USUAL_LIMIT;
  }
}
