import { CheckFailure, type Exchange } from "../../reporting/exchange.ts";

/** Fails unless the receiver has taken a delivery; `because` says why it has to. */
export function expectTaken({ sent, received }: Exchange, because: string): void {
  const { status } = received;
  if (status >= 200 && status < 300) return;
  const hint = status === 400 || status === 401 ? "; if all are refused, is --secret the receiver's?" : "";
  throw new CheckFailure(`a 2xx, because ${because}${hint}`, { sent, received });
}

/** Fails unless the receiver has refused a delivery; `because` says why it has to. */
export function expectRefused({ sent, received }: Exchange, because: string): void {
  if (received.status >= 400 && received.status < 500) return;
  throw new CheckFailure(`a 4xx, because ${because}`, { sent, received });
}
