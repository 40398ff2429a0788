import { type AnswerRow, withHeader } from "./message.ts";
import { PROBLEMS, problem } from "./problem.ts";
import { GONE, type OperationId } from "./row.ts";
import { refund, subscription } from "./successes.ts";

const SUCCESSES: Readonly<Record<OperationId, AnswerRow>> = {
  issueRefund: refund,
  subscribeToWebhooks: subscription,
};
/** Problems that come after the quota was taken, and so can tell of it. */
const LIMITED: Readonly<Record<OperationId, readonly number[]>> = {
  issueRefund: [400, 404, 406, 408, 409, 413, 415, 429, 500, 503],
  subscribeToWebhooks: [400, 406, 408, 409, 413, 415, 429, 500, 503],
};

/** Headers that a status must have, and how far they go. */
export const headerRows: readonly AnswerRow[] = (Object.keys(PROBLEMS) as OperationId[]).flatMap(
  (operation) => [
    ...withHeader(problem(operation, 401), "WWW-Authenticate", {
      kept: ["Bearer", "x".repeat(200)],
      broken: [GONE, "x".repeat(201)],
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
  ],
);
