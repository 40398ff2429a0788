import { pino } from "pino";
import { expect, onTestFinished, test, vi } from "vitest";
import { startBlocks } from "../../../server/auth/blocks.ts";
import type { Block } from "../../../server/storage/blocks.ts";

test("a block that no notification has announced is in force within a second", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const stored: Block[] = [];
  const connection = { executeSql: vi.fn(), listen: async () => ({ close: async () => {} }) };
  const blocks = await startBlocks({
    database: { embedded: false, connection },
    store: { listBlocks: async () => stored },
    realNow: () => new Date(),
    logger: pino({ enabled: false }),
  });
  onTestFinished(blocks.stop);
  const acme = { merchant: "acme", scopes: [] };
  blocks.refuse(acme);

  stored.push({ kind: "merchant", name: "acme", reason: "stolen", blockedAt: new Date(), until: null });
  await vi.advanceTimersByTimeAsync(1_000);

  expect(() => blocks.refuse(acme)).toThrow(
    expect.objectContaining({ problem: expect.objectContaining({ code: "UNAUTHORIZED" }) }),
  );
});
