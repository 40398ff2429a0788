import { type ParseArgsConfig, parseArgs } from "node:util";

/**
 * Reads a command's options. On `--help` it prints how the command is used, and the process ends; on an option that the
 * command does not know, or whose value is missing, it says so before, and the process ends with 2.
 */
export function readCommandLine<T extends ParseArgsConfig>(
  usage: string,
  config: T,
): ReturnType<typeof parseArgs<T>> {
  const args = config.args ?? process.argv.slice(2);
  if (args.includes("--help") || args.includes("-h")) {
    process.stdout.write(usage);
    process.exit(0);
  }
  try {
    return parseArgs(config);
  } catch (error) {
    misused(error instanceof Error ? error.message : String(error), usage);
  }
}

/** Says what is wrong with a command's options and how it is used, and ends the process with 2. */
export function misused(fault: string, usage: string): never {
  process.stderr.write(`${fault}\n\n${usage}`);
  process.exit(2);
}
