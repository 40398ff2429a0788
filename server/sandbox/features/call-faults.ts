import type { ServerResponse } from "node:http";
import { ProblemError, unavailable } from "../../contract/problem.ts";
import type { HttpResponse, Middleware } from "../../http/request-locals.ts";
import type { FaultList } from "./fault-list.ts";
import type { FaultKind, FaultPlan } from "./fault-settings.ts";

/** Makes calls go wrong as the armed faults say: refuses them, delays or cuts the response, or closes the connection. */
export function createCallFaults(list: Pick<FaultList, "take">): CallFaults {
  const plans = new WeakMap<ServerResponse, FaultPlan>();

  return {
    kindOf: (response) => plans.get(response)?.kind ?? null,

    onWire(_request, response, next) {
      const { write, end } = response;
      const endWithFault = (...args: unknown[]) => {
        const plan = plans.get(response);
        const send = () => Reflect.apply(end, response, args);
        if (plan?.kind === "CLOSED_AFTER") response.destroy();
        else if (plan?.kind === "SLOW") delay(response, plan.delayMs ?? 0, send);
        else if (plan?.kind === "TRUNCATED") {
          const bytes = Buffer.from(args[0] instanceof Uint8Array ? args[0] : String(args[0] ?? ""));
          response.setHeader("Content-Length", bytes.length);
          Reflect.apply(write, response, [bytes.subarray(0, Math.floor(bytes.length / 2))]);
          response.socket?.destroySoon();
        } else if (plan?.kind === "BAD_GATEWAY") {
          // A proxy knows nothing of the headers that the server would have sent.
          for (const name of response.getHeaderNames()) response.removeHeader(name);
          response.writeHead(502, { "Content-Type": "text/html", "Content-Length": PROXY_PAGE.length });
          Reflect.apply(end, response, [PROXY_PAGE]);
        } else send();
        return response;
      };
      Object.assign(response, { end: endWithFault });
      next();
    },

    beforeHandler: (operation) => (request, response, next) => {
      const { caller, requestId } = response.locals;
      const requestKey = request.body?.requestKey;
      const taken = caller && list.take({ merchant: caller.merchant, operation, requestKey, requestId });
      if (!taken) return next();
      const { plan, note } = taken;
      plans.set(response, plan);
      response.once("close", () => note(response.headersSent ? response.statusCode : null));
      refuse(plan, response);
      if (!response.destroyed) next();
    },
  };
}

const PROXY_PAGE = "<html><body><h1>502 Bad Gateway</h1></body></html>\r\n";

export type CallFaults = {
  /** Placed before the response guard, because a broken connection is no response that the contract could allow. */
  onWire: Middleware;
  /** The last step before an operation's handler: the request is valid, and nothing has been done. */
  beforeHandler: (operation: string) => Middleware;
  /** The kind of the fault that happened to a call. */
  kindOf: (response: HttpResponse) => FaultKind | null;
};

/** Ends the calls that the fault keeps from the handler; the others go on. */
function refuse({ kind, retryAfter }: FaultPlan, response: HttpResponse): void {
  const reason = `fault ${kind}`;
  // On the wire, a proxy's page replaces the refusal.
  if (kind === "UNAVAILABLE" || kind === "BAD_GATEWAY") throw unavailable(undefined, reason, retryAfter ?? 0);
  if (kind === "RATE_LIMITED")
    throw new ProblemError("RATE_LIMITED", { headers: { "Retry-After": `${retryAfter}` }, reason });
  if (kind === "INTERNAL_ERROR" || kind === "REFUNDS_HELD") throw new ProblemError(kind, { reason });
  if (kind !== "CLOSED_BEFORE") return;
  response.socket?.resetAndDestroy(); // as some proxies do
  response.destroy();
}

function delay(response: ServerResponse, milliseconds: number, send: () => void): void {
  const timer = setTimeout(send, milliseconds);
  response.once("close", () => clearTimeout(timer));
}
