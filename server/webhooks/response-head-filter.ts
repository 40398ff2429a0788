import type { Socket } from "node:net";
import { type buildConnector, errors } from "undici";

/**
 * Connects as `connector` does, and removes from each response what HTTP allows and undici's parser refuses: interim responses
 * before the final one (RFC 9110, 15.2), and a length that is repeated or that chunks make void (RFC 9112, 6.3).
 */
export function readResponseHeads(connector: buildConnector.connector): {
  readonly connect: buildConnector.connector;
  /** Expects the head of the response to the next request on the same connection. */
  expectHead(): void;
  /** The parser has read the head, and a body may follow. */
  endHead(): void;
} {
  let current: ReturnType<typeof rewriteHeads> | undefined;
  return {
    endHead: () => current?.endHead(),
    expectHead: () => current?.expectHead(),
    connect: (options, callback) =>
      connector(options, (...result) => {
        const [, socket] = result;
        if (socket) current = rewriteHeads(socket);
        callback(...result);
      }),
  };
}

/** Of a head. A larger one must not reach undici, which makes an error for each further line, and nothing else meanwhile. */
const MAX_HEAD_BYTES = 16 * 1_024;
/** Of all that comes before the body, such as interim responses; several chunks may arrive before the parser has read a head. */
const MAX_BYTES = 256 * 1_024;
const MAX_INTERIM = 16;

/** Changes the bytes between the socket and its readers, because a stream between them would cost more than a delivery. */
function rewriteHeads(socket: Socket) {
  const push = socket.push.bind(socket);
  // What has arrived of a head; undefined once it is passed on, and with it all that follows.
  let held: Buffer | undefined = Buffer.alloc(0);
  let [bytes, interim] = [0, 0];
  const refuse = () => {
    socket.destroy(new errors.HeadersOverflowError());
    return false;
  };
  socket.push = (chunk: Buffer | null) => {
    bytes += chunk?.length ?? 0;
    if (bytes > MAX_BYTES || interim > MAX_INTERIM) return refuse();
    if (held === undefined) return push(chunk);
    if (chunk !== null) held = Buffer.concat([held, chunk]);
    const { rest, complete, skipped, headBytes = 0 } = skipInterim(held);
    if (headBytes > MAX_HEAD_BYTES) return refuse();
    interim += skipped;
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
      [bytes, interim] = [0, 0];
    },
    endHead() {
      bytes = Number.NEGATIVE_INFINITY; // a body may have any size
    },
  };
}

/** The bytes after interim responses, and whether they have a whole head, or can't become one. */
function skipInterim(bytes: Buffer): {
  rest: Buffer;
  complete: boolean;
  skipped: number;
  headBytes?: number;
} {
  let rest = bytes;
  for (let skipped = 0; ; skipped += 1) {
    if (skipped > MAX_INTERIM) return { rest, complete: false, skipped };
    const text = rest.toString("latin1");
    if (!"HTTP/1.".startsWith(text.slice(0, 7))) return { rest, complete: true, skipped };
    const end = /\r?\n\r?\n/.exec(text);
    const headBytes = end?.index ?? rest.length;
    if (!end) return { rest, complete: false, skipped, headBytes };
    // A 101 is final, because no other protocol was requested.
    if (!/^HTTP\/1\.\d 1(?!01)\d\d[ \r\n]/.test(text)) return { rest, complete: true, skipped, headBytes };
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
