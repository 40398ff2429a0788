import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs, promisify } from "node:util";
import { parse } from "yaml";
import { diffContracts, newestRelease } from "./lib/diff/diff.ts";
import { deriveDocument } from "./lib/docs/document.ts";
import { renderPage } from "./lib/docs/redoc.ts";
import { readSite } from "./lib/docs/rendering.ts";
import { type Review, renderReview } from "./lib/docs/review.ts";
import { replaceFile } from "./lib/files.ts";
import { ROOT, secondsSince } from "./lib/redocly.ts";
import { runStep } from "./lib/steps.ts";
import { traceRequirements } from "./lib/traceability/traceability.ts";

/*
 * The docs of the change under review, as one file to attach to it: the whole page, and before it what changed since the
 * last release, with links to the places in the reference, and how far the change is proven.
 */
const { values: options } = parseArgs({
  options: {
    out: { type: "string", default: "docs/dist/review.html" },
    /** Every how many-th mutant of the contract is made; 0 for none. All of them take minutes. */
    sample: { type: "string", default: "20" },
    /** Another contract to review than the project's own. */
    contract: { type: "string", default: join(ROOT, "openapi/generated/openapi.yaml") },
  },
});

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
    diffContracts(base, revision),
    runStep({ name: "lint", command: "redocly", args: ["lint", "refunds", "sandbox", "scenarios"] }),
    readScore(),
    traceRequirements(ROOT, after),
  ]);
  // Alone, because it uses both cores.
  const mutation = options.sample === "0" ? undefined : await runMutation(options.sample);
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

async function runMutation(sample: string) {
  const args = ["scripts/mutate.ts", "--sample", sample];
  return { ...(await runStep({ name: "mutants", command: "node", args })), sample };
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
