import { runAdmin } from "./run.ts";

const interrupted = new AbortController();
// Once: a second signal ends a command that hangs.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupted.abort());
// Whoever reads the result has read enough.
process.stdout.on("error", () => interrupted.abort());

process.exitCode = await runAdmin({
  args: process.argv.slice(2),
  env: process.env,
  output: {
    print: (line) => void process.stdout.write(`${line}\n`),
    complain: (line) => void process.stderr.write(`${line}\n`),
    interactive: process.stderr.isTTY,
    write: (text) => void process.stderr.write(text),
  },
  stdin: process.stdin,
  signal: interrupted.signal,
});
// Whoever still writes to it need not be waited for.
process.stdin.destroy();
