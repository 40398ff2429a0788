import type { Contract } from "../contract.ts";
import type { Source } from "./badges.ts";
import { drawStates, type Move } from "./diagram.ts";
import type { Rendering, Site } from "./rendering.ts";

type SourcedMove = Move & { readonly source: readonly Source[] };
type StatusSchema = { readonly enum: readonly string[]; readonly "x-transitions": readonly SourcedMove[] };

/** The drawing of a refund's states, and below it the table of its moves, which is the drawing in words. */
export function renderStates(schema: StatusSchema, { drawings, badges }: Rendering): string {
  const moves = schema["x-transitions"];
  const rows = moves.map(
    ({ from, to, when, source }, index) =>
      `| ${index + 1} | ${from === null ? "" : `\`${from}\` `}→ \`${to}\` | ${when} ${badges(source)} |`,
  );
  const picture =
    drawings === "inline" ? drawStates(schema.enum, moves) : "![The states of a refund](states.svg)";
  return [picture, "", "| # | move | when |", "|---|---|---|", ...rows].join("\n");
}

/** The drawing as a file of its own, which follows the colours that its reader prefers. */
export function drawStatesFile({ published }: Site): string {
  const { enum: states, "x-transitions": moves } = statusSchemaOf(published.document);
  const style =
    "<style>svg { color: #1a1c21; background: #fff } @media (prefers-color-scheme: dark) { svg { color: #eee; background: #16181d } }</style>";
  return drawStates(states, moves).replace(/^(<svg[^>]*>)/, `$1${style}`);
}

/** The schema of a refund's status. */
export function statusSchemaOf(document: Contract["document"]): StatusSchema {
  const { schemas } = document.components as { schemas: { RefundStatus: StatusSchema } };
  return schemas.RefundStatus;
}
