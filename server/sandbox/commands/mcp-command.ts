import { defineProgram } from "../../process/command-line.ts";
import { withSandboxOptions } from "./options.ts";

/** Defines the command that runs the server of the Model Context Protocol on standard input and output. */
export function defineMcp() {
  const command = defineProgram(
    "mcp",
    "Gives AI assistants the tools of a sandbox on this machine, by the Model Context Protocol on standard input and output.",
  );
  return withSandboxOptions(command, "whose records to use").action(runMcp);
}

async function runMcp(choice: { url: string; token: string }): Promise<void> {
  // Loaded when they are asked for: a sandbox that starts needs none of them.
  const { StdioServerTransport } = await import("@modelcontextprotocol/server/stdio");
  const { createMcpServer, NotASandboxError } = await import("./mcp-server.ts");
  try {
    const server = await createMcpServer(choice);
    await server.connect(new StdioServerTransport());
  } catch (error) {
    if (!(error instanceof NotASandboxError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
