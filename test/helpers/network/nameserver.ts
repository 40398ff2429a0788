import { createSocket } from "node:dgram";
import { once } from "node:events";
import { AUTHORITATIVE_ANSWER, decode, encode } from "dns-packet";

/** The IPv4 addresses of a name; "silent" when its nameserver never responds. */
type Zone = (name: string) => readonly string[] | "silent" | undefined;

/** A nameserver on this machine. */
export type Nameserver = AsyncDisposable & {
  /** As a resolver takes it. */
  readonly address: string;
  /** The names of the queries so far; a query for each family of addresses. */
  readonly queried: readonly string[];
};

/** Starts a nameserver; a name without addresses does not exist. */
export async function startNameserver(zone: Zone): Promise<Nameserver> {
  const queried: string[] = [];
  const socket = createSocket("udp4");
  socket.on("message", (message, { address, port }) => {
    const { id = 0, questions = [] } = decode(message);
    const [{ name, type } = { name: "", type: "A" as const }] = questions;
    queried.push(name);
    const addresses = zone(name);
    if (addresses === "silent") return;
    const response = encode({
      id,
      type: "response",
      flags: AUTHORITATIVE_ANSWER | (addresses ? 0 : NXDOMAIN),
      questions,
      answers: (type === "A" ? (addresses ?? []) : []).map((data) => ({ type: "A", name, ttl: 0, data })),
    });
    socket.send(response, port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    address: `127.0.0.1:${socket.address().port}`,
    queried,
    async [Symbol.asyncDispose]() {
      socket.close();
      await once(socket, "close");
    },
  };
}

const NXDOMAIN = 3;
