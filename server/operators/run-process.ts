import { runAdmin } from "./run-command.ts";

/** Runs an operator's command in this process, whose exit code tells how it ended. */
export async function runAdminProcess(args: readonly string[]): Promise<void> {
  const interrupted = new AbortController();
  // `once`, so that a second signal ends a command that hangs.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupted.abort());
  // The reader, such as `head`, has closed the pipe.
  process.stdout.on("error", () => interrupted.abort());

  process.exitCode = await runAdmin({
    args,
    env: process.env,
    output: {
      print: (line) => void process.stdout.write(`${line}\n`),
      complain: (line) => void process.stderr.write(`${line}\n`),
      // Also calls back when the reader has gone.
      flushed: () => new Promise((resolve) => process.stdout.write("", () => resolve())),
      log: (line) => void process.stderr.write(`${line}\n`),
      interactive: process.stderr.isTTY,
      write: (text) => void process.stderr.write(text),
    },
    stdin: process.stdin,
    signal: interrupted.signal,
  });
  // An open standard input would keep the process alive.
  process.stdin.destroy();
}
