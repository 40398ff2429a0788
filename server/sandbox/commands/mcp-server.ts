import type { McpServer } from "@modelcontextprotocol/server";
import { dereference, type Node } from "../../../openapi/document/node.ts";
import { step } from "../../../openapi/document/pointer.ts";
import { readDocument } from "../../contract/document.ts";
import { isLocalName } from "../../http/request-head.ts";
import { defineProgram } from "../../process/command-line.ts";
import { fetchInTime, withSandboxOptions } from "./options.ts";

/** The address or the access token is not that of a sandbox on this machine; the message says what to give instead. */
export class NotASandboxError extends Error {
  override readonly name = "NotASandboxError";
}

export type McpOptions = {
  /** Such as `http://127.0.0.1:3000`. */
  readonly url: string;
  /** Such as `sandbox_acme`. */
  readonly token: string;
};

type Call = { readonly method: string; readonly path: string; readonly body?: unknown };

/** A tool that sends one call. Its input is the body, or the query and the path, as the contract has them. */
type Tool = {
  readonly name: string;
  readonly contract: "openapi" | "sandbox";
  readonly path: string;
  readonly method: "get" | "post";
  readonly description: string;
};

const TOOLS: readonly Tool[] = [
  {
    name: "issue_refund",
    contract: "openapi",
    path: "/v1/refunds",
    method: "post",
    description:
      "Issues a refund in the sandbox; no money moves. Use a new requestKey for each intent, and the same one for a repeat.",
  },
  {
    name: "advance_clock",
    contract: "sandbox",
    path: "/sandbox/clock/advance",
    method: "post",
    description: "Moves the sandbox's clock forward, and authorizes each refund that falls due.",
  },
  {
    name: "list_payments",
    contract: "sandbox",
    path: "/sandbox/payments",
    method: "get",
    description: "Lists original payments and refunds with their statuses, newest first.",
  },
  {
    name: "list_deliveries",
    contract: "sandbox",
    path: "/sandbox/deliveries",
    method: "get",
    description: "Lists deliveries of webhooks with their attempts, newest first.",
  },
  {
    name: "list_requests",
    contract: "sandbox",
    path: "/sandbox/requests",
    method: "get",
    description: "Lists the latest calls with their responses, newest first.",
  },
  {
    name: "arm_fault",
    contract: "sandbox",
    path: "/sandbox/faults",
    method: "post",
    description:
      "Makes the next calls or deliveries go wrong, such as a response that is lost after the refund was made.",
  },
  {
    name: "redeliver",
    contract: "sandbox",
    path: "/sandbox/deliveries/{webhookId}/redeliver",
    method: "post",
    description: "Sends a delivery once more.",
  },
];

/**
 * A server of the Model Context Protocol whose tools use the sandbox at an address of this machine, and nothing else.
 * @throws NotASandboxError
 */
