import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

/** The bytes of a slice: they hold some ten of the shortest requests. */
const SLICE_BYTES = 512;
/** How many bytes may follow a request that has no response yet; with more, the connection is closed. */
const MAX_AHEAD_BYTES = 8_192;
/** How many connections may have begun a head of more than a slice and not ended it. With more, the oldest is closed, because the newest may be a caller's. */
const MAX_LONG_HEADS = 1_000;

/**
 * Makes Node parse in slices what it reads, and stop where the connection has been closed meanwhile: from a whole chunk, Node would
 * make a thousand requests at once.
 */
export function readInSlices(socket: Socket, heads: Set<Socket>, latest: () => IncomingMessage | undefined) {
  const push = socket.push.bind(socket);
  const isWaiting = () => latest()?.complete === true;
  let unended = 0;
  socket.once("close", () => heads.delete(socket));
  socket.push = (chunk: Buffer | null) => {
    let more = chunk === null && push(chunk);
    for (let at = 0; chunk && at < chunk.length && !socket.destroyed; at += SLICE_BYTES) {
      if (chunk.length - at > MAX_AHEAD_BYTES && isWaiting()) socket.destroy();
      else more = push(chunk.subarray(at, at + SLICE_BYTES));
    }
    unended = latest() ? 0 : unended + (chunk?.length ?? 0);
    if (unended <= SLICE_BYTES) heads.delete(socket);
    else heads.add(socket);
    const [oldest] = heads.size > MAX_LONG_HEADS ? heads : [];
    if (oldest && heads.delete(oldest)) oldest.destroy();
    return more;
  };
  socket.on("data", () => {}); // otherwise the bytes go to the parser without the socket
}
