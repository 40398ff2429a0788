import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";

/** A port of this machine that is free now. */
export async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo; // a server that listens on a port has no other kind of address
  probe.close();
  await once(probe, "close");
  return port;
}
