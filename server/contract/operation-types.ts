import type { operations as sandboxOperations } from "../../openapi/generated/sandbox-types.ts";
import type { operations } from "../../openapi/generated/types.ts";
import type { CallerIdentity } from "../domain/caller-identity.ts";
import type { TimeLimit } from "../domain/time-limit.ts";
import type { TraceContext } from "../domain/trace-context.ts";
import type { PROBLEMS, ProblemCode, ProblemResponse } from "./problem.ts";

/** The operations of the published contract; `on…` are webhooks, which this server sends and does not serve. */
export type PublishedId = Exclude<keyof operations, `on${string}`>;
export type SandboxId = keyof sandboxOperations;
export type OperationId = PublishedId | SandboxId;

type Operation<Id extends OperationId> = Id extends PublishedId
  ? operations[Id]
  : Id extends SandboxId
    ? sandboxOperations[Id]
    : never;
type Json<Message> = Message extends { content: { "application/json": infer Body } } ? Body : undefined;
type Member<Holder, Name extends string> = Holder extends { [Key in Name]?: infer Value }
  ? NonNullable<Value>
  : never;

export type RequestBody<Id extends OperationId> = Json<Member<Operation<Id>, "requestBody">>;

type Responses<Id extends OperationId> = Member<Operation<Id>, "responses">;
type Status<Id extends OperationId> = keyof Responses<Id> & number;
type SuccessStatus<Id extends OperationId> = Extract<Status<Id>, 200 | 201 | 202 | 204>;
type Success<S, Response, Body = Json<Response>> = Response extends {
  content: { "text/event-stream": string };
}
  ? { status: S; stream: EventStream }
  : [Body] extends [undefined]
    ? { status: S; body?: undefined }
    : { status: S; body: Body };
type CodeOfStatus<S> = {
  [Code in ProblemCode]: (typeof PROBLEMS)[Code]["status"] extends S ? Code : never;
}[ProblemCode];

/**
 * A stream of server-sent events. Called once, when its head has been sent: `send` sends the data of an event, and `end` ends the
 * stream. The function that it returns is called when the stream has ended.
 */
export type EventStream = (send: (data: string) => void, end: () => void) => () => void;

/** The responses of a handler: a success, or a problem whose status the contract declares for the operation. */
export type HandlerResponse<Id extends OperationId> =
  | { [S in SuccessStatus<Id>]: Success<S, Responses<Id>[S]> }[SuccessStatus<Id>]
  | ProblemResponse<CodeOfStatus<Status<Id>>>;

/** A request that is valid by the contract, from a caller who may send it. */
export type ValidRequest<Id extends OperationId> = {
  merchant: string;
  caller: CallerIdentity;
  /** The trace to which the call belongs (D33). */
  trace: TraceContext | undefined;
  body: RequestBody<Id>;
  path: Member<Member<Operation<Id>, "parameters">, "path">;
  query: Member<Member<Operation<Id>, "parameters">, "query">;
  /** Expires when the request is refused because it took too long. */
  timeLimit: TimeLimit;
};

/** Serves one operation: load, decide, save, respond. */
export type Handler<Id extends OperationId> = (request: ValidRequest<Id>) => Promise<HandlerResponse<Id>>;

/** One handler for each of these operations, no more and no fewer. */
export type HandlersOf<Ids extends OperationId> = { [Id in Ids]: Handler<Id> };
export type Handlers = HandlersOf<PublishedId>;
