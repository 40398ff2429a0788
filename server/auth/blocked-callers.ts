import type { Logger } from "pino";
import { repeat } from "../async/repeat.ts";
import { ProblemError, unavailable } from "../contract/problem.ts";
import { BLOCKS_CHANNEL, type Block, type Blocked } from "../storage/blocks-table.ts";
import type { Database } from "../storage/database/database.ts";
import { type Caller, REFUSED_TOKEN_HEADERS } from "./bearer-token.ts";

/**
 * Keeps the blocks in memory, because every call is checked against them. They are read before this resolves, after each
 * notification, whenever this server begins to listen, and every second. Rejects when they can't be read at first.
 */
export async function startBlocks(parts: BlocksParts): Promise<Blocks> {
  const { database, store, realNow, logger } = parts;
  const { everyMs, maxAgeMs } = { ...DEFAULTS, ...parts.settings };
  let blocks = new Map<string, Block>();
  let readAtMs = 0;

  async function read(): Promise<void> {
    const startedAtMs = performance.now();
    const list = await store.listBlocks();
    blocks = new Map(list.map((block) => [toKey(block), block]));
    readAtMs = startedAtMs;
  }
  await read();
  const reading = repeat(read, { name: "reading the blocks", everyMs, logger });
  const readAgain = () => void reading.run().catch(() => {}); // the next one, within a second, logs the error
  const listening = await database.connection.listen(BLOCKS_CHANNEL, readAgain, readAgain);

  /** Only this process uses the embedded store, so that it is notified of every change. */
  const isOld = () => !database.embedded && performance.now() - readAtMs > maxAgeMs;
  const isBlocked = (blocked: Blocked) => {
    const until = blocks.get(toKey(blocked))?.until;
    return until === null || (until !== undefined && until > realNow());
  };
  return {
    refuse(caller) {
      if (isOld()) throw unavailable(undefined, UNKNOWN);
      if (blocks.size === 0) return;
      const blocked = toNames(caller).find(isBlocked);
      if (!blocked) return;
      const reason = `the ${blocked.kind} is blocked`;
      throw new ProblemError("UNAUTHORIZED", { headers: REFUSED_TOKEN_HEADERS, reason });
    },
    read: reading.run,
    async check() {
      if (isOld()) throw new Error(UNKNOWN);
    },
    async stop() {
      await listening.close();
      await reading.stop();
    },
  };
}

/** The operators' blocks, as this server read them last. */
export type Blocks = {
  /** Throws `UNAUTHORIZED` for a blocked caller, and `UNAVAILABLE` while this server can't read the blocks. */
  refuse(caller: Caller): void;
  /** Resolves when this server applies every change that was made before the call. */
  read(): Promise<void>;
  /** Rejects while this server can't read the blocks. */
  check(): Promise<void>;
  stop(): Promise<void>;
};

/** Times in milliseconds of real time. */
export type BlocksSettings = {
  /** How often the blocks are read without a notification, because a connection can be lost without a sign. */
  readonly everyMs: number;
  /** When the last reading is older than this, callers get 503, because it may be wrong. */
  readonly maxAgeMs: number;
};

const DEFAULTS: BlocksSettings = { everyMs: 1_000, maxAgeMs: 10_000 };

export type BlocksParts = {
  database: Pick<Database, "embedded" | "connection">;
  store: { listBlocks(): Promise<readonly Block[]> };
  /** Real time. */
  realNow: () => Date;
  logger: Logger;
  settings?: Partial<BlocksSettings> | undefined;
};

const UNKNOWN = "the blocks have not been read for too long";

function toNames({ merchant, clientId, tokenId }: Caller): Blocked[] {
  const names: Blocked[] = [{ kind: "merchant", name: merchant }];
  if (clientId !== undefined) names.push({ kind: "client", name: clientId });
  if (tokenId !== undefined) names.push({ kind: "token", name: tokenId });
  return names;
}

function toKey({ kind, name }: Blocked): string {
  return `${kind} ${name}`;
}
