import { misused, readCommandLine } from "./lib/command-line.ts";
import { fuzzWebhooks } from "./lib/fuzz/webhooks.ts";
import { secondsSince } from "./lib/redocly.ts";

/* Verifies deliveries that were changed in every way, at length. */
const USAGE = `npm run fuzz:webhooks -- [--runs 100000] [--seed 1]

  --runs  how many deliveries
  --seed  makes the same ones again; another one each time when left out
`;

const { values } = readCommandLine(USAGE, {
  options: {
    runs: { type: "string", default: "100000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000_000) },
  },
});

for (const [name, value] of Object.entries(values)) {
  if (!/^\d{1,9}$/.test(value)) misused(`--${name} must be a whole number of at most nine digits`, USAGE);
}

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
