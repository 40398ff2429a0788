import { describe, expect, test } from "vitest";
import { createClient } from "../../../../client/src/index.ts";
import { startProgram } from "../../../helpers/process.ts";
import { post, useTestServer } from "../../../helpers/server.ts";

const LISTEN = [process.execPath, "server/sandbox/cli.ts", "listen"];

const server = useTestServer();

describe("npm run listen, at a sandbox that delivers", () => {
  test("shows a refund from its first status to its authorization, and the events of accounts", async () => {
    await using command = startProgram([...LISTEN, "--url", server.url]);
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

    command.kill("SIGINT");
    const { code, stdout, stderr } = await command.exit;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).not.toContain("Refused");
  });

  test("shows no event that was not asked for, and none of another merchant", async () => {
    await using command = startProgram([...LISTEN, "--url", server.url, "--events", "ACCOUNT"]);
    await command.untilPrinted(/Deliveries come to /);

    await post(server.url, "/sandbox/events", { type: "customer.created", resourceId: "cus_2" });
    const globex = { token: "sandbox_globex" };
    await post(server.url, "/sandbox/events", { type: "account.linked", resourceId: "acc_2" }, globex);
    await post(server.url, "/sandbox/events", { type: "account.unlinked", resourceId: "acc_3" });
    await command.untilPrinted(/account\.unlinked +acc_3 +#1\n/);

    command.kill("SIGTERM");
    const { code, stdout } = await command.exit;
    expect(code).toBe(0);
    expect(stdout).not.toMatch(/cus_2|acc_2/);
  });
});
