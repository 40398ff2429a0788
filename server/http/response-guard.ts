import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Logger } from "pino";
import {
  EVENT_STREAM,
  type FindResponseValidator,
  type WireResponse,
} from "../contract/validate-response.ts";
import type { OfRequest } from "./request-locals.ts";
import { sendProblem } from "./send-response.ts";

/**
 * Replaces every response of an operation that the contract does not allow by `INTERNAL_ERROR`, and logs it as a defect of
 * the server. The guard works on the bytes that are about to be sent, so it sees every response, however it is sent.
 */
export function guardResponses(findValidator: FindResponseValidator, logger: Logger): OfRequest {
  return (request, response) => {
    const validate = findValidator(request.method, request.path);
    if (!validate) return;
    interceptResponse(response, (wire) => {
      const errors = validate(wire);
      if (errors.length === 0) return true;
      const { requestId } = response.locals;
      logger.error(
        { requestId, status: wire.status, errors },
        "replaced a response that the contract does not allow",
      );
      for (const name of response.getHeaderNames()) {
        if (OF_THE_RESPONSE.test(name)) response.removeHeader(name);
      }
      sendProblem(request, response, { code: "INTERNAL_ERROR" });
      return false;
    });
  };
}

/** Headers that describe the response which is replaced; all others stay. */
const OF_THE_RESPONSE = /^(content-|transfer-encoding|location|retry-after|www-authenticate|allow|trailer)/;

type Chunk = string | Uint8Array;

/** Collects a response. It is sent when `decide` returns true; otherwise `decide` has sent another one. */
function interceptResponse(response: ServerResponse, decide: (wire: WireResponse) => boolean): void {
  const { writeHead, flushHeaders, write, end } = response;
  const chunks: Buffer[] = [];
  const collect = (chunk: unknown, encoding: unknown) => {
    if (typeof chunk === "string") chunks.push(Buffer.from(chunk, toEncoding(encoding)));
    else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
  };

  /** Stops collecting: from now on the response is sent as usual. */
  const decideOn = (text: string) => {
    Object.assign(response, { writeHead, flushHeaders, write, end });
    const header = (name: string) => toText(response.getHeader(name));
    return decide({ status: response.statusCode, header, text });
  };

  const collecting = {
    writeHead(status: number, ...rest: unknown[]) {
      response.statusCode = status;
      const headers = rest.pop();
      if (typeof headers === "object" && headers !== null) setHeaders(response, headers as Headers);
      // A stream has no end to wait for: only its head is validated, and the contract says nothing about the rest.
      if (toText(response.getHeader("content-type")) === EVENT_STREAM && decideOn(""))
        response.writeHead(status);
      return response;
    },
    // Node would send the head here, before the body has been validated.
    flushHeaders() {},
    write(chunk: Chunk, ...rest: unknown[]) {
      collect(chunk, rest[0]);
      callLast(rest);
      return true;
    },
    end(...rest: unknown[]) {
      const [only, encoding] = rest;
      if (typeof only === "string" && toEncoding(encoding) === "utf8" && chunks.length === 0) {
        if (decideOn(only)) response.end(only); // Node sends a string together with the head
      } else {
        collect(only, encoding);
        const bytes = Buffer.concat(chunks);
        if (decideOn(bytes.toString())) response.end(bytes);
      }
      callLast(rest);
      return response;
    },
  };
  Object.assign(response, collecting);
}

type Headers = OutgoingHttpHeaders | readonly OutgoingHttpHeader[];

/** Takes headers as `writeHead` does: as an object, or as names and values in turn. */
function setHeaders(response: ServerResponse, headers: Headers): void {
  if (!Array.isArray(headers)) {
    for (const [name, value] of Object.entries(headers))
      if (value !== undefined) response.setHeader(name, value);
    return;
  }
  for (let index = 0; index + 1 < headers.length; index += 2)
    response.setHeader(String(headers[index]), headers[index + 1]);
}

function toEncoding(encoding: unknown): BufferEncoding {
  return typeof encoding === "string" && Buffer.isEncoding(encoding) ? encoding : "utf8";
}

function toText(value: OutgoingHttpHeader | undefined): string | undefined {
  return Array.isArray(value) ? value.join(", ") : value?.toString();
}

/** Calls the callback that Node accepts as the last of optional arguments. */
function callLast(values: readonly unknown[]): void {
  const last = values.at(-1);
  if (typeof last === "function") queueMicrotask(() => last());
}
