import type { LookupAddress } from "node:dns";
import { Resolver } from "node:dns/promises";
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import pLimit, { type LimitFunction } from "p-limit";
import pTimeout from "p-timeout";

/**
 * Looks names up with c-ares, which needs no thread. `dns.lookup` would hold one of the few threads of this process until
 * the nameserver responds, and the names of one merchant could thus stop every other lookup, those for the database and for
 * the issuer's keys included.
 */
export function createResolver(options: ResolverOptions = {}): NameResolver {
  const { nameservers, timeoutMs = TIMEOUT_MS, hostsFile = "/etc/hosts" } = options;
  const findLocal = createHosts(hostsFile);
  const limitOf = createLimits();
  const queries = new Set<Resolver>();
  let closed = false;
  const underWay = new Map<string, Promise<readonly LookupAddress[]>>();
  /** In the order in which they expire. */
  const failures = new Map<string, { error: UnresolvedNameError; untilMs: number }>();

  async function lookUp(key: string, name: string, merchant: string): Promise<readonly LookupAddress[]> {
    const endsAt = performance.now() + timeoutMs;
    const { limit, release } = limitOf(merchant);
    try {
      // A lookup whose turn comes too late has already been abandoned.
      const looked = limit(() => query(name, endsAt - performance.now()));
      return await pTimeout(looked, {
        milliseconds: timeoutMs,
        message: new UnresolvedNameError({ timedOut: true }),
      });
    } catch (error) {
      if (error instanceof UnresolvedNameError) remember(key, error);
      throw error;
    } finally {
      release();
      underWay.delete(key);
    }
  }

  function remember(key: string, error: UnresolvedNameError): void {
    const nowMs = performance.now();
    for (const [known, { untilMs }] of failures) {
      if (untilMs > nowMs) break;
      failures.delete(known);
    }
    failures.delete(key);
    failures.set(key, { error, untilMs: nowMs + FAILURE_MS });
  }

  async function query(name: string, milliseconds: number): Promise<readonly LookupAddress[]> {
    if (closed || milliseconds < LEAST_MS) throw new UnresolvedNameError({ timedOut: true });
    const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
    if (nameservers) resolver.setServers(nameservers);
    queries.add(resolver);
    const timer = setTimeout(() => resolver.cancel(), Math.ceil(milliseconds));
    try {
      return await queryBoth(resolver, name);
    } finally {
      clearTimeout(timer);
      resolver.cancel(); // the other response is no longer needed
      queries.delete(resolver);
    }
  }

  return {
    async resolve(hostname, merchant) {
      const name = hostname.toLowerCase().replace(/\.$/, "");
      const local = findLocal(name);
      if (local) return local;
      const key = JSON.stringify([merchant, name]);
      const failure = failures.get(key);
      if (failure && failure.untilMs > performance.now()) throw failure.error;
      const lookup = underWay.get(key) ?? lookUp(key, name, merchant);
      underWay.set(key, lookup);
      return lookup;
    },
    close() {
      closed = true;
      for (const resolver of queries) resolver.cancel();
    },
  };
}

export type ResolverOptions = {
  /** Nameservers as `address` or `address:port`; those of the system when undefined. */
  readonly nameservers?: readonly string[] | undefined;
  /** Milliseconds for a lookup, its wait for others of the same merchant included. */
  readonly timeoutMs?: number;
  /** The file that names addresses of the local network. */
  readonly hostsFile?: string;
};

export type NameResolver = {
  /**
   * Resolves with all addresses of a name, IPv4 first.
   * @throws UnresolvedNameError
   */
  resolve(hostname: string, merchant: string): Promise<readonly LookupAddress[]>;
  /** Ends the lookups under way, which reject, and starts no others. */
  close(): void;
};

/** A host name has no address, or the nameserver did not respond in time. */
export class UnresolvedNameError extends Error {
  readonly timedOut: boolean;

