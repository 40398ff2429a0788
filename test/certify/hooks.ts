/** Runs what the merchant gave to make its system do something: a shell command, or a URL to call. */
import { spawn } from "node:child_process";
import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { detached, untilExit } from "../../server/sandbox/exec/child-process.ts";
import { CheckFailure, createRedactor, NotRun } from "../reporting/exchange.ts";

/** The facts that a hook gets: from `{ refundId: "rfd_1" }`, a command gets `CERTIFY_REFUND_ID=rfd_1`. */
export type Facts = Readonly<Record<string, string>>;

/** What a hook said; `problem` when it failed. */
export type HookResult = { readonly text: string; readonly problem?: string; readonly timedOut?: boolean };

/** All that hooks have printed in this process, errors included, so that a check can look for secrets in it. */
export const printed: string[] = [];

/** A part of the merchant's system that the exam uses: a command of the shell, which `kill` ends, or a URL. */
export type Hook = (facts: Facts, kill?: AbortSignal) => Promise<HookResult>;

/** Longer output is cut. */
const MAX_TEXT = 10_000;

const ending = new AbortController();

/** Ends all commands, which get no Ctrl-C from the terminal, and each that begins later. */
export const endHooks = () => ending.abort();

/**
 * Runs a command, and resolves with what it has printed when it ends. Its error output is passed on only when it fails.
 *
 * It prints into files. A pipe ends only when all programs that the command leaves in the background have ended, such as a receiver
 * that it has started; and closing the pipe earlier would end those programs when they print.
 */
export function commandHook(command: string, timeoutMs: number): Hook {
  return async (facts, signal) => {
    const folder = await mkdtemp(join(tmpdir(), "refund-contract-"));
    const [outputFile, errorFile] = [join(folder, "stdout"), join(folder, "stderr")];
    try {
      await using output = await open(outputFile, "w");
      await using errors = await open(errorFile, "w");
      const names = Object.entries(facts).map(([name, value]) => [`CERTIFY_${toConstant(name)}`, value]);
      const child = spawn(command, {
        shell: true,
        detached,
        stdio: ["ignore", output.fd, errors.fd],
        env: { ...process.env, ...Object.fromEntries(names) },
      });
      const end = signal ? AbortSignal.any([ending.signal, signal]) : ending.signal;
      const { timedOut, code, endedBy } = await untilExit(child, timeoutMs, end);
      if (ending.signal.aborted) throw new NotRun("the run was stopped");
      const text = (await readFile(outputFile, "utf8")).slice(0, MAX_TEXT).trim();
      const error = (await readFile(errorFile, "utf8")).trim();
      printed.push(text, error);
      if (timedOut) return { text, timedOut, problem: `it was still running after ${timeoutMs / 1000} s` };
      return code === 0
        ? { text }
        : { text, problem: `it ended with ${endedBy ?? code}: ${firstError(error)}` };
    } finally {
      // Windows keeps files that a program in the background has open.
      await rm(folder, { recursive: true, force: true }).catch(() => {});
    }
  };
}

/** Fails when hooks have printed one of these. */
export function expectNoSecrets(secrets: readonly (string | undefined)[]): void {
  const redactor = createRedactor();
  for (const secret of secrets) redactor.add("secret", secret);
  const lines = printed.flatMap((text) => redactor.apply(text).split("\n"));
  const shown = lines.find((line) => line.includes("‹secret›"));
  if (shown === undefined) return;
  const expected =
    "output without an access token or a secret, because logs are kept, and many people read them";
  throw new CheckFailure(expected, { received: shown.slice(0, 500) });
}

/** The line that names the error, of a text that may begin with a piece of the program, and end with its stack. */
function firstError(text: string): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const found = lines.find((line) => /^\S*(Error|Exception|error|fatal|panic)\b/.test(line.trim()));
  return (found ?? lines[0] ?? "").slice(0, 500);
}

/** Calls a URL: a GET with the facts in its query, or a POST with the facts as JSON. */
export function urlHook(url: URL, method: "GET" | "POST", timeoutMs: number): Hook {
  return async (facts) => {
    const target = new URL(url);
    if (method === "GET")
      for (const [name, value] of Object.entries(facts)) target.searchParams.set(name, value);
    try {
      const response = await fetch(target, {
        method,
        signal: AbortSignal.timeout(timeoutMs),
        ...(method === "POST" && {
          headers: { "content-type": "application/json" },
          body: JSON.stringify(facts),
        }),
      });
      const text = (await response.text()).slice(0, MAX_TEXT).trim();
      printed.push(text);
      if (method === "GET" && response.status === 404) return { text: "" }; // It knows nothing of the refund yet.
      return response.ok ? { text } : { text, problem: `${url.origin} responded ${response.status}` };
    } catch (error) {
      const { message, cause } = error as Error;
      return { text: "", problem: `${url.origin}: ${cause instanceof Error ? cause.message : message}` };
    }
  };
}

/** `refundId` becomes `REFUND_ID`. */
function toConstant(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}
