import { once } from "node:events";
import { PassThrough } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import { listen } from "../../../server/sandbox/commands/listen.ts";
import { AUTHORIZED_EVENT, SECRET_KEY, signDelivery } from "../../client/signed-deliveries.ts";
import { type Refund, refundOf } from "../../helpers/factories.ts";
import { startProgram } from "../../helpers/process.ts";
import { sandboxOf } from "../../helpers/sandbox.ts";
import { post, startTestServer, useTestServer } from "../../helpers/server.ts";

const server = useTestServer();
const sandbox = sandboxOf(server);

/** Ends a subscription, if it is live. */
async function wasSubscribed(subscriptionKey: string): Promise<boolean> {
  return (await sandbox("endSubscription", { path: { subscriptionKey } })).status === 204;
}

describe("a listener", () => {
  test.each(["a reset", "a restart that lost the data"])("subscribes again after %s", async (cause) => {
    let sandbox = await startTestServer();
    onTestFinished(() => sandbox.close());
    const out = new PassThrough({ encoding: "utf8" });
    const { subscriptionKey, stop } = await listen({
      ...{ url: sandbox.url, token: "sandbox_acme", events: [], secretKey: SECRET_KEY, out },
    });
    if (cause === "a reset") await sandboxOf(sandbox)("resetSandbox");
    else {
      await sandbox.close();
      sandbox = await startTestServer({ env: { PORT: new URL(sandbox.url).port } });
    }

    const [message] = await once(out, "data");
    const body = { type: "account.linked", resourceId: "acc_1" };
    await sandboxOf(sandbox)("emitEvent", { body });
    const [event] = await once(out, "data");

    const [, again = ""] = message.match(/^The sandbox was reset; subscribed again as (sub_[\w-]+)\.\n$/);
    expect(again).not.toBe(subscriptionKey);
    expect(event).toContain("account.linked          acc_1");
    expect(await stop()).toBe(`Ended the subscription ${again}.`);
  });
});

describe("npm run listen", () => {
  const start = (...args: string[]) =>
    startProgram([process.execPath, "server/sandbox/cli.ts", "listen", ...args]);

  test("shows where it listens and what comes, and ends its subscription at SIGTERM", async () => {
    await using command = start("--url", server.url, "--events", "refund.authorized,refund.pending");
    const [, key = ""] = await command.untilPrinted(/as (sub_[\w-]+)\./);
    const [, receiverUrl = ""] = await command.untilPrinted(/Deliveries come to (\S+)\. /);
    const { body, headers } = signDelivery(AUTHORIZED_EVENT, new Date("2020-01-01T00:00:00Z"));
    await fetch(receiverUrl, { method: "POST", body, headers });
    await command.untilPrinted(/Refused a delivery\. The attempt is \d+ s old\./);
    const request = refundOf("pay_recent", { clientReferenceId: "order-1042" });
    const { paymentId } = (await post<Refund>(server.url, "/v1/refunds", request)).body;
    await command.untilPrinted(new RegExp(`refund\\.pending +${paymentId}  #1  PENDING order-1042\n`));
    await sandbox("advanceClock", { body: { by: "P30D" } });
    await command.untilPrinted(new RegExp(`refund\\.authorized +${paymentId}  #2  AUTHORIZED order-1042\n`));

    command.kill("SIGTERM");

    const { code, stdout, stderr } = await command.exit;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(`Subscribed to refund.authorized, refund.pending of ${server.url} as ${key}.`);
    expect(stdout).toMatch(new RegExp(`\nEnded the subscription ${key}\\.\nStopped\\.\n$`));
    expect(stdout).not.toContain("\u001b"); // no colours outside a terminal
    expect(await wasSubscribed(key)).toBe(false);
  });
});
