import { parseArgs } from "node:util";
import { fuzzWebhooks } from "./lib/fuzz/webhooks.ts";
import { secondsSince } from "./lib/redocly.ts";

/* Verifies deliveries that were changed in every way, at length: `npm run fuzz:webhooks -- --runs 1000000 --seed 1`. */
const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "100000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000_000) },
  },
});

const start = performance.now();
process.stdout.write(`seed ${values.seed}\n`);
try {
  const { accepted, refused } = fuzzWebhooks({ runs: Number(values.runs), seed: Number(values.seed) });
  for (const [reason, count] of Object.entries(refused))
    process.stdout.write(`${count} refused, ${reason}\n`);
  process.stdout.write(`${accepted} accepted, all of them genuine (${secondsSince(start)})\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
