/** A server that responds as a test says, request by request. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { serveLocally } from "../helpers/network/local-server.ts";

/** The behaviour of a scripted service towards one request. */
export type Step = (response: ServerResponse, request: IncomingMessage) => void;

export type ScriptedServer = AsyncDisposable & {
  readonly url: string;
  /** The body of each request that came. */
  readonly bodies: readonly string[];
};

/** A server on its own port that uses one step of the script for each request, and the last step for all further ones. */
export async function startScriptedServer(...steps: readonly Step[]): Promise<ScriptedServer> {
  const bodies: string[] = [];
  const server = await serveLocally(async (request, response) => {
    bodies.push(await text(request));
    const step = steps[Math.min(bodies.length, steps.length) - 1];
    step?.(response, request);
  });
  return { bodies, ...server };
}

export const REFUND = { paymentId: "rfd_1", paymentStatus: "AUTHORIZED", clientReferenceId: null };

/** Responds with JSON. */
export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Step {
  return (response) =>
    void response
      .writeHead(status, { "Content-Type": "application/json", ...headers })
      .end(JSON.stringify(body));
}

/** Responds with a problem of the service. */
export function problem(status: number, errorCode: string, headers?: Readonly<Record<string, string>>): Step {
  return json(status, problemBody(status, errorCode), headers);
}

function problemBody(status: number, errorCode: string) {
  return { status, instance: "urn:uuid:5e0f", errorDetails: { errorCode, errorMessage: "Because." } };
}

/** Responds that the requestKey belongs to this refund, of the amount in dollars. */
export function duplicate(
  clientReferenceId: string | null,
  value: number,
  originalPaymentId = "pay_1",
): Step {
  const existing = { ...REFUND, originalPaymentId, amount: { currency: "USD", value }, clientReferenceId };
  return json(409, { ...problemBody(409, "DUPLICATE_REQUEST_KEY"), existing });
}

export const page =
  (status: number): Step =>
  (response) =>
    void response.writeHead(status, { "Content-Type": "text/html" }).end("<html>");

export const hangUp: Step = (_, request) => void request.socket.destroy();

export const staySilent: Step = () => {};

/** Begins a response and never ends it. */
export const stall: Step = (response) =>
  void response.writeHead(201, { "Content-Type": "application/json" }).write("{");
