/** `npm run proof -- generators`: clients in other languages, generated from the contract. */
import { Argument } from "@commander-js/extra-typings";
import pLimit from "p-limit";
import { defineProof } from "../../../scripts/shared/define-command.ts";
import { startSandbox } from "../../../server/sandbox/index.ts";
import { check, endChecks } from "../check-runner.ts";
import { buildMerchant, findMissing } from "./build-sample.ts";
import { languages } from "./languages.ts";
import { checks } from "./sample-checks.ts";
import { OF_MONEY, takeExam } from "./take-exam.ts";

const all = languages.map(({ name }) => name);
const command = defineProof("generators")
  .addArgument(new Argument("[language...]", "all when left out").choices(all))
  .parse();
const [given] = command.processedArgs;
const notRun: string[] = [];
const isWanted = (name: string) => given.length === 0 || given.includes(name);
// Two at once: half of a language's time is waiting for what the contract says, such as Retry-After.
const limit = pLimit(2);
await limit.map(languages, async (language) => {
  const { name } = language;
  if (!isWanted(name)) return;
  const missing = await findMissing(language);
  if (missing !== undefined) {
    notRun.push(name);
    console.log(`- ${name}: not run, because this fails here: ${missing}`);
    return;
  }
  await using sandbox = await startSandbox();
  const merchant = await check(`${name}: generates a client and compiles`, () =>
    buildMerchant(language, sandbox.url),
  );
  if (!merchant) return;
  for (const [title, run] of Object.entries(checks))
    await check(`${name}: ${title}`, () => run(merchant, sandbox));
  await check(`${name}: passes ${language.exam ? "the exam" : "what the exam asks about money"}`, () =>
    takeExam(merchant, language.exam ? {} : OF_MONEY),
  );
});
endChecks();
if (notRun.length > 0) console.log(`not run: ${notRun.join(", ")}`);