export async function createMcpServer(options: McpOptions): Promise<McpServer> {
  const send = await connect(options);
  // Loaded when they are asked for: a sandbox that starts needs none of them.
  const { fromJsonSchema, McpServer } = await import("@modelcontextprotocol/server");
  const documents = {
    openapi: readDocument("openapi") as unknown as Node,
    sandbox: readDocument("sandbox") as unknown as Node,
  };
  const server = new McpServer(
    { name: "refund-contract-sandbox", version: String((documents.sandbox.info as Node).version) },
    {
      instructions:
        "Tools of a sandbox of refunds and webhooks. Nothing here moves money, and nothing here can reach production.",
    },
  );
  for (const { name, description, contract, path, method } of TOOLS) {
    const inputSchema = fromJsonSchema<Node>(inputOf(documents[contract], path, method));
    server.registerTool(name, { description, inputSchema }, async (input) =>
      toResult(await send(toCall({ path, method }, input))),
    );
  }
  const code = {
    type: "object",
    required: ["errorCode"],
    additionalProperties: false,
    properties: { errorCode: { type: "string", minLength: 1, maxLength: 64 } },
  } as const;
  server.registerTool(
    "explain_error",
    {
      description: "Explains an errorCode of a problem or of a failed refund: its cause, and what to do.",
      inputSchema: fromJsonSchema<{ errorCode: string }>(code),
    },
    async ({ errorCode }) => {
      const { ok, text } = await send({ method: "GET", path: "/docs/problems.md" });
      const found = ok && text.split(/^#+ /m).find((section) => section.startsWith(`${errorCode}\n`));
      const unknown = `The contract has no errorCode ${errorCode}: a later version may add some. Treat it as the status of its response says, or like any other failed refund.`;
      return toResult({ ok, text: found ? found.trim() : ok ? unknown : text });
    },
  );
  return server;
}

type TextResponse = { readonly ok: boolean; readonly text: string };

const NO_RESPONSE =
  "The response was lost, so it is unknown whether this was done. A refund may have been issued: repeat it with the same requestKey, and a 409 names it.";

/** Sends calls to a sandbox on this machine, which each call makes sure of, because a port can change its owner. */
async function connect({ url, token }: McpOptions): Promise<(call: Call) => Promise<TextResponse>> {
  const { protocol, hostname, origin } = URL.parse(url) ?? { protocol: "", hostname: "", origin: "" };
  if (protocol !== "http:" || !isLocalName(hostname)) {
    throw new NotASandboxError(
      `--url must be the address of a sandbox on this machine, such as http://127.0.0.1:3000, not "${url}".`,
    );
  }
  if (!token.startsWith("sandbox_")) {
    throw new NotASandboxError(
      "--token must be an access token of a sandbox, such as sandbox_acme. Never give this command a token of production.",
    );
  }
  const headers = {
    Authorization: `Bearer ${token}`,
    Accept: "application/json",
    "Content-Type": "application/json",
  };
  const send = async ({ method, path, body }: Call, via = fetch): Promise<TextResponse> => {
    // A redirect could lead to another machine.
    const response = await via(origin + path, {
      method,
      headers,
      redirect: "error",
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { ok: response.ok, text: await response.text() };
  };
  const requireSandbox = async () => {
    const clock = await send({ method: "GET", path: "/sandbox/clock" }, fetchInTime).catch(() => undefined);
    if (clock?.ok && /^\{"now":"/.test(clock.text)) return;
    throw new NotASandboxError(
      `${origin} is no sandbox that knows this access token. Start one: npx @refund-contract/sandbox`,
    );
  };
  await requireSandbox();
  return async (call) => {
    await requireSandbox();
    return send(call).catch(() => ({ ok: false, text: NO_RESPONSE }));
  };
}

/** The body of an operation, or its parameters as one object, with every reference followed. */
function inputOf(document: Node, path: string, method: string): Node {
  const operation = dereference(document, `/paths${step(path)}/${method}`) as Operation;
  const body = operation.requestBody?.content["application/json"].schema;
  if (body) return body;
  const parameters = operation.parameters ?? [];
  return {
    type: "object",
    additionalProperties: false,
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
    properties: Object.fromEntries(
      parameters.map(({ name, description, schema }) => [name, { ...schema, description }]),
    ),
  };
}

type Operation = {
  readonly requestBody?: { readonly content: { readonly "application/json": { readonly schema: Node } } };
  readonly parameters?: readonly { name: string; required?: boolean; description?: string; schema: Node }[];
};

function toCall({ path, method }: Pick<Tool, "path" | "method">, input: Node): Call {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(input[name])));
  if (method === "get") {
    const query = new URLSearchParams(Object.entries(input).map(([name, value]) => [name, String(value)]));
    return { method: "GET", path: `${filled}?${query}` };
  }
  return { method: "POST", path: filled, ...(filled === path && { body: input }) };
}

function toResult({ ok, text }: TextResponse) {
  return { content: [{ type: "text" as const, text }], isError: !ok };
}

/** Defines the command that runs the server of the Model Context Protocol on standard input and output. */
export function defineMcp() {
  const command = defineProgram(
    "mcp",
    "Gives AI assistants the tools of a sandbox on this machine, by the Model Context Protocol on standard input and output.",
  );
  return withSandboxOptions(command, "whose records to use").action(runMcp);
}

async function runMcp(choice: { url: string; token: string }): Promise<void> {
  const { StdioServerTransport } = await import("@modelcontextprotocol/server/stdio");
  try {
    const server = await createMcpServer(choice);
    await server.connect(new StdioServerTransport());
  } catch (error) {
    if (!(error instanceof NotASandboxError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
