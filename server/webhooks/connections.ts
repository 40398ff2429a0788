import type { Client } from "undici";

/** Connections to receivers that are free for a next delivery, by origin. */
export type Connections = {
  /** One that was kept, if there is one; the caller now has it to itself. */
  take(origin: string): Client | undefined;
  /** Keeps a connection for the next delivery, until its receiver or `IDLE_MS` ends it. */
  keep(origin: string, client: Client): void;
  /** Ends all that are kept. */
  close(): Promise<void>;
};

/** How long a connection without a delivery stays open, in milliseconds: less than receivers close theirs after. */
export const IDLE_MS = 1_000;

/** So that a name is resolved and vetted again now and then, also for a receiver that is never left alone. */
const MAX_DELIVERIES = 100;

export function createConnections(): Connections {
  const idle = new Map<string, Client[]>();
  const deliveries = new WeakMap<Client, number>();

  function remove(origin: string, client: Client): void {
    const left = (idle.get(origin) ?? []).filter((other) => other !== client);
    if (left.length > 0) idle.set(origin, left);
    else idle.delete(origin);
  }

  return {
    take(origin) {
      const client = idle.get(origin)?.at(-1);
      if (client) remove(origin, client);
      return client;
    },
    keep(origin, client) {
      const used = (deliveries.get(client) ?? 0) + 1;
      deliveries.set(client, used);
      if (used >= MAX_DELIVERIES || client.destroyed) {
        client.destroy().catch(() => {});
        return;
      }
      idle.set(origin, [...(idle.get(origin) ?? []), client]);
      if (used > 1) return;
      client.on("disconnect", () => {
        remove(origin, client);
        client.destroy().catch(() => {});
      });
    },
    async close() {
      const clients = [...idle.values()].flat();
      idle.clear();
      await Promise.all(clients.map((client) => client.destroy()));
    },
  };
}
