import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { parse } from "yaml";
import { misused, readCommandLine } from "./lib/command-line.ts";
import { diffContracts, newestRelease } from "./lib/diff/diff.ts";
import { deriveDocument } from "./lib/docs/document.ts";
import { renderPage } from "./lib/docs/redoc.ts";
import { readSite } from "./lib/docs/rendering.ts";
import { type Review, renderReview } from "./lib/docs/review.ts";
import { replaceFile } from "./lib/files.ts";
import { ROOT, secondsSince } from "./lib/redocly.ts";
import { runStep, type StepResult } from "./lib/steps.ts";
import { traceRequirements } from "./lib/traceability/traceability.ts";

/*
 * The docs of the change under review, as one file to attach to it: the whole page, and before it what changed since the
 * last release, with links to the places in the reference, and how far the change is proven.
 */
const USAGE = `npm run review -- [--out docs/dist/review.html] [--sample 20] [--contract FILE]

  --out       where to write the page
  --sample    every how many-th mutant of the contract is made; 0 for none. All of them take minutes
  --contract  another contract to review than the project's own
`;

const { values: options } = readCommandLine(USAGE, {
  options: {
    out: { type: "string", default: "docs/dist/review.html" },
    sample: { type: "string", default: "20" },
    contract: { type: "string", default: join(ROOT, "openapi/generated/openapi.yaml") },
  },
});

if (!/^\d{1,9}$/.test(options.sample)) misused("--sample must be a whole number from 0", USAGE);

const LINT = ["lint", "refunds", "sandbox", "scenarios"];

const start = performance.now();
const review = await collectReview();
const site = await readSite();
const page = { slug: "review", title: "Review of this change", body: renderReview(review) };
const path = resolve(ROOT, options.out);
await replaceFile(path, await renderPage(deriveDocument(site, page)));
console.log(`review: ${path}, in ${secondsSince(start)}`);
const { verdict } = review.diff;
console.log(
  `review: ${review.diff.changes.length} changes since ${verdict.released}, which need ${verdict.required}`,
);

async function collectReview(): Promise<Review> {
  const base = await newestRelease(ROOT);
  const revision = resolve(options.contract);
  const [before, after] = await Promise.all(
    [base, revision].map(async (file) => parse(await readFile(file, "utf8"))),
  );
  const [diff, lint, score, { page: proof, faults }] = await Promise.all([
    told("the semantic diff", diffContracts(base, revision)),
    told("lint", runStep({ name: "lint", command: "redocly", args: LINT })),
    told("the score", readScore()),
    told("the proof of each clause", traceRequirements(ROOT, after)),
  ]);
  // Alone, because it uses both cores.
  const mutation =
    options.sample === "0" ? undefined : await told("mutants", runMutation(options.sample), true);
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
    coverage: { summary, faults },
  };
}

/** In this process, so that a reader at a terminal sees how far it is. */
async function runMutation(sample: string): Promise<StepResult & { sample: string }> {
  const { mutate } = await import("./lib/mutants/command.ts");
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

/** Waits for a part of the review, and tells when it is there; of a long one also when it begins. */
async function told<Part>(name: string, part: Promise<Part>, long = false): Promise<Part> {
  if (long) console.log(`review: ${name} take most of the time …`);
  const result = await part;
  console.log(`review: ${name}, after ${secondsSince(start)}`);
  return result;
}

async function readScore(): Promise<number> {
  const { stdout } = await promisify(execFile)(
    "redocly",
    ["score", "openapi/openapi.yaml", "--format=json"],
    {
      cwd: ROOT,
      env: { ...process.env, REDOCLY_TELEMETRY: "off" },
    },
  );
  return JSON.parse(stdout).agentReadiness;
}
