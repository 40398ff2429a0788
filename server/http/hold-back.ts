import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Answer } from "./answer-check.ts";

type Chunk = string | Uint8Array;

/**
 * Collects an answer instead of sending it. When it has ended, `decide` sees it whole: it goes out as it is when that
 * returns true; otherwise `decide` has sent another one in its place.
 */
export function holdBack(response: ServerResponse, decide: (answer: Answer) => boolean): void {
  const { writeHead, flushHeaders, write, end } = response;
  const chunks: Buffer[] = [];
  const collect = (chunk: unknown, encoding: unknown) => {
    if (typeof chunk === "string") chunks.push(Buffer.from(chunk, toEncoding(encoding)));
    else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
  };

  const held = {
    writeHead(status: number, ...rest: unknown[]) {
      response.statusCode = status;
      const headers = rest.pop();
      if (typeof headers === "object" && headers !== null) setHeaders(response, headers as Headers);
      return response;
    },
    // Would send the head before the body is known.
    flushHeaders() {},
    write(chunk: Chunk, ...rest: unknown[]) {
      collect(chunk, rest[0]);
      callLast(rest);
      return true;
    },
    end(...rest: unknown[]) {
      collect(rest[0], rest[1]);
      Object.assign(response, { writeHead, flushHeaders, write, end });
      const bytes = Buffer.concat(chunks);
      const header = (name: string) => toText(response.getHeader(name));
      if (decide({ status: response.statusCode, header, bytes })) response.end(bytes);
      callLast(rest);
      return response;
    },
  };
  Object.assign(response, held);
}

type Headers = OutgoingHttpHeaders | readonly OutgoingHttpHeader[];

/** As `writeHead` takes them: an object, or names and values in turn. */
function setHeaders(response: ServerResponse, headers: Headers): void {
  if (!Array.isArray(headers)) {
    for (const [name, value] of Object.entries(headers))
      if (value !== undefined) response.setHeader(name, value);
    return;
  }
  for (let index = 0; index + 1 < headers.length; index += 2) {
    response.setHeader(String(headers[index]), headers[index + 1]);
  }
}

function toEncoding(encoding: unknown): BufferEncoding {
  return typeof encoding === "string" && Buffer.isEncoding(encoding) ? encoding : "utf8";
}

function toText(value: OutgoingHttpHeader | undefined): string | undefined {
  return Array.isArray(value) ? value.join(", ") : value?.toString();
}

/** The callback that Node takes as the last of optional arguments. */
function callLast(values: readonly unknown[]): void {
  const last = values.at(-1);
  if (typeof last === "function") queueMicrotask(() => last());
}
