import type { components, operations, paths } from "../../openapi/generated/types.ts";

type Schemas = components["schemas"];

export type RefundRequest = Schemas["RefundRequest"];
export type Refund = Schemas["Refund"];
export type RefundStatus = Schemas["RefundStatus"];
export type SubscriptionRequest = Schemas["SubscriptionRequest"];
export type Subscription = Schemas["Subscription"];
export type Problem = Schemas["Problem"];
export type InvalidRequestProblem = Schemas["InvalidRequestProblem"];
export type DuplicateRequestKeyProblem = Schemas["DuplicateRequestKeyProblem"];

/** The operations of the contract. */
export type OperationId = Exclude<keyof operations, `on${string}`>;

/** The path of an operation; every one of them is a POST. */
export type PathOf<Id extends OperationId> = {
  [Path in keyof paths]: paths[Path]["post"] extends operations[Id] ? Path : never;
}[keyof paths];

type Json<Message> = Message extends { content: { "application/json": infer Body } } ? Body : never;

export type RequestBody<Id extends OperationId> = Json<operations[Id]["requestBody"]>;

type Responses<Id extends OperationId> = operations[Id]["responses"];

/** The status with which an operation succeeds. */
export type SuccessOf<Id extends OperationId> = keyof Responses<Id> & (200 | 201);

/** What an operation answers: `switch (result.status)` narrows `result.body` to what the contract declares for it. */
export type Result<Id extends OperationId> = {
  [Status in keyof Responses<Id> & number]: {
    status: Status;
    body: Json<Responses<Id>[Status]>;
    response: Response;
  };
}[keyof Responses<Id> & number];
