/** Runs the steps of `npm test` and `npm run lint`, and prints a line for each: "✓ types (3.1 s)". */
import { spawn } from "node:child_process";

/** A command of the toolchain, run from the top folder. */
export type Step = {
  name: string;
  command: string;
  args: string[];
};

/** The exit code of a command that can't run on this machine, as of tests under automake: it has neither passed nor failed. */
export const NOT_RUN = 77;

export type StepResult = {
  name: string;
  outcome: "passed" | "failed" | "not run";
  seconds: number;
  output: string;
};

/** Runs a command and captures its output. */
export async function runStep({ name, command, args }: Step): Promise<StepResult> {
  const startedAt = performance.now();
  const env = {
    ...process.env,
    REDOCLY_TELEMETRY: "off",
    FORCE_COLOR: process.stdout.isTTY ? "1" : "0",
  };
  const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => {
      output += text;
    });
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const outcome = code === 0 ? "passed" : code === NOT_RUN ? "not run" : "failed";
  return { name, outcome, seconds: (performance.now() - startedAt) / 1000, output };
}

/** Runs steps concurrently, and reports each as it ends: in one line, and its output when it failed. */
export async function runTogether(steps: readonly Step[]): Promise<StepResult[]> {
  return Promise.all(
    steps.map(async (step) => {
      const result = await runStep(step);
      const { name, outcome, seconds, output } = result;
      process.stdout.write(`${outcome === "failed" ? "✗" : "✓"} ${name} (${seconds.toFixed(1)} s)\n`);
      if (outcome === "failed") process.stdout.write(`${output.trimEnd()}\n`);
      return result;
    }),
  );
}
