import type { operations as sandboxOperations } from "../../openapi/generated/sandbox-types.ts";
import type { operations } from "../../openapi/generated/types.ts";
import type { PROBLEMS, ProblemCode, ProblemReply } from "./problem.ts";

/** The operations of the published contract; `on…` are webhooks, which this server sends and does not serve. */
export type PublishedId = Exclude<keyof operations, `on${string}`>;
/** The operations of the sandbox contract. */
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

/** The body of a request, as the contract types it. */
export type RequestBody<Id extends OperationId> = Json<Member<Operation<Id>, "requestBody">>;

type Responses<Id extends OperationId> = Member<Operation<Id>, "responses">;
type Status<Id extends OperationId> = keyof Responses<Id> & number;
type SuccessStatus<Id extends OperationId> = Extract<Status<Id>, 200 | 201 | 202 | 204>;
type Success<S, Body> = [Body] extends [undefined]
  ? { status: S; body?: undefined }
  : { status: S; body: Body };
type CodeOfStatus<S> = {
  [Code in ProblemCode]: (typeof PROBLEMS)[Code]["status"] extends S ? Code : never;
}[ProblemCode];

/** What a handler may answer: a success or a problem whose status the contract declares for the operation. */
export type Reply<Id extends OperationId> =
  | { [S in SuccessStatus<Id>]: Success<S, Json<Responses<Id>[S]>> }[SuccessStatus<Id>]
  | ProblemReply<CodeOfStatus<Status<Id>>>;

/** A call that has passed every check of the contract. */
export interface Call<Id extends OperationId> {
  merchant: string;
  body: RequestBody<Id>;
  path: Member<Member<Operation<Id>, "parameters">, "path">;
  query: Member<Member<Operation<Id>, "parameters">, "query">;
}

/** Serves one operation: load, decide, save, reply. */
export type Handler<Id extends OperationId> = (call: Call<Id>) => Promise<Reply<Id>>;

/** One handler for each of these operations, no more and no fewer. */
export type HandlersOf<Ids extends OperationId> = { [Id in Ids]: Handler<Id> };
export type Handlers = HandlersOf<PublishedId>;
export type SandboxHandlers = HandlersOf<SandboxId>;
