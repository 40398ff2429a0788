import type { Socket } from "node:net";
import type { buildConnector } from "undici";

/** Of a head; undici refuses larger ones, and says so. */
const MAX_HEAD_BYTES = 32 * 1_024;

/**
 * Connects as `connector` does, and removes from each response what HTTP allows and undici's parser refuses: interim responses
 * before the final one (RFC 9110, 15.2), and a length that is repeated or that chunks make void (RFC 9112, 6.3).
 */
export function readResponseHeads(connector: buildConnector.connector): {
  readonly connect: buildConnector.connector;
  /** Expects the head of the response to the next request on the same connection. */
  expectHead(): void;
} {
  let current: { expectHead(): void } | undefined;
  return {
    expectHead: () => current?.expectHead(),
    connect: (options, callback) =>
      connector(options, (...result) => {
        const [, socket] = result;
        if (socket) current = rewriteHeads(socket);
        callback(...result);
      }),
  };
}

/** Changes the bytes between the socket and its readers, because a stream between them would cost more than a delivery. */
function rewriteHeads(socket: Socket): { expectHead(): void } {
  const push = socket.push.bind(socket);
  let held: Buffer | undefined = Buffer.alloc(0);
  socket.push = (chunk: Buffer | null) => {
    if (held === undefined) return push(chunk);
    if (chunk !== null) held = Buffer.concat([held, chunk]);
    const { rest, complete } = skipInterim(held);
    held = rest;
    if (chunk !== null && !complete) return true;
    const ready = held;
    held = undefined;
    const more = ready.length === 0 || push(complete ? repairLength(ready) : ready);
    return chunk === null ? push(null) : more;
  };
  return {
    expectHead() {
      held = Buffer.alloc(0);
    },
  };
}

/** The bytes after interim responses, and whether they have a whole head, or can't become one. */
function skipInterim(bytes: Buffer): { rest: Buffer; complete: boolean } {
  let rest = bytes;
  for (;;) {
    const text = rest.toString("latin1");
    if (!"HTTP/1.".startsWith(text.slice(0, 7))) return { rest, complete: true };
    const end = /\r?\n\r?\n/.exec(text);
    if (!end) return { rest, complete: rest.length > MAX_HEAD_BYTES };
    // A 101 is final, because no other protocol was requested.
    if (!/^HTTP\/1\.\d 1(?!01)\d\d[ \r\n]/.test(text)) return { rest, complete: true };
    rest = rest.subarray(end.index + end[0].length);
  }
}

const LENGTH_LINES = /\r\ncontent-length:([^\r\n]*)(?=\r\n)/gi;

function repairLength(bytes: Buffer): Buffer {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return bytes;
  const head = bytes.toString("latin1", 0, end + 2);
  const lengths = [...head.matchAll(LENGTH_LINES)].flatMap(([, value = ""]) => value.split(","));
  const isChunked = /\r\ntransfer-encoding:/i.test(head);
  const [length = "", ...others] = new Set(lengths.map((value) => value.trim()));
  if (!isChunked && (lengths.length < 2 || others.length > 0)) return bytes;
  const line = isChunked ? "" : `Content-Length: ${length}\r\n`;
  const repaired = `${head.replace(LENGTH_LINES, "")}${line}`;
  return Buffer.concat([Buffer.from(repaired, "latin1"), bytes.subarray(end + 2)]);
}
