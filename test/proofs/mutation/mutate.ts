import { spawn } from "node:child_process";
import { once } from "node:events";
import { mutate } from "./command.ts";

/**
 * Changes the contract in every small way that matters, and fails when the tests would miss one of the changes. With `--code` first,
 * Stryker changes the code instead; its own options may follow, such as `--mutate "server/domain/**"`.
 */
const [first, ...rest] = process.argv.slice(2);
if (first === "--code") {
  const args = ["stryker", "run", "test/proofs/mutation/stryker.json", ...rest];
  [process.exitCode] = await once(spawn("npx", args, { stdio: "inherit" }), "close");
} else process.exitCode = await mutate(process.argv.slice(2), process.stdout);
