import { stripVTControlCharacters } from "node:util";
import type { StepResult } from "../command/steps.ts";
import type { Diff } from "../diff/compare.ts";
import { type Pair, routeOf, tableOf } from "./changes.ts";

/** The facts that a reviewer of a contract change wants to know. */
export type Review = {
  readonly diff: Diff;
  readonly contracts: Pair;
  readonly lint: StepResult;
  /** From 0 to 100, as the tool itself measures it. */
  readonly score: number;
  /** Absent when it was not requested. */
  readonly mutation?: StepResult & { readonly sample: string };
  /** The summary of the traceability page, and the gaps in its proof. */
  readonly coverage: { readonly summary: string; readonly errors: readonly string[] };
};

/** The page of a review, in Markdown whose links are routes of the site. */
export function renderReview(review: Review): string {
  const { changes } = review.diff;
  return [
    renderVerdict(review),
    "## Changes",
    changes.length === 0 ? "None." : tableOf(changes, review.contracts, routeOf),
    "## Lint",
    renderStep(review.lint, "No error."),
    "## Score",
    `**${review.score}** of 100, by \`redocly score\`.`,
    "## Survivors of mutation",
    review.mutation
      ? `${renderStep(review.mutation)}

${describeSample(review.mutation.sample)}`
      : "Not run. `npm run proof -- review --sample 1` runs every mutant.",
    "## Clauses and decisions",
    [review.coverage.summary, ...review.coverage.errors.map((error) => `- ${error}`)].join("\n"),
    "All of them are on the page [traceability](#/traceability).",
  ].join("\n\n");
}

function renderVerdict({ diff: { verdict, changes } }: Review): string {
  const { released, version, need, required, error } = verdict;
  if (need === "none") return `The contract is that of the release **${released}**, without any change.`;
  const count = changes.length === 1 ? "One change" : `${changes.length} changes`;
  const assessment = error ? `**That does not fit:** ${error}` : "That fits.";
  return `${count} since the release **${released}**. They need version **${required}**; \`info.version\` says **${version}**. ${assessment}`;
}

function describeSample(sample: string): string {
  if (sample === "1") return "These are all mutants.";
  return `These are a sample: of each kind, every ${sample}th mutant was made. \`npm run proof -- review --sample 1\` makes them all.`;
}

function renderStep({ passed, output }: StepResult, nothing = ""): string {
  const text = stripVTControlCharacters(output).trim();
  if (passed && nothing !== "") return nothing;
  return `${passed ? "" : "**Failed.**\n\n"}\`\`\`text\n${text}\n\`\`\``;
}
