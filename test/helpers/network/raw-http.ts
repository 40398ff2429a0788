/** Sends bytes over TCP as they are, for requests that no HTTP client would send. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A response as it came over the wire; the names of its headers are in lower case. */
export type RawResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body's JSON, or undefined when it is empty. */
  readonly body: unknown;
};

/** A connection on which a test writes arbitrary bytes that `fetch` would not send. */
export type Connection = Disposable & {
  send(bytes: string | Uint8Array): void;
  /** The next response. Rejects when the peer closes before it is complete. */
  response(): Promise<RawResponse>;
  /** Resolves when the peer has closed. */
  readonly closed: Promise<unknown>;
};

/** Connects to a server. */
export async function openConnection(url: string): Promise<Connection> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  // A peer that responds early and closes may reset what is still being sent; the response is what counts.
  socket.on("error", () => {});
  await once(socket, "connect");
  // Not by `once` of node:events, whose promise rejects after a reset, when nobody may be waiting for it.
  const closed = new Promise((resolve) => socket.once("close", resolve));
  const reader = createReader(socket);
  return {
    send: (bytes) => void socket.write(bytes),
    response: reader,
    closed,
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

/** The head of a call to an operation, up to the empty line; `null` leaves a header out. */
export function head(target: string, headers: Readonly<Record<string, string | number | null>> = {}): string {
  const fields = {
    Host: "localhost",
    Authorization: "Bearer sandbox_acme",
    "Content-Type": "application/json",
    Accept: "application/json",
    ...headers,
  };
  const lines = Object.entries(fields).flatMap(([name, value]) =>
    value === null ? [] : `${name}: ${value}`,
  );
  return [`${target.includes(" ") ? target : `POST ${target}`} HTTP/1.1`, ...lines, "", ""].join("\r\n");
}

/** Sends bytes on a connection of their own and resolves with the response. */
export async function exchange(
  url: string,
  ...pieces: readonly (string | Uint8Array)[]
): Promise<RawResponse> {
  using connection = await openConnection(url);
  for (const piece of pieces) connection.send(piece);
  return await connection.response(); // the connection may close only after that
}

function createReader(socket: Socket): () => Promise<RawResponse> {
  let received = Buffer.alloc(0);
  let ended = false;
  socket.on("data", (bytes) => {
    received = Buffer.concat([received, bytes]);
  });
  socket.on("close", () => {
    ended = true;
  });
  return async () => {
    for (;;) {
      const parsed = parseResponse(received);
      if (parsed) {
        received = received.subarray(parsed.length);
        return parsed.response;
      }
      if (ended) throw new Error(`closed without a response, after: ${received}`);
      await Promise.race([once(socket, "data"), once(socket, "close")]);
    }
  };
}

function parseResponse(received: Buffer): { response: RawResponse; length: number } | undefined {
  const headEnd = received.indexOf("\r\n\r\n");
  if (headEnd === -1) return undefined;
  const [statusLine = "", ...lines] = received.subarray(0, headEnd).toString("latin1").split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const length = headEnd + 4 + Number(headers["content-length"] ?? 0);
  if (received.length < length) return undefined;
  const text = received.subarray(headEnd + 4, length).toString("utf8");
  const response = {
    status: Number(statusLine.split(" ")[1]),
    headers,
    body: text ? JSON.parse(text) : undefined,
  };
  return { response, length };
}
