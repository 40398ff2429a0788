import type { AnswerRow } from "./message.ts";
import { problem } from "./problem.ts";
import type { OperationId } from "./row.ts";
import { refund, subscription } from "./successes.ts";

/** Statuses that an operation has none of. */
const UNDOCUMENTED: Readonly<Record<OperationId, readonly number[]>> = {
  issueRefund: [200, 202, 204, 301, 402, 405, 410, 418, 422, 501, 502, 504],
  subscribeToWebhooks: [201, 202, 204, 301, 402, 404, 405, 410, 418, 422, 501, 502, 504],
};

/** Bodies of other statuses, as statuses that nobody sends. */
export const statusRows: readonly AnswerRow[] = [refund, subscription].flatMap((success) => {
  const { operation } = success;
  return UNDOCUMENTED[operation].flatMap((status) =>
    [success, problem(operation, 400), problem(operation, 500)].map((row) => ({
      ...row,
      name: `${row.name} with status ${status}`,
      status,
      allowed: false,
    })),
  );
});
