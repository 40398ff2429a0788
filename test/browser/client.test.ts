import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";
import { openTab } from "../helpers/browser.ts";
import { serveLocally } from "../helpers/network/local-server.ts";
import { startTestServer } from "../helpers/server.ts";

const ENTRY = fileURLToPath(new URL("../../client/src/index.ts", import.meta.url));

type Client = typeof import("../../client/src/index.ts");

/** The script of a merchant's page at another origin, which imports the client. */
async function useClient(): Promise<unknown> {
  const { createClient, signWebhook, verifyWebhook } = (globalThis as unknown as { refundClient: Client })
    .refundClient;
  const client = createClient({ baseUrl: location.origin, accessToken: "sandbox_acme" });
  const request = { paymentId: "pay_settled", amount: "0.01", requestKey: "browser-1" };
  const refund = await client.refunds.issue(request);
  const repeated = await client.refunds.issue(request, { repeated: true });
  const refused = await client.refunds.issue(request).catch((error: unknown) => String(error));
  const moved = createClient({ baseUrl: `${location.origin}/moved`, accessToken: "sandbox_acme" });
  const redirected = await moved.refunds.issue(request).then(String, String);
  const event = { type: "account.linked", timestamp: "", sequence: 1, data: { accountId: "acc_1" } } as const;
  const { body, headers } = signWebhook(event, "s");
  const { type } = verifyWebhook(body, headers, "s");
  return [
    refund.paymentStatus,
    repeated.paymentId === refund.paymentId,
    refused,
    redirected.slice(0, 45),
    type,
  ];
}

test("the client works with a browser's fetch, in a page at the address of a proxy", async () => {
  await using sandbox = await startTestServer();
  const build = await rolldown({ input: ENTRY, platform: "browser" });
  const { output } = await build.generate({ format: "iife", name: "refundClient" });
  await using server = await serveLocally(async (request, response) => {
    const { url = "", headers } = request;
    if (url === "/") return void response.setHeader("Content-Type", "text/html").end("<!doctype html>");
    if (url.startsWith("/moved")) return void response.writeHead(308, { Location: "/v1/refunds" }).end();
    const { authorization = "", accept = "", "content-type": type = "" } = headers;
    const forwarded = { authorization, accept, "content-type": type };
    const body = await buffer(request);
    const upstream = await fetch(sandbox.url + url, { method: "POST", body, headers: forwarded });
    response.writeHead(upstream.status, { "Content-Type": upstream.headers.get("content-type") ?? "" });
    response.end(await upstream.text());
  });
  const page = await openTab();
  await page.goto(server.url);
  await page.addScriptTag({ content: output[0].code });

  expect(await page.evaluate(useClient)).toEqual([
    "AUTHORIZED",
    true,
    expect.stringMatching(/^ProblemError: DUPLICATE_REQUEST_KEY/),
    "UnexpectedResponseError: The response 0 from ",
    "account.linked",
  ]);
});
