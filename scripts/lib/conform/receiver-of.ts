import type { Kit } from "./kit.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

/** The receiver of a run; undefined when the service can't reach this machine. */
export function receiverOf(kit: Kit): Promise<Receiver | undefined> {
  return kit.share("receiver", async () => {
    if (kit.options.receiver === undefined) return undefined;
    const receiver = await startReceiver(kit.options);
    kit.onClose(() => receiver.close());
    return receiver;
  });
}
