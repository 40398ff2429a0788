import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { serveLocally } from "../helpers/network/local-server.ts";

/** The faults that a request can meet on its way to the service and back. */
export type Fate = "pass" | "lost-before" | "lost-after" | "cut" | "gateway-page";

export interface LossyProxy extends AsyncDisposable {
  readonly url: string;
  /** How often each fault happened. */
  readonly count: Readonly<Record<Fate, number>>;
}

/**
 * A real HTTP proxy on a port of its own. `choose` gets a number from 0 to 1 that depends only on the seed, the requestKey
 * and how often the key was seen before, so that a run can be repeated whatever else happens concurrently.
 */
export async function startLossyProxy(
  target: string,
  { seed, choose }: { seed: string; choose: (chance: number, attempt: number) => Fate },
): Promise<LossyProxy> {
  const attempts = new Map<string, number>();
  const count: Record<Fate, number> = {
    pass: 0,
    "lost-before": 0,
    "lost-after": 0,
    cut: 0,
    "gateway-page": 0,
  };
  const server = await serveLocally(async (request, response) => {
    const body = await text(request);
    const { requestKey } = JSON.parse(body);
    const attempt = (attempts.get(requestKey) ?? 0) + 1;
    attempts.set(requestKey, attempt);
    const fate = choose(toChance(`${seed} ${requestKey} ${attempt}`), attempt);
    count[fate] += 1;
    if (fate === "lost-before") return void request.socket.destroy();
    await finish(fate, await forward(target, request, body), response);
  });
  return { count, ...server };
}

function toChance(text: string): number {
  return createHash("sha256").update(text).digest().readUInt32BE() / 2 ** 32;
}

async function forward(target: string, { url = "", headers }: IncomingMessage, body: string) {
  const { authorization = "", accept = "" } = headers;
  const response = await fetch(target + url, {
    method: "POST",
    body,
    headers: { authorization, accept, "content-type": "application/json" },
  });
  return {
    status: response.status,
    type: response.headers.get("content-type") ?? "",
    text: await response.text(),
  };
}

type Forwarded = Awaited<ReturnType<typeof forward>>;

/** The service has responded, so its work is done. */
async function finish(
  fate: Fate,
  { status, type, text }: Forwarded,
  response: ServerResponse,
): Promise<void> {
  const { socket } = response;
  if (fate === "gateway-page") {
    response.writeHead(504, { "Content-Type": "text/html" }).end("<html>Gateway Timeout</html>");
  } else if (fate === "pass") {
    response.writeHead(status, { "Content-Type": type }).end(text);
  } else if (fate === "cut") {
    response.writeHead(status, { "Content-Type": type, "Content-Length": Buffer.byteLength(text) });
    response.write(text.slice(0, text.length / 2), () => socket?.destroy());
  } else {
    socket?.destroy();
  }
}
