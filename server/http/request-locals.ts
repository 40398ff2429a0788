import type { NextFunction, Request, Response } from "express";
import type { Caller } from "../auth/bearer-token.ts";
import type { NumberLiteral } from "../contract/scan-json.ts";
import type { CallerIdentity } from "../domain/caller-identity.ts";
import type { TraceContext } from "../domain/trace-context.ts";
import type { Slot } from "./concurrency-limit.ts";

/** Called when a body has been read, and before the handler. May change the body, throw a problem, or destroy the response. */
export type Intercept = (
  point: "body" | "handler",
  operation: string,
  request: Request,
  response: HttpResponse,
) => void;

/** What the steps of a request store in `response.locals` for later steps. */
export type RequestLocals = {
  /** Left by a program that wraps the app, before the app gets the call. */
  intercept?: Intercept;
  /** The id in the log, and in the `instance` of a problem. */
  requestId: string;
  /** The IP address from which the call came. */
  address: string | null;
  /** The trace to which the call belongs, if it sent one (D33). */
  trace?: TraceContext | undefined;
  /** Taken for every operation on arrival, except while the server drains. */
  slot?: Slot;
  /** Set once the access token is verified. */
  caller?: Caller;
  /** Set once the request counts for the rate limit: gives its token back. */
  uncount?: () => void;
  /** The body as it came, once it is complete. */
  sentBody?: Buffer;
  /** The numbers of the body that are not plain integers, as they are written (D13). */
  literals?: readonly NumberLiteral[];
  /** Milliseconds that the request has waited for the store so far. */
  waitedMs?: number;
  /** The record that the response is about, for the log. */
  paymentId?: unknown;
  /** The status of a refund in the response, for the log. */
  paymentStatus?: unknown;
  /** The code of a problem in the response, for the log. */
  errorCode?: string;
  /** Why the request is refused, for the log only. */
  reason?: string | undefined;
};

/** Express's types with our locals, which it types as `any` otherwise. */
export type HttpResponse = Response<unknown, RequestLocals>;
export type Middleware = (request: Request, response: HttpResponse, next: NextFunction) => unknown;
/** What is done at the beginning of each request, before its steps. */
export type OfRequest = (request: Request, response: HttpResponse) => void;
export type ErrorMiddleware = (
  error: unknown,
  request: Request,
  response: HttpResponse,
  next: NextFunction,
) => unknown;

/** Who made the call, as far as it is known by now. */
export function toIdentity({ caller, address }: RequestLocals): CallerIdentity {
  return {
    subject: caller?.subject ?? null,
    clientId: caller?.clientId ?? null,
    tokenId: caller?.tokenId ?? null,
    address,
  };
}
