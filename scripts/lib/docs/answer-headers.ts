import { isDeepStrictEqual } from "node:util";
import type { Source } from "./badges.ts";
import { entriesOf, follow, type Json } from "./json.ts";
import { describeType } from "./schema-rows.ts";

/** A header of the answers to one operation. */
export type AnswerHeader = {
  readonly name: string;
  /** The answers that have it. */
  readonly statuses: readonly string[];
  readonly presence: "always" | "sometimes";
  readonly type: string;
  readonly description: string;
  readonly example: unknown;
  readonly sources: readonly Source[];
};

/** Lists the headers of all answers to an operation: each once for all statuses that declare it in the same way. */
export function answerHeadersOf(document: Json, operation: Json): AnswerHeader[] {
  const found: { name: string; header: Json; statuses: string[] }[] = [];
  for (const [status, response] of entriesOf(operation.responses)) {
    for (const [name, part] of entriesOf(follow(document, response).headers)) {
      const header = follow(document, part);
      const known = found.find((one) => one.name === name && isDeepStrictEqual(one.header, header));
      if (known) known.statuses.push(status);
      else found.push({ name, header, statuses: [status] });
    }
  }
  return found.map(({ name, header, statuses }) => ({
    name,
    statuses,
    presence: header.required ? "always" : "sometimes",
    type: describeType(document, follow(document, header.schema)),
    description: String(header.description ?? ""),
    example: header.example,
    sources: (header["x-source"] ?? []) as readonly Source[],
  }));
}
