/** Builds faults for the faulty server: changes of a request before the real server gets it, or of its response. */
import type { IncomingHttpHeaders } from "node:http";
import { isNode, type Node } from "../../../openapi/document/document-node.ts";
import { parseBody } from "../../reporting/exchange.ts";
import type { Call, Fault, HttpResponse } from "./faulty-server.ts";

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
export function jsonOf({ body }: { readonly body: Buffer }): Node {
  const value = parseBody(body.toString("utf8"));
  return isNode(value) ? value : {};
}

/** Leaves a body unchanged that is nested too deeply to be serialized. */
export function withJson<Message extends { readonly body: Buffer }>(message: Message, json: Node): Message {
  return message.body.includes("[[[[") ? message : { ...message, body: Buffer.from(JSON.stringify(json)) };
}

/** Changes headers of a message; undefined removes one. */
export const withHeaders =
  (headers: IncomingHttpHeaders) =>
  <Message extends { readonly headers: IncomingHttpHeaders }>(message: Message): Message => {
    const entries = Object.entries({ ...message.headers, ...headers });
    return { ...message, headers: Object.fromEntries(entries.filter(([, value]) => value !== undefined)) };
  };

/** A problem as the correct server would send it. */
export function problem(status: number, errorCode: string): HttpResponse {
  const json = {
    ...{ type: "/problems/planted", title: "Planted", status, detail: "No." },
    instance: `urn:uuid:${crypto.randomUUID()}`,
    errorDetails: { errorCode, errorMessage: "No." },
  };
  return { status, headers: { "content-type": "application/json" }, body: Buffer.from(JSON.stringify(json)) };
}

/** A fault that changes each response for which the condition is true. */
export function inResponses(
  isMeant: IsMeant,
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

/** Changes a text in the object of a call's body; other bodies pass unchanged. */
export function inMember(path: string, name: string, change: (text: string) => string): Fault {
  const isMeant = (call: Call) => call.path === path && typeof jsonOf(call)[name] === "string";
  return inCalls(isMeant, (call) => {
    const json = jsonOf(call);
    return withJson(call, { ...json, [name]: change(String(json[name])) });
  });
}

type IsMeant = (response: HttpResponse, call: Call) => boolean;

export const isRefund: IsMeant = ({ status }, { path }) => path === REFUNDS && status === 201;
export const isSubscription: IsMeant = ({ status }, { path }) => path === SUBSCRIBE && status === 200;
export const isProblem: IsMeant = ({ status }) => status >= 400;
export const has =
  (status: number): IsMeant =>
  (response) =>
    response.status === status;

/** A fault that changes the object in the body of each response for which the condition is true. */
export const rewriteIn = (isMeant: IsMeant, change: (json: Node, call: Call) => Node): Fault =>
  inResponses(isMeant, (response, call) => withJson(response, change(jsonOf(response), call)));

/** Changes each violation of a problem. */
export const inViolations =
  (change: (violation: Node) => Node) =>
  ({ violations, ...json }: Node): Node => ({
    ...json,
    violations: Array.isArray(violations) ? violations.map(change) : violations,
  });

/** Copies an object without one of its members. */
export const without =
  (name: string) =>
  ({ [name]: _, ...rest }: Node): Node =>
    rest;
