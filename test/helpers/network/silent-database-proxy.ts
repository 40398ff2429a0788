import { connect, type Socket } from "node:net";
import { listenForSockets } from "./local-server.ts";

/**
 * A proxy in front of a database that can act as if the database did not respond: connections stay open, and nothing
 * arrives.
 */
export type SilentProxy = AsyncDisposable & {
  /** The database's address, by way of the proxy. */
  readonly url: string;
  /** From now on drops all data in both directions, also on new connections. */
  silence(): void;
  /** Cuts every connection there is. */
  cut(): void;
  /** Passes on a caller's data until it has sent this text, and then nothing more of the database's response. */
  silenceAfter(text: string): void;
  /** New connections work again; those that lost something stay silent. */
  speak(): void;
};

export async function startSilentProxy(databaseUrl: string): Promise<SilentProxy> {
  const target = new URL(databaseUrl);
  /** The connections whose bytes are dropped. */
  const dropAll = new Set<Socket>();
  const dropResponses = new Set<Socket>();
  let silent = false;
  let mark = "";

  const proxy = await listenForSockets((caller) => {
    const database = connect(Number(target.port), target.hostname);
    proxy.add(database);
    if (silent) for (const socket of [caller, database]) dropAll.add(socket);
    caller.on("data", (chunk) => {
      if (mark !== "" && chunk.includes(mark)) dropResponses.add(database);
      if (!dropAll.has(caller)) database.write(chunk);
    });
    database.on("data", (chunk) => {
      if (!dropAll.has(database) && !dropResponses.has(database)) caller.write(chunk);
    });
    // A caller that gives up disconnects, but the database may not notice.
    caller.on("close", () => database.destroySoon());
    database.on("close", () => {
      if (!dropAll.has(database) && !dropResponses.has(database)) caller.destroySoon();
    });
  });
  return {
    ...proxy,
    url: Object.assign(new URL(target), { port: `${proxy.port}` }).href,
    silence() {
      silent = true;
      for (const socket of proxy.open) dropAll.add(socket);
    },
    silenceAfter(text) {
      mark = text;
    },
    speak() {
      silent = false;
      mark = "";
    },
  };
}