  constructor({ timedOut }: { timedOut: boolean }) {
    super(timedOut ? "the host name was not resolved in time" : "the host name does not resolve");
    this.timedOut = timedOut;
  }
}

const TIMEOUT_MS = 5_000;
/** Milliseconds that a nameserver has to respond before the query is repeated; the second time it has twice as long. */
const TRY_MS = 1_500;
const TRIES = 3;
/** Milliseconds to wait for the other family of addresses: longer for IPv4, because many machines can't reach IPv6. */
const OTHER_FAMILY_MS = { 4: 50, 6: 500 } as const;
/** A lookup with less time left than this, in milliseconds, is not begun. */
const LEAST_MS = 20;

/** Lookups of one merchant at the same time; the others wait. */
const PER_MERCHANT = 16;

/** Milliseconds for which a failed lookup is remembered: less than the first step of the retries, which look it up again. */
const FAILURE_MS = 3_000;

/** How long the hosts file is used before it is read again, in milliseconds. */
const HOSTS_MS = 5_000;

const LOOPBACK: readonly LookupAddress[] = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];

/** Asks for the addresses of both families, and waits for the second response only for a moment (RFC 8305, section 3). */
async function queryBoth(resolver: Resolver, name: string): Promise<readonly LookupAddress[]> {
  const found: LookupAddress[] = [];
  const ask = async (family: 4 | 6) => {
    const addresses = await (family === 4 ? resolver.resolve4(name) : resolver.resolve6(name));
    found.push(...addresses.map((address) => ({ address, family })));
    return family;
  };
  const asked = [ask(4), ask(6)];
  const both = Promise.allSettled(asked);
  const enough = Promise.any(asked).then((family) => delay(OTHER_FAMILY_MS[family]));
  await Promise.race([both, enough.catch(() => both)]);
  if (found.length > 0) return found.toSorted((a, b) => a.family - b.family);
  throw new UnresolvedNameError({ timedOut: (await both).some(isTimeout) });
}

function isTimeout(result: PromiseSettledResult<unknown>): boolean {
  return result.status === "rejected" && ["ETIMEOUT", "ECANCELLED"].includes(result.reason?.code);
}

/** One limit for each merchant that has lookups in progress. */
function createLimits(): (merchant: string) => { limit: LimitFunction; release: () => void } {
  const limits = new Map<string, { limit: LimitFunction; users: number }>();
  return (merchant) => {
    const entry = limits.get(merchant) ?? { limit: pLimit(PER_MERCHANT), users: 0 };
    limits.set(merchant, entry);
    entry.users += 1;
    const release = () => {
      entry.users -= 1;
      if (entry.users === 0) limits.delete(merchant);
    };
    return { limit: entry.limit, release };
  };
}

/** Finds the addresses of names that no nameserver knows: those of the hosts file, and this machine's (RFC 6761). */
function createHosts(file: string): (name: string) => readonly LookupAddress[] | undefined {
  let hosts = new Map<string, LookupAddress[]>();
  let readAgainMs = 0;
  return (name) => {
    if (performance.now() >= readAgainMs) {
      hosts = readHosts(file);
      readAgainMs = performance.now() + HOSTS_MS;
    }
    const isLoopback = name === "localhost" || name.endsWith(".localhost");
    // Receivers often listen on one of both alone, whatever the file of hosts says.
    return isLoopback ? LOOPBACK : hosts.get(name);
  };
}

/** Reads the file synchronously, because an asynchronous read might have to wait for threads that look up other names. */
function readHosts(file: string): Map<string, LookupAddress[]> {
  const hosts = new Map<string, LookupAddress[]>();
  for (const line of readText(file).split("\n")) {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    for (const name of names) {
      const known = hosts.get(name.toLowerCase()) ?? [];
      hosts.set(name.toLowerCase(), [...known, { address, family: address.includes(":") ? 6 : 4 }]);
    }
  }
  return hosts;
}

/** Empty on a system without such a file. */
function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
