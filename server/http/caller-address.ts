import type { IncomingMessage } from "node:http";
import ipaddr from "ipaddr.js";

/** Finds the IP address from which a call came; null when its connection is gone already. */
export type FindAddress = (request: Pick<IncomingMessage, "headers" | "socket">) => string | null;

/**
 * The last address in a header that a trusted proxy sets: the proxy itself has seen that one, while callers can send any before it.
 * Without a header, or without an address in it, the other end of the connection.
 *
 * @param headerName in lower case; undefined: no proxy is trusted
 */
export function findCallerAddress(headerName: string | undefined): FindAddress {
  return ({ headers, socket }) => {
    const header = headerName === undefined ? undefined : headers[headerName];
    const forwarded =
      typeof header === "string" ? toAddress(header.slice(header.lastIndexOf(",") + 1)) : null;
    if (forwarded !== null) return forwarded;
    const address = (socket.remoteAddress ?? "").replace(/^::ffff:/, "");
    // Node writes IPv4 in its shortest form.
    return address.includes(":") ? toAddress(address) : address || null;
  };
}

/** In its shortest form; an IPv4 address that is mapped to IPv6 becomes IPv4. */
function toAddress(text: string): string | null {
  const address = text.trim();
  const isAddress = ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address);
  return isAddress ? ipaddr.process(address).toString() : null;
}
