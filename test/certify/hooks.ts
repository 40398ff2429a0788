import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { NotRun } from "../reporting/exchange.ts";

/** The facts that a hook gets: from `{ refundId: "rfd_1" }`, a command gets `CERTIFY_REFUND_ID=rfd_1`. */
export type Facts = Readonly<Record<string, string>>;

/** What a hook said; `problem` when it failed. */
export type HookResult = { readonly text: string; readonly problem?: string };

/** A part of the merchant's system that the exam uses: a command of the shell, or a URL. */
export type Hook = (facts: Facts) => Promise<HookResult>;

/** More output than a hook needs is cut. */
const MAX_TEXT = 10_000;

/** Ids of the commands that run. */
const running = new Set<number>();
let ended = false;

/** Ends all commands, which get no Ctrl-C from the terminal, and lets no other begin. */
export function endHooks(): void {
  ended = true;
  for (const pid of running) killGroup(pid);
}

/** Runs a command, and resolves with what it prints. Its error output is passed on only when it fails. */
export function commandHook(command: string, timeoutMs: number): Hook {
  return async (facts) => {
    if (ended) throw new NotRun("the run was stopped");
    const names = Object.entries(facts).map(([name, value]) => [`CERTIFY_${toConstant(name)}`, value]);
    const child = spawn(command, {
      shell: true,
      detached: process.platform !== "win32", // a group of its own, so that all of it can be ended
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...Object.fromEntries(names) },
    });
    if (child.pid !== undefined) running.add(child.pid);
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      killGroup(child.pid);
    }, timeoutMs);
    try {
      const [stdout, stderr, [code, signal]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, "close"),
      ]);
      if (ended) throw new NotRun("the run was stopped");
      const printed = stdout.slice(0, MAX_TEXT).trim();
      if (timedOut) return { text: printed, problem: `it was still running after ${timeoutMs / 1000} s` };
      if (code === 0) return { text: printed };
      return { text: printed, problem: `it ended with ${signal ?? code}: ${stderr.trim().slice(-500)}` };
    } finally {
      clearTimeout(timer);
      if (child.pid !== undefined) running.delete(child.pid);
    }
  };
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? pid : -pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
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
      const said = (await response.text()).slice(0, MAX_TEXT).trim();
      return response.ok
        ? { text: said }
        : { text: said, problem: `${url.origin} responded ${response.status}` };
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
