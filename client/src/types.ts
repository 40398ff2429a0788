import type { components, operations } from "../../openapi/generated/types.ts";

/* The types of requests and responses, made of those that are generated from the contract. */

type Schemas = components["schemas"];

export type RefundRequest = Schemas["RefundRequest"];
export type Refund = Schemas["Refund"];
export type RefundStatus = Schemas["RefundStatus"];
export type SubscriptionRequest = Schemas["SubscriptionRequest"];
export type Subscription = Schemas["Subscription"];
/** What the bodies of all errors have in common, also of those that later versions add: this one has no more fields. */
export type Problem = Schemas["InternalErrorProblem"];
export type InvalidRequestProblem = Schemas["InvalidRequestProblem"];
export type DuplicateRequestKeyProblem = Schemas["DuplicateRequestKeyProblem"];
export type Amount = Schemas["Amount"];
export type ExistingRecord = Schemas["ExistingRecord"];
export type RefundErrorDetails = Schemas["RefundErrorDetails"];
export type ProblemErrorCode = Schemas["ProblemErrorDetails"]["errorCode"];
export type Violation = Schemas["Violation"];

/**
 * The type of a status that the service began to send after this version of the client was made. On the wire it is a string
 * like the others. The type differs from every known status, so that `switch` narrows those and makes you handle this one.
 */
export type LaterStatus = `${string} (later than this client)`;

/** Replaces the types of fields, and keeps their documentation from the contract. */
type With<Base, Fields extends keyof Base, Type> = { [Field in keyof Pick<Base, Fields>]-?: Type };

type RefundIn<Status> = Omit<Refund, "paymentStatus" | "errorDetails"> &
  With<Refund, "paymentStatus", Status>;

/** A refund that was issued: `switch (refund.paymentStatus)` shows whether there are `errorDetails`. */
export type IssuedRefund =
  | (RefundIn<"PENDING"> & { errorDetails?: never })
  | (RefundIn<"AUTHORIZED"> & { errorDetails?: never })
  | (RefundIn<"TERMINAL_FAILED"> & With<Refund, "errorDetails", RefundErrorDetails>)
  | (RefundIn<LaterStatus> & Pick<Refund, "errorDetails">);

/** The operations of the contract; the names of its webhooks begin with `on`. */
export type OperationId = Exclude<keyof operations, `on${string}`>;

type Json<Message> = Message extends { content: { "application/json": infer Body } } ? Body : never;

export type RequestBody<Id extends OperationId> = Json<operations[Id]["requestBody"]>;

/** What a call is given: the body of the operation or, where it has none, the parameters of its path. */
export type Input<Id extends OperationId> = operations[Id] extends { requestBody: object }
  ? RequestBody<Id>
  : operations[Id]["parameters"]["path"];

type Responses<Id extends OperationId> = operations[Id]["responses"];

/** `switch (result.status)` narrows `result.body` to the type that the contract declares for that status. */
export type Result<Id extends OperationId> = {
  [Status in keyof Responses<Id> & number]: {
    status: Status;
    body: Json<Responses<Id>[Status]>;
    response: Response;
  };
}[keyof Responses<Id> & number];
