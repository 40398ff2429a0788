import type { HandlersOf, RequestBody } from "../../contract/operations.ts";
import type { SandboxParts } from "./responses.ts";

type Restrictions = RequestBody<"setRestrictions">;

const REASON = "set in the sandbox";

/** Blocks merchants and holds their refunds, as operators do in production. */
export function createRestrictions({ store, readBlocks, runDue, changes }: SandboxParts) {
  async function read(merchant: string): Promise<Restrictions> {
    const [blocks, holds] = [await store.listBlocks(), await store.listHolds()];
    return {
      blocked: blocks.some(({ kind, name }) => kind === "merchant" && name === merchant),
      held: holds.some((held) => held.merchant === merchant || held.merchant === undefined),
    };
  }

  async function set(merchant: string, { blocked, held }: Restrictions): Promise<void> {
    const named = { kind: "merchant", name: merchant } as const;
    await (blocked ? store.block({ ...named, reason: REASON, until: null }) : store.unblock(named));
    await readBlocks();
    await (held ? store.hold({ merchant, reason: REASON }) : store.release({ merchant }));
    if (!held) await runDue();
    changes.notify(["payments", "webhooks"], merchant);
  }

  const handlers: HandlersOf<"getRestrictions" | "setRestrictions"> = {
    async getRestrictions({ merchant }) {
      return { status: 200, body: await read(merchant) };
    },
    async setRestrictions({ merchant, body }) {
      await set(merchant, body);
      return { status: 200, body: await read(merchant) };
    },
  };
  return { handlers, lift: (merchant: string) => set(merchant, { blocked: false, held: false }) };
}
