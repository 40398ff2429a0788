/*
 * Code that must not compile. `tsc --noEmit` checks this file: it fails when a line that is marked as an error compiles. The
 * marks are on the narrowest line, so that nothing else in the statement can be the error.
 */
import type { Handler, Handlers, SandboxHandlers } from "../../server/contract/operations.ts";

declare const issueRefund: Handler<"issueRefund">;
declare const subscribeToWebhooks: Handler<"subscribeToWebhooks">;
declare const sandboxHandlers: SandboxHandlers;

// @ts-expect-error an operation of the contract has no handler
export const missing: Handlers = { issueRefund };

export const extra: Handlers = {
  issueRefund,
  subscribeToWebhooks,
  // @ts-expect-error a handler has no operation in the contract
  unsubscribe: subscribeToWebhooks,
};

export const exchanged: Handlers = {
  // @ts-expect-error a handler of another operation
  issueRefund: subscribeToWebhooks,
  subscribeToWebhooks,
};

export const ofTheSandbox: Handlers = {
  issueRefund,
  subscribeToWebhooks,
  // @ts-expect-error an operation of the sandbox alone is no part of the published contract
  getClock: sandboxHandlers.getClock,
};

const refund = { paymentId: "rfd_1", paymentStatus: "AUTHORIZED", clientReferenceId: null } as const;

export const readsTheBody: Handler<"issueRefund"> = async ({ body }) => {
  // @ts-expect-error a field that the contract spells in another way
  body.paymentID;
  // @ts-expect-error a field of another operation
  body.secretKey;
  // @ts-expect-error an optional field may be absent
  body.softDescriptor satisfies string;
  return { status: 201, body: refund };
};

// @ts-expect-error a status that the contract does not declare for the operation
export const respondsWithAnotherStatus: Handler<"issueRefund"> = async () => ({ status: 200, body: refund });

// @ts-expect-error a body that lacks a field of the contract
export const respondsWithTooLittle: Handler<"issueRefund"> = async () => ({
  status: 201,
  body: { paymentId: "rfd_1", paymentStatus: "AUTHORIZED" },
});

// @ts-expect-error a problem whose status the contract does not declare for the operation
export const respondsWithAnUndeclaredProblem: Handler<"subscribeToWebhooks"> = async () => ({
  code: "PAYMENT_NOT_FOUND",
});

// @ts-expect-error a problem that does not exist
export const respondsWithAnUnknownProblem: Handler<"issueRefund"> = async () => ({ code: "TEAPOT" });

// @ts-expect-error handlers return expected failures as values, and respond asynchronously
export const respondsAtOnce: Handler<"issueRefund"> = () => ({ code: "PAYMENT_NOT_FOUND" });

export const readsThePath: Handler<"getPayment"> = async ({ path }) => {
  path.paymentId satisfies string;
  // @ts-expect-error a parameter that the path does not have
  path.refundId;
  return { code: "PAYMENT_NOT_FOUND" };
};
