import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { startReceiver } from "../../helpers/receiver.ts";
import { useTestServer } from "../../helpers/server.ts";
import { createSubscriber } from "../../helpers/subscriber.ts";

const server = useTestServer();

/** As in "Receiving webhooks" under "Other languages". */
test.each([
  ["ASCII", "correct horse battery staple", true],
  ["other characters", "größe 🐎", false],
])("a secret of %s verifies in the forms that the guide names", async (_, secretKey, asText) => {
  await using receiver = await startReceiver();
  const acme = await createSubscriber(server);
  await acme.subscribe(receiver.url, { secretKey });
  await acme.refund();
  const [received] = await receiver.first(1);
  if (!received) throw new Error("nothing came");
  const verifies = (webhook: Webhook) => {
    try {
      webhook.verify(received.body, received.headers as Record<string, string>);
      return true;
    } catch {
      return false;
    }
  };

  const encoded = new Webhook(`whsec_${Buffer.from(secretKey).toString("base64")}`);
  const bytes = new Webhook(Buffer.from(secretKey), { format: "raw" });
  const text = new Webhook(secretKey, { format: "raw" });
  expect([encoded, bytes, text].map(verifies)).toEqual([true, true, asText]);
});
