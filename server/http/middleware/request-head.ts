import type { IncomingMessage } from "node:http";
import { malformedRequest, ProblemError } from "../../contract/problem.ts";
import type { Middleware } from "./request-locals.ts";

/** Checks the head of a request. Throws a problem. */
export type HeadCheck = (request: IncomingMessage) => void;

/** Makes these checks before anything else of a request is looked at. */
export function requireHead(checks: readonly HeadCheck[]): Middleware {
  return (request, _response, next) => {
    for (const check of checks) check(request);
    next();
  };
}

/** A fragment, and bytes that Express cuts off at the end of a path. */
const NO_TARGET = /[#\t\f\xa0]/;

/** Requires exactly one `Host`, and a target without a fragment, as HTTP/1.1 does (RFC 9112, 3.2). */
export const checkHost: HeadCheck = ({ rawHeaders, httpVersion, url = "" }) => {
  const hosts = countHeaders(rawHeaders, "host");
  if (hosts > 1 || (hosts === 0 && httpVersion === "1.1")) throw malformedRequest();
  if (NO_TARGET.test(url)) throw malformedRequest();
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

/** Whether only this machine reaches a server that listens there. */
export function isLoopback(host: string): boolean {
  return ["127.0.0.1", "localhost", "::1"].includes(host);
}

const LOCAL_NAMES = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/i;

/**
 * Serves a request only under a name of this machine. The sandbox's tokens are public knowledge, so a web page could
 * otherwise use them through a name of its own that it points at 127.0.0.1.
 */
export const checkLocalHost: HeadCheck = ({ headers }) => {
  if (!LOCAL_NAMES.test(headers.host ?? "")) {
    throw new ProblemError("FORBIDDEN", {
      detail: "The sandbox accepts requests to 127.0.0.1, localhost and [::1] only. Use one of these names.",
    });
  }
};
