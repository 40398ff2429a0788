import { Option } from "@commander-js/extra-typings";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { defineProgram } from "../../process/program.ts";
import { createMcpServer, NotASandboxError } from "./mcp-server.ts";

/**
 * Runs the server of the Model Context Protocol on standard input and output.
 *
 * @param name how it is run, such as `npx @refund-contract/sandbox mcp`
 * @param args what stands after the name
 */
export async function runMcp(name: string, args: readonly string[]): Promise<void> {
  const options = defineProgram(
    name,
    "Gives AI assistants the tools of a sandbox on this machine, by the Model Context Protocol on standard input and output.",
  )
    .addOption(
      new Option("--url <url>", "where the sandbox is").env("SANDBOX_URL").default("http://127.0.0.1:3000"),
    )
    .addOption(
      new Option("--token <token>", "whose records to use").env("SANDBOX_TOKEN").default("sandbox_acme"),
    )
    .parse(args, { from: "user" })
    .opts();
  try {
    const server = await createMcpServer(options);
    await server.connect(new StdioServerTransport());
  } catch (error) {
    if (!(error instanceof NotASandboxError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
