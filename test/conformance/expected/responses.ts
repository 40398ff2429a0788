import { type ResponseRow, withHeader } from "./message.ts";
import { duplicateRows, PROBLEMS, problem, problemRows } from "./problems.ts";
import { GONE, type OperationId } from "./row.ts";
import { refund, subscription, successRows } from "./successes.ts";

const SUCCESSES: Readonly<Record<OperationId, ResponseRow>> = {
  issueRefund: refund,
  subscribeToWebhooks: subscription,
};
/** Problems of requests that have taken a token from the bucket, and so state how many are left. */
const LIMITED: Readonly<Record<OperationId, readonly number[]>> = {
  issueRefund: [400, 404, 406, 408, 409, 413, 415, 429, 500, 503],
  subscribeToWebhooks: [400, 406, 408, 409, 413, 415, 429, 500, 503],
};
/** Statuses that an operation does not document. */
const UNDOCUMENTED: Readonly<Record<OperationId, readonly number[]>> = {
  issueRefund: [200, 202, 204, 301, 402, 405, 410, 418, 422, 501, 502, 504],
  subscribeToWebhooks: [201, 202, 204, 301, 402, 404, 405, 410, 418, 422, 501, 502, 504],
};

/** Headers that a status must have, and their bounds. */
const headerRows = (Object.keys(PROBLEMS) as OperationId[]).flatMap((operation) => [
  ...withHeader(problem(operation, 401), "WWW-Authenticate", {
    kept: ["Bearer", "x".repeat(200)],
    broken: [GONE, "x".repeat(201)],
  }),
  ...withHeader(problem(operation, 403), "WWW-Authenticate", {
    kept: [GONE, "x".repeat(200)],
    broken: ["x".repeat(201)],
  }),
  ...[429, 503].flatMap((status) =>
    withHeader(problem(operation, status), "Retry-After", {
      kept: ["0", "86400"],
      broken: [GONE, "-1", "86401", "1.5", "soon", "Fri, 20 Nov 2026 14:30:00 GMT"],
    }),
  ),
  ...[...LIMITED[operation].map((status) => problem(operation, status)), SUCCESSES[operation]].flatMap(
    (row) =>
      ["RateLimit", "RateLimit-Policy"].flatMap((name) =>
        withHeader(row, name, { kept: ["x", "x".repeat(200)], broken: ["x".repeat(201)] }),
      ),
  ),
]);

/** Bodies of documented statuses under undocumented ones. */
const statusRows = Object.values(SUCCESSES).flatMap((success) =>
  UNDOCUMENTED[success.operation].flatMap((status) =>
    [success, problem(success.operation, 400), problem(success.operation, 500)].map((row) => ({
      ...row,
      name: `${row.name} with status ${status}`,
      status,
      allowed: false,
    })),
  ),
);

/** Every response against which the document is tested: it must allow the right ones and no other. */
export const responseTable: readonly ResponseRow[] = [
  ...successRows,
  ...problemRows,
  ...duplicateRows,
  ...headerRows,
  ...statusRows,
];
