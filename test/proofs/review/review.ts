import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parse } from "yaml";
import { defineProof, wholeNumber } from "../../../scripts/command/command.ts";
import { replaceFile } from "../../../scripts/command/files.ts";
import { REDOCLY, ROOT, runRedocly, secondsSince } from "../../../scripts/command/redocly.ts";
import { runStep, type StepResult } from "../../../scripts/command/steps.ts";
import { diffContracts, newestRelease } from "../../../scripts/diff/compare.ts";
import { renderReferencePage } from "../../../scripts/docs/redoc.ts";
import { deriveReview } from "../../../scripts/docs/reference/document.ts";
import { readSite } from "../../../scripts/docs/rendering.ts";
import { type Review, renderReview } from "../../../scripts/docs/review.ts";
import { traceRequirements } from "../../../scripts/traceability/traceability.ts";

const { out, sample, contract } = defineProof(
  "review",
  "Builds one file for the review of a change: what changed since the last release, how far the change is tested, and the whole docs.",
)
  .option("--out <file>", "where to write the page", "docs/dist/review.html")
  .option(
    "--sample <n>",
    "make every n-th mutant of the contract; 0 for none. All take minutes",
    wholeNumber(0, 999_999_999),
    20,
  )
  .option("--contract <file>", "the contract to review", join(ROOT, "openapi/generated/openapi.yaml"))
  .parse()
  .opts();

const LINT = [...REDOCLY, "lint", "refunds", "sandbox", "scenarios"];

const start = performance.now();
const review = await collectReview();
const site = await readSite();
const page = { slug: "review", title: "Review of this change", body: renderReview(review) };
const path = resolve(ROOT, out);
await replaceFile(path, await renderReferencePage(deriveReview(site, page)));
console.log(`review: ${path}, in ${secondsSince(start)}`);
const { verdict } = review.diff;
console.log(
  `review: ${review.diff.changes.length} changes since ${verdict.released}, which need ${verdict.required}`,
);

async function collectReview(): Promise<Review> {
  const base = await newestRelease(ROOT);
  const revision = resolve(contract);
  const [before, after] = await Promise.all(
    [base, revision].map(async (file) => parse(await readFile(file, "utf8"))),
  );
  const [diff, lint, score, { page: proof, errors }] = await Promise.all([
    reported("the semantic diff", diffContracts(base, revision)),
    reported("lint", runStep({ name: "lint", command: "node", args: LINT })),
    reported("the score", readScore()),
    reported("the proof of each clause", traceRequirements(ROOT, after)),
  ]);
  // Alone, because it uses both cores.
  const mutation = sample === 0 ? undefined : await reported("mutants", runMutation(String(sample)), true);
  const summary = proof
    .split("\n")
    .filter((line) => line.startsWith("**"))
    .join("\n\n");
  return {
    diff,
    contracts: { base: before, revision: after },
    lint,
    score,
    ...(mutation && { mutation }),
    coverage: { summary, errors },
  };
}

/** In this process, so that progress is shown on a terminal. */
async function runMutation(sample: string): Promise<StepResult & { sample: string }> {
  const { mutate } = await import("../mutation/command.ts");
  const begun = performance.now();
  let output = "";
  const write = (text: string) => {
    if (text.startsWith("\r")) process.stdout.write(text);
    else output += text;
  };
  const passed = await mutate(["--sample", sample], { write, isTTY: process.stdout.isTTY })
    .then((code) => code === 0)
    .catch((error: unknown) => {
      output += error instanceof Error ? error.message : String(error);
      return false;
    });
  return { name: "mutants", passed, seconds: (performance.now() - begun) / 1000, output, sample };
}

/** Waits for a part of the review, and reports its end; for a long part also its start. */
async function reported<Part>(name: string, part: Promise<Part>, long = false): Promise<Part> {
  if (long) console.log(`review: ${name} take most of the time …`);
  const result = await part;
  console.log(`review: ${name}, after ${secondsSince(start)}`);
  return result;
}

async function readScore(): Promise<number> {
  const report = await runRedocly(["score", "openapi/openapi.yaml", "--format=json"]);
  return JSON.parse(report).agentReadiness;
}
