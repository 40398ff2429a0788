import { serveLocally } from "./local-server.ts";

/** A port of this machine that is free now. */
export async function findFreePort(): Promise<number> {
  await using probe = await serveLocally();
  return Number(new URL(probe.url).port);
}
