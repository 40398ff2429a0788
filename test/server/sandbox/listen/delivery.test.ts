import { describe, expect, test } from "vitest";
import { createClient } from "../../../../client/src/index.ts";
import { post, useTestServer } from "../../../helpers/server.ts";
import { spawnListen } from "./process.ts";

const server = useTestServer();

describe("npm run listen, at a sandbox that delivers", () => {
  test("shows a refund from its first status to its authorization, and the events of accounts", async () => {
    await using command = spawnListen("--url", server.url);
    await command.untilPrinted(/Deliveries come to /);
    const client = createClient({ baseUrl: server.url, accessToken: "sandbox_acme" });

    const refund = await client.issueRefund({
      paymentId: "pay_recent",
      amount: { currency: "USD", value: 19.99 },
      clientReferenceId: "order-1042",
      requestKey: "listen-1",
    });
    if (refund.status !== 201) throw new Error(`got ${refund.status}`);
    const { paymentId } = refund.body;
    await command.untilPrinted(new RegExp(`refund\\.pending +${paymentId}  #1  PENDING order-1042\n`));
    await post(server.url, "/sandbox/clock/advance", { businessDays: 3 });
    await command.untilPrinted(new RegExp(`refund\\.authorized +${paymentId}  #2  AUTHORIZED order-1042\n`));
    await post(server.url, "/sandbox/events", { type: "account.linked", resourceId: "acc_1" });
    await command.untilPrinted(/account\.linked +acc_1 +#1\n/);

    command.child.kill("SIGINT");
    const { code, out, error } = await command.exit;
    expect({ code, error }).toEqual({ code: 0, error: "" });
    expect(out).not.toContain("Refused");
  });

  test("shows no event that was not asked for, and none of another merchant", async () => {
    await using command = spawnListen("--url", server.url, "--events", "ACCOUNT");
    await command.untilPrinted(/Deliveries come to /);

    await post(server.url, "/sandbox/events", { type: "customer.created", resourceId: "cus_2" });
    const globex = { token: "sandbox_globex" };
    await post(server.url, "/sandbox/events", { type: "account.linked", resourceId: "acc_2" }, globex);
    await post(server.url, "/sandbox/events", { type: "account.unlinked", resourceId: "acc_3" });
    await command.untilPrinted(/account\.unlinked +acc_3 +#1\n/);

    command.child.kill("SIGTERM");
    const { code, out } = await command.exit;
    expect(code).toBe(0);
    expect(out).not.toMatch(/cus_2|acc_2/);
  });
});
