/** Runs the operators' command `refunds-admin`, in this process or in one of its own. */
import { Readable } from "node:stream";
import type { Output } from "../../server/operators/command-output.ts";
import { runAdmin } from "../../server/operators/run-command.ts";
import { dollars } from "./factories.ts";
import { runProgram } from "./process.ts";

/** An output that records what is written to it. */
export function collectOutput(): Output & {
  readonly printed: string[];
  readonly complaints: string[];
  readonly logged: string[];
} {
  const printed: string[] = [];
  const complaints: string[] = [];
  const logged: string[] = [];
  return {
    printed,
    complaints,
    logged,
    log: (line) => void logged.push(line),
    flushed: async () => {},
    print: (line) => void printed.push(line),
    complain: (line) => void complaints.push(line),
  };
}

/** Lines as a stream, in chunks of arbitrary length. */
export async function* streamOf(lines: readonly unknown[], chunkBytes = 7): AsyncGenerator<Buffer> {
  const text = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += chunkBytes)
    yield bytes.subarray(start, start + chunkBytes);
}

/** The lines by which the payment system imports a payment that settled long ago. */
export function linesOfPayment(merchant: string, paymentId: string, value = 100): string[] {
  const lines = [
    { op: "put", merchant, paymentId, amount: dollars(value) },
    { op: "settle", merchant, paymentId, settledAt: "2026-01-05T15:30:00Z" },
  ];
  return lines.map((line) => `${JSON.stringify(line)}\n`);
}

export type AdminRun = {
  readonly code: number | null;
  readonly stdout: string;
  /** Without the log lines, which go to the same stream. */
  readonly stderr: string;
  readonly log: readonly string[];
};

type RunOptions = { readonly env?: Readonly<Record<string, string>>; readonly stdin?: string };

/** `signal` is aborted when the operator interrupts. */
type CommandOptions = RunOptions & { readonly signal?: AbortSignal };

/** Runs the command inside the test's process, with this on its standard input. */
export async function runCommand(
  args: readonly string[],
  { env = {}, stdin = "", signal = new AbortController().signal }: CommandOptions = {},
): Promise<AdminRun> {
  const output = collectOutput();
  const code = await runAdmin({ args, env, output, stdin: Readable.from([Buffer.from(stdin)]), signal });
  const toText = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");
  return { code, stdout: toText(output.printed), stderr: toText(output.complaints), log: output.logged };
}

/** Runs the command as an operator does. */
export async function spawnCommand(args: readonly string[], options: RunOptions = {}): Promise<AdminRun> {
  const command = [process.execPath, "server/cli.ts", "admin", ...args];
  const { code, stdout, stderr } = await runProgram(command, options);
  const lines = stderr.split(/(?<=\n)/);
  const isLogged = (line: string) => line.startsWith("{");
  return {
    code,
    stdout,
    stderr: lines.filter((line) => !isLogged(line)).join(""),
    log: lines.filter(isLogged),
  };
}
