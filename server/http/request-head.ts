import type { IncomingMessage } from "node:http";
import { isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";
import { malformedRequest, ProblemError } from "../contract/problem.ts";

/** A request's head as Node reads it. */
export type RequestHead = Pick<IncomingMessage, "method" | "url" | "httpVersion" | "headers" | "rawHeaders">;

/** Checks the head of a request. Throws a problem. */
export type HeadCheck = (request: RequestHead) => void;

/** A field as nearly every caller writes it. */
const FIELD = /^([\w-]+): ([!-~](?:[ -~]*[!-~])?)$/;
/** Fields that say how the body is sent, or how the connection goes on. */
const HOP_BY_HOP = /^(?:te|trailer|transfer-encoding|expect|upgrade|proxy-connection)$/;
const MAX_HEAD_BYTES = 4_096;

/**
 * Reads the head of a request of exactly these bytes. It reads only the plainest spelling, in which no parser could see another request;
 * undefined: Node has to parse it.
 */
export function readWholeRequest(bytes: Buffer): RequestHead | undefined {
  const end = bytes.subarray(0, MAX_HEAD_BYTES).indexOf("\r\n\r\n");
  const [line = "", ...fields] = bytes.toString("latin1", 0, Math.max(end, 0)).split("\r\n");
  const [, method, url] = /^([A-Z]+) (\/[\w/-]*) HTTP\/1\.1$/.exec(line) ?? [];
  if (method === undefined || url === undefined) return undefined;
  const headers: Record<string, string> = {};
  const rawHeaders: string[] = [];
  for (const field of fields) {
    const [, name = "", value = ""] = FIELD.exec(field) ?? [];
    const key = name.toLowerCase();
    if (!key || key in headers || HOP_BY_HOP.test(key)) return undefined;
    headers[key] = value;
    rawHeaders.push(name, value);
  }
  const { connection = "keep-alive", "content-length": length = "0" } = headers;
  if (connection !== "keep-alive" || !/^\d{1,5}$/.test(length)) return undefined;
  if (bytes.length !== end + 4 + Number(length)) return undefined;
  return { method, url, httpVersion: "1.1", headers, rawHeaders };
}

/** A fragment, and bytes that Express cuts off at the end of a path. */
const NO_TARGET = /[#\t\f\xa0]/;

/** A name or an address, with or without a port (RFC 9110, 7.2). A comma would join two. */
const HOST = /^(?:[\w.~!$&'()*+;=%-]+|\[([\da-f:.]+)\])(?::(\d*))?$/i;
const MAX_PORT = 65_535;

function isHost(text: string): boolean {
  const [whole, address, port = ""] = HOST.exec(text) ?? [];
  return whole !== undefined && (address === undefined || isIPv6(address)) && Number(port) <= MAX_PORT;
}

/** Requires exactly one `Host`, and a target without a fragment, as HTTP/1.1 does (RFC 9112, 3.2), and no HTTP/0.9, which has no head. */
export const checkHost: HeadCheck = ({ rawHeaders, headers, httpVersion, method, url = "" }) => {
  const hosts = countHeaders(rawHeaders, "host");
  if (hosts > 1 || (hosts === 0 && httpVersion !== "1.0")) throw malformedRequest();
  if (hosts === 1 && !isHost(headers.host ?? "")) throw malformedRequest();
  if (NO_TARGET.test(url) || (url === "*" && method !== "OPTIONS")) throw malformedRequest();
};

/** Headers that must not be repeated: the server and a proxy before it might each use another value. */
const ONCE = ["authorization", "content-type"];

/** Requires each of these headers at most once, and no other transfer coding than `chunked`, which would not be decoded. */
export const checkPlainHead: HeadCheck = ({ rawHeaders, headers }) => {
  const repeated = ONCE.find((name) => countHeaders(rawHeaders, name) > 1);
  if (repeated) throw malformedRequest(`has more than one header ${repeated}`);
  const coding = headers["transfer-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "chunked") {
    throw malformedRequest("has a Transfer-Encoding other than chunked");
  }
};

/** @param rawHeaders names and values in turn: in the parsed headers, Node drops repetitions of many of them */
function countHeaders(rawHeaders: readonly string[], name: string): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const header = rawHeaders[index];
    if (header?.length === name.length && header.toLowerCase() === name) count += 1;
  }
  return count;
}

/** Whether an address is one that only this machine reaches, however it is written. */
export function isLoopback(address: string): boolean {
  const plain = address.replace(/^\[(.*)\]$/, "$1");
  return ipaddr.isValid(plain) && ipaddr.process(plain).range() === "loopback";
}

/** Whether a name in a URL or in `Host` is that of this machine, wherever it is read. */
export function isLocalName(name: string): boolean {
  return name.toLowerCase() === "localhost" || isLoopback(name);
}

/**
 * Where only this machine reaches the server, requires that `Host` names this machine. The sandbox's tokens are public knowledge,
 * so a web page could otherwise use them through a name of its own that resolves to 127.0.0.1.
 *
 * @param ownName the host name on which the server was set to listen
 */
export function checkLocalHost(ownName: string, isLocal: () => boolean): HeadCheck {
  const own = ownName.toLowerCase();
  return ({ headers: { host = "" } }) => {
    const name = host.replace(/:\d+$/, "").toLowerCase();
    if (name === own || !isLocal() || isLocalName(name)) return;
    throw new ProblemError("FORBIDDEN", {
      detail:
        "The sandbox accepts requests to this machine only: to localhost, or to an address such as 127.0.0.1 or [::1].",
    });
  };
}
