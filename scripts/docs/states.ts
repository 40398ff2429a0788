import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Contract, Source } from "../../openapi/document/contract.ts";
import { ROOT } from "../command/root.ts";
import { isComment, type Parts, partsOf } from "./markdown.ts";

/** A transition of `x-transitions`; `from` is null for the status that a record starts in. */
type Transition = {
  readonly from: string | null;
  readonly to: string;
  readonly trigger: string;
  readonly when: string;
  readonly source: readonly Source[];
};
type StatusSchema = { readonly enum: readonly string[]; readonly "x-transitions": readonly Transition[] };

export const STATES_DRAWING = "docs/states.svg";

/** Labels for triggers whose names in the contract are unclear in a picture. */
const LABELS: Readonly<Record<string, string>> = { time: "3 business days passed" };

/**
 * The drawing, without its own style: inside a page it has the page's colours. It is drawn by hand; throws when it doesn't
 * show each state and transition of the contract, so that both stay in step.
 */
export function readDrawing(document: Contract["document"]): string {
  const svg = readFileSync(join(ROOT, STATES_DRAWING), "utf8").trim();
  const { enum: states, "x-transitions": transitions } = statusSchemaOf(document);
  const shown = [...states, ...transitions.map(labelOf)].map((text) => `>${text}</text>`);
  const missing = shown.filter((text) => !svg.includes(text));
  if (missing.length > 0) throw new Error(`${STATES_DRAWING} doesn't show ${missing.join(", ")}.`);
  return svg.replace(/<style>.*?<\/style>/s, "");
}

function labelOf({ trigger }: Transition, index: number): string {
  return `${index + 1}: ${LABELS[trigger] ?? trigger.replaceAll("-", " ")}`;
}

/** Puts the table of transitions, which says the same as the drawing, where the text has a comment. */
export function fillStates(
  parts: Parts,
  document: Contract["document"],
  badges: (sources: readonly Source[]) => string,
): Parts {
  const rows = statusSchemaOf(document)["x-transitions"].map(
    ({ from, to, when, source }, index) =>
      `| ${index + 1} | ${from === null ? "" : `\`${from}\` `}→ \`${to}\` | ${when} ${badges(source)} |`,
  );
  const table = partsOf(["| # | transition | when |", "|---|---|---|", ...rows].join("\n"));
  if (!parts.some(isComment)) throw new Error("docs/states.md has no comment where the table goes.");
  return parts.flatMap((part) => (isComment(part) ? table : [part]));
}

function statusSchemaOf(document: Contract["document"]): StatusSchema {
  const { schemas } = document.components as { schemas: { RefundStatus: StatusSchema } };
  return schemas.RefundStatus;
}
