import { createServer } from "node:http";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, test } from "vitest";
import { subscriptionTo } from "../../helpers/factories.ts";
import { listenLocally } from "../../helpers/network/local-server.ts";
import { runProgram } from "../../helpers/process.ts";
import { startReceiver } from "../../helpers/receiver.ts";
import { sandboxOf } from "../../helpers/sandbox.ts";
import { post, useTestServer } from "../../helpers/server.ts";

const COMMAND = [process.execPath, "server/sandbox/cli.ts", "mcp"] as const;

/** The command, as a client of the protocol starts and uses it. */
async function connect(url: string) {
  const client = new Client({ name: "test", version: "1.0.0" });
  const [command, ...args] = [...COMMAND, "--url", url];
  await client.connect(new StdioClientTransport({ command, args }));
  return {
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    async call(name: string, input: Record<string, unknown> = {}) {
      const { content, isError } = await client.callTool({ name, arguments: input });
      const [first] = content as { text: string }[];
      return { isError: isError ?? false, text: first?.text ?? "" };
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

const REFUND = { paymentId: "pay_settled", amount: { currency: "USD", value: 1.5 }, requestKey: "mcp-1" };

/** A server on this machine that responds by the path, and keeps the paths. */
async function startOther(respond: (path: string) => { status: number; headers?: Record<string, string> }) {
  const paths: string[] = [];
  const other = createServer(({ url = "" }, response) => {
    paths.push(url);
    const { status, headers } = respond(url);
    response.writeHead(status, headers).end('{"now":"2026-11-23T09:30:00.000Z"}');
  });
  return { ...(await listenLocally(other)), paths };
}

describe("the server of the Model Context Protocol", () => {
  const server = useTestServer();

  test("gives a client of that protocol the tools of a sandbox", async () => {
    await using receiver = await startReceiver();
    await post(server.url, "/v1/webhook/subscribe", subscriptionTo(receiver.url));
    await using client = await connect(server.url);
    const { call } = client;

    const issued = await call("issue_refund", REFUND);
    const repeated = await call("issue_refund", REFUND);
    const advanced = await call("advance_clock", { by: "P30D" });
    await receiver.first(1);
    const deliveries = JSON.parse((await call("list_deliveries", { limit: 1 })).text);
    const redelivered = await call("redeliver", { webhookId: deliveries.items[0].webhookId });
    const armed = await call("arm_fault", { kind: "CLOSED_AFTER" });
    const lost = await call("issue_refund", { ...REFUND, requestKey: "mcp-2" });
    const unknownField = await call("issue_refund", { ...REFUND, currency: "USD" });

    expect((await client.names()).toSorted()).toEqual([
      ...["advance_clock", "arm_fault", "explain_error", "issue_refund"],
      ...["list_deliveries", "list_payments", "list_requests", "redeliver"],
    ]);
    expect(JSON.parse(issued.text)).toMatchObject({ paymentStatus: "AUTHORIZED" });
    const failed = [issued, repeated, advanced, redelivered, armed, unknownField].map((one) => one.isError);
    expect(failed).toEqual([false, true, false, false, false, true]);
    expect(lost).toEqual({ isError: true, text: expect.stringContaining("with the same requestKey") });
    expect((await sandboxOf(server)("listFaults")).body.items).toMatchObject([{ kind: "CLOSED_AFTER" }]);
  });

  test("sends nothing once another server has taken the port of the sandbox", async () => {
    let isSandbox = true;
    await using other = await startOther(() => ({ status: isSandbox ? 200 : 404 }));
    await using client = await connect(other.url);

    const before = await client.call("issue_refund", REFUND);
    isSandbox = false;
    const after = await client.call("issue_refund", REFUND);

    expect(before.isError).toBe(false);
    expect(after).toEqual({ isError: true, text: expect.stringContaining("is no sandbox") });
    expect(other.paths.filter((path) => path === "/v1/refunds")).toHaveLength(1);
  });

  const ELSEWHERE = "must be the address of a sandbox on this machine";
  test.each([
    ["another machine", ["--url", "https://payments.example.com"], ELSEWHERE],
    ["what is no address", ["--url", "sandbox"], ELSEWHERE],
    ["a token of production", ["--token", "eyJhbGciOi.e30.c2ln"], "must be an access token of a sandbox"],
  ])("refuses %s", async (_name, options, message) => {
    const { code, stderr } = await runProgram([...COMMAND, ...options]);

    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(message) });
  });
});
