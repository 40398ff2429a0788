import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

/**
 * Makes Node parse in slices what it reads, and stop where the connection has been closed meanwhile: from a whole chunk, Node would
 * make a thousand requests at once.
 */
export function readInSlices(
  socket: Socket,
  heads: Set<Socket>,
  latest: () => IncomingMessage | undefined,
  respond: RespondToBytes = () => false,
) {
  const push = socket.push.bind(socket);
  const isWaiting = () => latest()?.complete === true;
  let unended = 0;
  // Not before the first one: Node waits for that with a time limit.
  let isNew = true;
  let wereWhole = true;
  socket.once("close", () => heads.delete(socket));
  socket.push = (chunk: Buffer | null) => {
    const isFree = chunk !== null && wereWhole && !latest();
    if (isFree && !isNew && respond(socket, chunk)) return true;
    let more = chunk === null && push(chunk);
    for (let at = 0; chunk && at < chunk.length && !socket.destroyed; at += SLICE_BYTES) {
      if (chunk.length - at > MAX_AHEAD_BYTES && isWaiting()) socket.destroy();
      else more = push(chunk.subarray(at, at + SLICE_BYTES));
    }
    isNew = false;
    wereWhole = isFree && isWhole(chunk, latest());
    unended = latest() ? 0 : unended + (chunk?.length ?? 0);
    if (unended <= SLICE_BYTES) heads.delete(socket);
    else heads.add(socket);
    const [oldest] = heads.size > MAX_LONG_HEADS ? heads : [];
    if (oldest && heads.delete(oldest)) oldest.destroy();
    return more;
  };
  socket.on("data", () => {}); // otherwise the bytes go to the parser without the socket
}

/** The bytes of a slice: they hold some ten of the shortest requests. */
const SLICE_BYTES = 512;
/** How many bytes may follow a request that has no response yet; with more, the connection is closed. */
const MAX_AHEAD_BYTES = 8_192;
/** How many connections may have begun a head of more than a slice and not ended it. With more, the oldest is closed, because the newest may be a caller's. */
const MAX_LONG_HEADS = 1_000;

/** Sends a response to a request of exactly these bytes, which Node never sees then; returns false when it is none for it. */
export type RespondToBytes = (socket: Socket, bytes: Buffer) => boolean;

/** Whether the bytes are exactly the request that Node has made of them, so that the next byte begins another one. */
function isWhole(bytes: Buffer, request: IncomingMessage | undefined): boolean {
  if (!request?.complete || request.headers["transfer-encoding"] !== undefined) return false;
  return bytes.length === bytes.indexOf("\r\n\r\n") + 4 + Number(request.headers["content-length"] ?? 0);
}
