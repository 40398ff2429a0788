import type { IncomingHttpHeaders } from "node:http";
import type { Call, Fault, HttpResponse } from "./faulty-server.ts";

/** A JSON object. */
export type Json = Readonly<Record<string, unknown>>;

/** Planted faults by what such a server does: the check of the conformance kit that must report it, and the fault. */
export type Planted = Readonly<Record<string, readonly [check: string, fault: Fault, options?: Options]>>;
type Options = {
  /** Checks to run in addition to those of the same group: they send the calls whose responses are examined. */
  readonly beside?: string;
  /** Whether what is waited for never comes. */
  readonly silent?: true;
};

export const REFUNDS = "/v1/refunds";
export const SUBSCRIBE = "/v1/webhook/subscribe";

/** The object in a body, or an empty one when the body is not an object. */
export function jsonOf({ body }: { readonly body: Buffer }): Json {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Leaves a body unchanged that is nested too deeply to be serialized. */
export function withJson<Message extends { readonly body: Buffer }>(message: Message, json: Json): Message {
  return message.body.includes("[[[[") ? message : { ...message, body: Buffer.from(JSON.stringify(json)) };
}

export function withHeaders<Message extends { readonly headers: IncomingHttpHeaders }>(
  message: Message,
  headers: IncomingHttpHeaders,
): Message {
  const changed = Object.entries({ ...message.headers, ...headers }).filter(
    ([, value]) => value !== undefined,
  );
  return { ...message, headers: Object.fromEntries(changed) };
}

/** A problem as the correct server would send it. */
export function problem(status: number, errorCode: string): HttpResponse {
  const instance = `urn:uuid:${crypto.randomUUID()}`;
  const errorDetails = { errorCode, errorMessage: "No." };
  const json = {
    type: "urn:problem:planted",
    title: "Planted",
    status,
    detail: "No.",
    instance,
    errorDetails,
  };
  return { status, headers: { "content-type": "application/json" }, body: Buffer.from(JSON.stringify(json)) };
}

/** A fault that changes each response for which the condition is true. */
export function inResponses(
  isMeant: (response: HttpResponse, call: Call) => boolean,
  change: (response: HttpResponse, call: Call) => HttpResponse,
): Fault {
  return async (call, forward) => {
    const response = await forward(call);
    return isMeant(response, call) ? change(response, call) : response;
  };
}

/** A fault that changes calls before the server handles them. */
export function inCalls(isMeant: (call: Call) => boolean, change: (call: Call) => Call): Fault {
  return (call, forward) => forward(isMeant(call) ? change(call) : call);
}

/** Changes the object in a call's body; other bodies pass unchanged. */
export function inBodies(path: string, change: (json: Json) => Json): Fault {
  const isMeant = (call: Call) => call.path === path && Object.keys(jsonOf(call)).length > 0;
  return inCalls(isMeant, (call) => withJson(call, change(jsonOf(call))));
}

export const isRefund = ({ status }: HttpResponse, { path }: Call) => path === REFUNDS && status === 201;
export const isSubscription = ({ status }: HttpResponse, { path }: Call) =>
  path === SUBSCRIBE && status === 200;
export const has = (status: number) => (response: HttpResponse) => response.status === status;

/** Changes the object in a response's body. */
export const rewrite =
  (change: (json: Json, call: Call) => Json) =>
  (response: HttpResponse, call: Call): HttpResponse =>
    withJson(response, change(jsonOf(response), call));

/** A fault that changes the object in the body of each response for which the condition is true. */
export const rewriteIn = (
  isMeant: (response: HttpResponse, call: Call) => boolean,
  change: (json: Json, call: Call) => Json,
): Fault => inResponses(isMeant, rewrite(change));

/** Copies an object without one of its members. */
export function without(json: Json, name: string): Json {
  const { [name]: _, ...rest } = json;
  return rest;
}
