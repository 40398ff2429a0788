import { runProgram } from "../../helpers/process.ts";
import { repeat, single } from "./lib/compare.ts";
import { bench, OPERATOR_ENV } from "./lib/frame.ts";

/* The commands that a change of the contract waits for. */
const secondsOf = (script: string) =>
  repeat(script, async () => {
    const startedAt = performance.now();
    const { code, stderr } = await runProgram([process.execPath, script], { env: OPERATOR_ENV });
    if (code !== 0) throw new Error(`${script} ended with ${code}: ${stderr}`);
    return (performance.now() - startedAt) / 1000;
  });

await bench(async () => ({
  figures: [
    single("npm run generate", "s", await secondsOf("scripts/generate/generate.ts"), 3),
    single("npm run docs", "s", await secondsOf("scripts/docs/docs.ts"), 3),
  ],
}));
