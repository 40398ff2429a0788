import { headerRows } from "./answer-headers.ts";
import { duplicateRows } from "./duplicates.ts";
import type { AnswerRow } from "./message.ts";
import { problemRows } from "./problems.ts";
import { statusRows } from "./statuses.ts";
import { successRows } from "./successes.ts";

/** Every answer that the document is held to: it allows those that it should, and no other. */
export const answerTable: readonly AnswerRow[] = [
  ...successRows,
  ...problemRows,
  ...duplicateRows,
  ...headerRows,
  ...statusRows,
];
