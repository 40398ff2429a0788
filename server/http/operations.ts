import type { components, operations } from "../../openapi/generated/types.ts";
import type { PROBLEMS, ProblemCode, ProblemReply } from "./problem.ts";

/** The operations of the published contract; `on…` are webhooks, which this server sends and does not serve. */
export type OperationId = Exclude<keyof operations, `on${string}`>;

export type Schemas = components["schemas"];

type Json<Response> = Response extends { content: { "application/json": infer Body } } ? Body : never;

/** The body of a request, as the contract types it. */
export type RequestBody<Id extends OperationId> = Json<operations[Id]["requestBody"]>;

type Responses<Id extends OperationId> = operations[Id]["responses"];
type Status<Id extends OperationId> = keyof Responses<Id> & number;
type SuccessStatus<Id extends OperationId> = Extract<Status<Id>, 200 | 201 | 202 | 204>;
type CodeOfStatus<S> = {
  [Code in ProblemCode]: (typeof PROBLEMS)[Code]["status"] extends S ? Code : never;
}[ProblemCode];

/** What a handler may answer: a success or a problem whose status the contract declares for the operation. */
export type Reply<Id extends OperationId> =
  | { [S in SuccessStatus<Id>]: { status: S; body: Json<Responses<Id>[S]> } }[SuccessStatus<Id>]
  | ProblemReply<CodeOfStatus<Status<Id>>>;

/** A call that has passed every check of the contract. */
export interface Call<Id extends OperationId> {
  merchant: string;
  body: RequestBody<Id>;
}

/** Serves one operation: load, decide, save, reply. */
export type Handler<Id extends OperationId> = (call: Call<Id>) => Promise<Reply<Id>>;

/** One handler for each operation of the contract, no more and no fewer. */
export type Handlers = { [Id in OperationId]: Handler<Id> };
