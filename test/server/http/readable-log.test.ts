/** The log that a sandbox writes for people, a line for each event. */
import { expect, test } from "vitest";
import { refundOf, subscriptionTo } from "../../helpers/factories.ts";
import type { ServerProcess } from "../../helpers/process.ts";
import { startReceiver } from "../../helpers/receiver.ts";
import { post, spawnServer } from "../../helpers/server.ts";

async function refundLater(url: string, target: string) {
  await post(url, "/v1/webhook/subscribe", subscriptionTo(target));
  const { body } = await post<{ paymentId: string }>(url, "/v1/refunds", refundOf("pay_recent"));
  await post(url, "/sandbox/clock/advance", { by: "P30D" });
  return body.paymentId;
}

/** The output of a sandbox after its welcome, once it has stopped. */
async function printedUntilStop(server: ServerProcess): Promise<string[]> {
  server.kill("SIGTERM");
  const { stdout } = await server.exit;
  return stdout.slice(server.welcome.length).split("\n").filter(Boolean);
}

test("a sandbox prints a line for each call, transition and delivery", async () => {
  await using receiver = await startReceiver();
  await using server = await spawnServer();

  const refund = await refundLater(server.url, receiver.url);

  await receiver.first(2);
  const printed = await printedUntilStop(server);
  const texts = printed.map((text) => text.replace(/^\d\d:\d\d:\d\d /, "").replace(/ \d+ ms$/, ""));
  const { host } = new URL(receiver.url);
  expect(texts.map((text) => text.replace(/sub_\S+/, "sub_1")).toSorted()).toEqual(
    [
      "POST /v1/webhook/subscribe 200 acme",
      "subscription sub_1 signs by its secretKey: its text acme",
      `POST /v1/refunds 201 PENDING ${refund} acme`,
      "POST /sandbox/clock/advance 200 acme",
      `refund ${refund} is now AUTHORIZED acme`,
      `webhook refund.pending to ${host} 204 delivered acme`,
      `webhook refund.authorized to ${host} 204 delivered acme`,
      "Stopping (SIGTERM).",
      "Stopped.",
    ].toSorted(),
  );
});
