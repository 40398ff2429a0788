import { setTimeout as pause } from "node:timers/promises";
import { startSandbox } from "../../../server/sandbox/index.ts";
import { examineCaller } from "../../certify/caller/examine-caller.ts";
import type { Hook } from "../../certify/hooks.ts";
import { readCommand } from "../../certify/options.ts";
import { examineReceiver } from "../../certify/receiver/examine-receiver.ts";
import { findFreePort } from "../../helpers/network/free-port.ts";
import { startProgram } from "../../helpers/process.ts";
import { READER_ENV } from "../../helpers/projects.ts";
import { describeFailure, type Report } from "../../reporting/report.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const START_MS = 120_000;
const POLL_MS = 100;

/**
 * Has a merchant's system take the whole exam. It receives events at `/webhooks`, issues a refund after a POST to `/refund`, and
 * says after a GET of `/state` what it believes about one.
 *
 * @param run the command that starts it at `PORT`
 * @returns how many checks it passed, as `60/60`, and its failures
 */
export async function takeExam(run: string, folder: string, env: Readonly<Record<string, string>>) {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const settings = { ...READER_ENV, ...env, PORT: String(port), WEBHOOK_SECRET: SECRET };
  const start = async () => {
    const program = startProgram(["sh", "-c", `exec ${run}`], { cwd: folder, env: settings });
    const end = performance.now() + START_MS;
    while (performance.now() < end && !(await isUp(url))) await pause(POLL_MS);
    return program;
  };
  let system = await start();
  const restart = async () => {
    await system.stop("SIGKILL");
    system = await start();
    return { text: "" };
  };
  try {
    await using sandbox = await startSandbox({ settings: { SERVE_DOCS: "false" } });
    const hooks = ["--url", `${url}/webhooks`, "--secret", SECRET, "--state-url", `${url}/state`];
    const receiver = readCommand(["receiver", ...hooks], "certify");
    const caller = readCommand(["caller", ...hooks, "--trigger-url", `${url}/refund`], "certify");
    if (receiver.part !== "receiver" || caller.part !== "caller") throw new Error("no exam");
    /** Kills the whole system, which a URL can't. */
    const run: Hook = async (facts, kill) => {
      let restarted: Promise<unknown> | undefined;
      kill?.addEventListener("abort", () => {
        restarted = restart();
      });
      const result = await caller.options.run(facts);
      await restarted;
      return result;
    };
    const reports = [
      await examineReceiver({ ...receiver.options, restart }),
      await examineCaller({ ...caller.options, run, canKill: true }, {}, sandbox),
    ];
    const results = reports.flatMap((report: Report) => report.results);
    const passed = results.filter(({ outcome }) => outcome === "passed");
    const failures = results.filter(({ outcome }) => outcome !== "passed");
    return {
      passed: `${passed.length}/${results.length}`,
      violations: failures.map((result) => `${result.id}\n${describeFailure(result).join("\n")}`),
    };
  } finally {
    await system[Symbol.asyncDispose]();
  }
}

/** Whether the system responds at all: it refuses an event without a signature. */
async function isUp(url: string): Promise<boolean> {
  return fetch(`${url}/state?reference=none`).then(
    () => true,
    () => false,
  );
}
