import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { getPayment } from "../../../server/storage/payments/payment-record.ts";
import { runCommand, spawnCommand } from "../../helpers/admin-command.ts";
import { startProduction } from "../../helpers/deployment.ts";
import {
  createPayment,
  dollars,
  refundOf,
  type Subscription,
  subscriptionTo,
} from "../../helpers/factories.ts";
import { query } from "../../helpers/postgres.ts";
import { until } from "../../helpers/receiver.ts";
import { post } from "../../helpers/server.ts";
import { getDebit, newMerchant } from "../../helpers/store-factories.ts";
import { folderOfTest, forSuite } from "../../helpers/suite.ts";

describe("npm run admin", () => {
  const production = forSuite(() => startProduction());
  const server = forSuite(() => production.start());

  const run = (args: readonly string[], stdin = "", env = {}) =>
    runCommand(args, { stdin, env: { DATABASE_URL: production.url, ...env } });

  /** A merchant with a live subscription whose host does not resolve, and a refund with an exhausted delivery to it. */
  async function createExhausted() {
    const merchant = newMerchant();
    const token = await production.issuer.token({ merchant_id: merchant });
    const paymentId = await createPayment(server, { merchant });
    const target = subscriptionTo("https://receiver.invalid/hooks?token=hidden");
    const { body } = await post<Subscription>(server.url, "/v1/webhook/subscribe", target, { token });
    await post(server.url, "/v1/refunds", refundOf(paymentId), { token });
    const attempted = "select webhook_id from delivery_attempts where merchant = $1";
    const { webhook_id: webhookId } = await until(
      async () => (await query<{ webhook_id: string }>(production.url, attempted, [merchant]))[0],
    );
    const exhaust =
      "update deliveries set state = 'EXHAUSTED', due_at = null, attempts = 10 where webhook_id = $1";
    await query(production.url, exhaust, [webhookId]);
    return { merchant, webhookId, subscriptionKey: body.subscriptionKey, paymentId };
  }

  const untilRedelivered = (webhookId: string) =>
    until(
      async () =>
        (await query(production.url, "select from delivery_attempts where webhook_id = $1", [webhookId]))[1],
    );

  test("prints its help, and names the wrong setting or file", async () => {
    const runs = await Promise.all([
      runCommand([]),
      spawnCommand(["help"]),
      runCommand(["deliveries"]),
      runCommand(["rotate-key"], { env: { DATABASE_URL: production.url } }),
      run(["payments", "/nowhere/lines.jsonl"]),
      runCommand(["deliveries"], { env: { DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" } }),
    ]);

    expect(runs.slice(0, 2).map(({ code, stderr }) => [code, stderr])).toEqual([
      [0, ""],
      [0, ""],
    ]);
    for (const { stdout } of runs.slice(0, 2))
      expect(stdout).toMatch(/distribute +spread the tables[\s\S]*payments \[file\][\s\S]*rotate-key/);
    const counts = "0 lines: 0 applied, 0 unchanged, 0 refused\n";
    expect(runs.slice(2).map(({ code, stdout, stderr }) => [code, stdout, stderr])).toEqual([
      [1, "", expect.stringMatching(/^.*DATABASE_URL is required.*\n$/)],
      [1, "", expect.stringMatching(/^.*ENCRYPTION_KEY is required.*\n$/)],
      [1, counts, expect.stringMatching(/^.*Check the name of the file.*\n$/)],
      [1, "", expect.stringMatching(/^.*Check DATABASE_URL.*\n$/)],
    ]);
  });

  test("feeds payments from standard input and from a file, and exits with 1 for a refused line", async () => {
    const merchant = newMerchant();
    const name = { merchant, paymentId: "pay_1" };
    const put = JSON.stringify({ op: "put", ...name, amount: { currency: "USD", value: 25.5 } });
    const settle = JSON.stringify({ op: "settle", ...name, settledAt: "2026-11-18T15:30:00Z" });
    const folder = await folderOfTest();
    const file = join(folder, "lines.jsonl");
    await writeFile(file, `${put}\n${settle}\n${settle.replace("pay_1", "pay_2")}\n`);
    const env = { DATABASE_URL: production.url };
    const fromStdin = await spawnCommand(["payments"], { env, stdin: `${put}\n` });
    const fromFile = await spawnCommand(["payments", file], { env });

    const counts = "1 line: 1 applied, 0 unchanged, 0 refused\n";
    expect(fromStdin).toMatchObject({ code: 0, stderr: "", stdout: counts });
    expect(fromFile).toMatchObject({
      code: 1,
      stderr: "",
      stdout:
        "line 3 refused: there is no such payment of this merchant; put it first\n" +
        "3 lines: 1 applied, 1 unchanged, 1 refused\n",
    });
    expect(await getDebit(server.database.db, name)).toMatchObject({ status: "SETTLED", amountCents: 25_50 });
  });

  test("lists exhausted deliveries without the secrets of their URLs, and sends them again", async () => {
    const { merchant, webhookId, subscriptionKey } = await createExhausted();

    const listed = await run(["deliveries", "--merchant", merchant]);
    const none = await run(["deliveries", "--merchant", newMerchant()]);
    const repeated = await run(["redeliver", "--exhausted", "--subscription", subscriptionKey]);

    const [headings = "", row = "", ...more] = listed.stdout.trimEnd().split("\n");
    expect([listed.code, more, headings.split(/ {2,}/)[0]]).toEqual([0, [], "webhookId"]);
    expect(row.split(/ {2,}/)).toEqual([
      webhookId,
      merchant,
      subscriptionKey,
      "refund.authorized",
      expect.stringMatching(/^rfd_/),
      "EXHAUSTED",
      "10",
      expect.stringMatching(/^20\d\d-.*Z$/),
      "the host name does not resolve",
    ]);
    expect(none.stdout).toBe("None.\n");
    expect(repeated).toMatchObject({ code: 0, stderr: "", stdout: "1 delivery will be sent again.\n" });
    await untilRedelivered(webhookId);
  });

  test("prints no control characters of stored data to the operator's terminal", async () => {
    const merchant = newMerchant();
    const paymentId = "\u001b[2J\u0007";
    await createPayment(server, { merchant, paymentId, requestKey: "key" });
    const put = { op: "put", merchant, paymentId: "new", amount: dollars(1), requestKey: "key" };

    const { stdout } = await run(["payments"], JSON.stringify(put));

    expect(stdout).toContain("requestKey is used by ?[2J?");
    expect(await getPayment(server.database.db, { merchant, paymentId: "new" })).toBeUndefined();
  });
});
