/** A DNS server whose answers a test chooses. */
import { createSocket } from "node:dgram";
import type { LookupAddress } from "node:dns";
import { once } from "node:events";
import { isIP } from "node:net";
import {
  AUTHORITATIVE_ANSWER,
  decode,
  encode,
  type Packet,
  streamEncode,
  TRUNCATED_RESPONSE,
} from "dns-packet";
import { UnresolvedNameError } from "../../../server/webhooks/dns-resolver.ts";
import type { Resolve } from "../../../server/webhooks/target-policy.ts";
import { listenForSockets } from "./local-server.ts";

type ResourceRecord = NonNullable<Packet["answers"]>[number];

type Family = "A" | "AAAA";

/**
 * The addresses of a name, or the name for which it is an alias; "silent" when its nameserver never responds, "failed" when it can't
 * find out. They may differ by family.
 */
type Zone = (name: string, family: Family) => readonly string[] | "silent" | "failed" | undefined;

/** A nameserver on this machine, by UDP and TCP. */
export type Nameserver = AsyncDisposable & {
  /** As a resolver takes it. */
  readonly address: string;
  /** The names of the queries so far; a query for each family of addresses. */
  readonly queried: readonly string[];
};

const [SERVFAIL, NXDOMAIN] = [2, 3];
/** A longer response is truncated by UDP. */
const MAX_UDP_BYTES = 512;

/** Starts a nameserver; a name without addresses does not exist. */
export async function startNameserver(zone: Zone): Promise<Nameserver> {
  const queried: string[] = [];

  function respondTo(message: Buffer): Packet | undefined {
    const { id = 0, questions = [] } = decode(message);
    const [{ name, type } = { name: "", type: "A" as const }] = questions;
    queried.push(name);
    const found = zone(name, type as Family); // resolvers request only these families
    if (found === "silent") return undefined;
    const code = found === "failed" ? SERVFAIL : found ? 0 : NXDOMAIN;
    const answers = Array.isArray(found) ? answersTo(name, type as Family) : [];
    return { id, type: "response", flags: AUTHORITATIVE_ANSWER | code, questions, answers };
  }

  function answersTo(name: string, family: Family): ResourceRecord[] {
    const found = zone(name, family);
    return (Array.isArray(found) ? found : []).flatMap((data: string): ResourceRecord[] => {
      if (isIP(data) === 0) return [{ type: "CNAME", name, ttl: 0, data }, ...answersTo(data, family)];
      return (isIP(data) === 6) === (family === "AAAA") ? [{ type: family, name, ttl: 0, data }] : [];
    });
  }

  const udp = createSocket("udp4");
  udp.on("message", (message, { address, port }) => {
    const response = respondTo(message);
    if (!response) return;
    const whole = encode(response);
    const flags = (response.flags ?? 0) | TRUNCATED_RESPONSE;
    udp.send(
      whole.length > MAX_UDP_BYTES ? encode({ ...response, flags, answers: [] }) : whole,
      port,
      address,
    );
  });
  const tcp = await listenForSockets((socket) => {
    let read = Buffer.alloc(0);
    socket.on("data", (chunk) => {
      read = Buffer.concat([read, chunk]);
      // Each message follows its length, in two bytes.
      while (read.length >= 2 && read.length >= 2 + read.readUInt16BE()) {
        const end = 2 + read.readUInt16BE();
        const response = respondTo(read.subarray(2, end));
        if (response) socket.write(streamEncode(response));
        read = read.subarray(end);
      }
    });
  });
  // In this order, because far more ports are in use by TCP.
  udp.bind(tcp.port, "127.0.0.1");
  await once(udp, "listening");
  return {
    address: `127.0.0.1:${tcp.port}`,
    queried,
    async [Symbol.asyncDispose]() {
      udp.close();
      await Promise.all([once(udp, "close"), tcp[Symbol.asyncDispose]()]);
    },
  };
}

/** A resolver with the names and addresses of the test. It sends no queries. */
export function resolverOf(names: Readonly<Record<string, readonly string[]>>): Resolve {
  return async (hostname) => {
    const addresses = names[hostname];
    if (!addresses) throw new UnresolvedNameError({ timedOut: false });
    return addresses.map(toAddress);
  };
}

function toAddress(address: string): LookupAddress {
  return { address, family: address.includes(":") ? 6 : 4 };
}
