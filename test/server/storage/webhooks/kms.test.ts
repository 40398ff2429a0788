import { randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { runCommand } from "../../../helpers/admin.ts";
import { createTestDatabase } from "../../../helpers/databases.ts";
import { createPayment, refundOf, subscriptionTo } from "../../../helpers/factories.ts";
import { startKms } from "../../../helpers/kms.ts";
import { type Receiver, startReceiver } from "../../../helpers/receiver.ts";
import { post, startTestServer, type TestServer } from "../../../helpers/server.ts";

const ENCRYPTION_KEY = randomBytes(32).toString("base64");
const secretKey = `secret ${randomBytes(8).toString("hex")}`;

const subscribe = (server: TestServer, url: string) =>
  post(server.url, "/v1/webhook/subscribe", subscriptionTo(url, { secretKey }));

async function refund(server: TestServer): Promise<void> {
  const paymentId = await createPayment(server, { merchant: "acme" });
  const { status } = await post(server.url, "/v1/refunds", refundOf(paymentId));
  expect(status).toBe(201);
}

function verifyAll({ received }: Receiver): void {
  for (const { body, headers } of received) {
    new Webhook(secretKey, { format: "raw" }).verify(body, headers as Record<string, string>);
  }
}

describe("an encryption key that a KMS holds", () => {
  test("is asked once for each merchant; while the KMS is unavailable, only new merchants' subscriptions fail", async () => {
    // The program refuses to run where it can see the secrets of the server.
    vi.stubEnv("ENCRYPTION_KEY", ENCRYPTION_KEY);
    vi.stubEnv("PGPASSWORD", "password");
    onTestFinished(() => void vi.unstubAllEnvs());
    await using kms = await startKms();
    await using receiver = await startReceiver();
    await using database = await createTestDatabase("postgres");
    const env = { DATABASE_URL: database.url, ENCRYPTION_KEY_COMMAND: kms.command };
    const first = await startTestServer({ dataDir: "unused", env });
    const whenStarted = await kms.operations();
    await subscribe(first, receiver.url);
    await subscribe(first, receiver.url);
    const whenSubscribed = await kms.operations();
    await first.close();
    await using second = await startTestServer({ dataDir: "unused", env });
    await refund(second);
    await receiver.first(2);
    const whenDelivered = await kms.operations();

    await kms.leave();
    await refund(second);
    await receiver.first(4);
    const refused = await subscribe(second, receiver.url);
    await kms.comeBack();
    const accepted = await subscribe(second, receiver.url);

    expect(whenStarted).toEqual(["wrap", "unwrap"]);
    expect(whenSubscribed).toEqual(["wrap"]);
    expect(whenDelivered).toEqual(["wrap", "unwrap", "unwrap"]);
    expect([refused.status, refused.headers.get("retry-after"), accepted.status]).toEqual([503, "1", 200]);
    verifyAll(receiver);
  });

  test("replaces a key of the settings, and can be replaced by one", async () => {
    await using kms = await startKms();
    await using receiver = await startReceiver();
    await using database = await createTestDatabase("postgres");
    const own = { DATABASE_URL: database.url, ENCRYPTION_KEY };
    const ofKms = { DATABASE_URL: database.url, ENCRYPTION_KEY_COMMAND: kms.command };
    const server = await startTestServer({ dataDir: "unused", env: own });
    await subscribe(server, receiver.url);
    await server.close();

    for (const [env, earlier] of [
      [ofKms, { ENCRYPTION_KEYS_OLD: ENCRYPTION_KEY }],
      [own, { ENCRYPTION_KEY_COMMAND: kms.command }],
    ] as const) {
      const rotate = async (...more: string[]) =>
        (await runCommand(["rotate-key", ...more], { env: { ...env, ...earlier } })).stdout;
      const rotations = [await rotate(), await rotate(), await rotate("--all")];
      await using next = await startTestServer({ dataDir: "unused", env });
      const before = receiver.received.length;
      await refund(next);
      await receiver.first(before + 1);

      expect(rotations).toEqual([
        expect.stringContaining("1 encrypted anew, 0 were current"),
        expect.stringContaining("0 encrypted anew, 1 were current"),
        expect.stringContaining("1 encrypted anew, 0 were current"),
      ]);
    }
    verifyAll(receiver);
  });

  test.each([
    ["is away", undefined, 'ended with 3 for "wrap": the KMS is away'],
    ["is not there", "/no/such/program", 'ended with ENOENT for "wrap"'],
    ["prints something else", "/bin/echo", 'printed no key of 32 bytes in base64 for "unwrap"'],
  ])("stops the start when its program %s", async (_name, program, message) => {
    await using kms = await startKms();
    await using database = await createTestDatabase("postgres");
    await kms.leave();
    const env = { DATABASE_URL: database.url, ENCRYPTION_KEY_COMMAND: program ?? kms.command };

    await expect(startTestServer({ dataDir: "unused", env })).rejects.toThrow(
      `ENCRYPTION_KEY_COMMAND ${message}`,
    );
  });
});
