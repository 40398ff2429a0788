import { defineProof, randomSeed, seedNumber, wholeNumber } from "../../../scripts/command/command.ts";
import { secondsSince } from "../../../scripts/command/redocly.ts";
import { fuzzWebhooks } from "./webhooks.ts";

const { runs, seed = randomSeed() } = defineProof(
  "fuzz-webhooks",
  "Verifies deliveries that were altered in many ways, and fails if the client accepts one that is not genuine.",
)
  .option("--runs <n>", "how many deliveries", wholeNumber(1, 999_999_999), 100_000)
  .option("--seed <n>", "makes the same deliveries again; a random one when left out", seedNumber)
  .parse()
  .opts();

const start = performance.now();
process.stdout.write(`seed ${seed}\n`);
try {
  const { accepted, refused } = fuzzWebhooks({ runs, seed });
  for (const [reason, count] of Object.entries(refused))
    process.stdout.write(`${count} refused, ${reason}\n`);
  process.stdout.write(`${accepted} accepted, all of them genuine (${secondsSince(start)})\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
