import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { createSubscriber, type Received, type Subscriber, startReceiver } from "../../helpers/receiver.ts";
import { notFound, problemOf, violationAt } from "../../helpers/sandbox.ts";
import { useTestServer } from "../../helpers/server.ts";

const [FIRST, SECOND] = ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"];

const server = useTestServer();

const rotate = ({ sandbox }: Subscriber, subscriptionKey: string, body: object) =>
  sandbox("rotateSecret", { path: { subscriptionKey }, body });

/** Which of the secrets the stock library verifies a delivery with. */
function verifiers({ body, headers }: Received): string[] {
  return [FIRST, SECOND].filter((secret) => {
    try {
      new Webhook(secret).verify(body, headers as Record<string, string>);
      return true;
    } catch {
      return false;
    }
  });
}

test("while a secret replaces another, each delivery is verified with either, and then with the new one", async () => {
  await using receiver = await startReceiver();
  const acme = await createSubscriber(server);
  const key = await acme.subscribe(receiver.url, { secretKey: FIRST });
  await acme.refund();
  await receiver.first(1);

  const { status, body } = await rotate(acme, key, { secretKey: SECOND, overlapHours: 2 });
  await acme.refund();
  await receiver.first(2);
  await acme.sandbox("advanceClock", { body: { by: "PT3H" } });
  await acme.refund();

  const received = await receiver.first(3);
  expect(received.map(verifiers)).toEqual([[FIRST], [FIRST, SECOND], [SECOND]]);
  expect(new Set(received.map(({ webhookId }) => webhookId)).size).toBe(3);
  expect({ status, ...body }).toMatchObject({ status: 200, subscriptionKey: key, secretWarning: null });
  const shown = await acme.sandbox("getSubscription", { path: { subscriptionKey: key } });
  expect(shown.body).toEqual({ ...body, oldSecretUntil: null });
});

test("a third secret during an overlap is refused, and so is one for an ended subscription", async () => {
  const acme = await createSubscriber(server);
  const key = await acme.subscribe("https://merchant.example.com/");
  await rotate(acme, key, { secretKey: FIRST });

  const third = await rotate(acme, key, { secretKey: SECOND });
  await acme.sandbox("endSubscription", { path: { subscriptionKey: key } });
  const ended = await rotate(acme, key, { secretKey: FIRST });

  const message = /^must be 0, because two secrets sign already .* wait until 20\d\d-/;
  expect(problemOf(third)).toEqual(violationAt("/overlapHours", expect.stringMatching(message)));
  expect(problemOf(ended)).toEqual(notFound("You have no live subscription with this subscriptionKey."));
});
