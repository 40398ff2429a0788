import { randomBytes } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { verifyWebhook } from "../../../client/src/webhooks/verify.ts";
import { engines } from "../../helpers/engine.ts";
import { dollars, type Subscription, subscriptionTo } from "../../helpers/factories.ts";
import type { ServerProcess } from "../../helpers/process.ts";
import { type Received, startReceiver } from "../../helpers/receiver.ts";
import { sandboxOf } from "../../helpers/sandbox.ts";
import { createRandom, reportProgress, roundsOf } from "./setup/figures.ts";
import { createLastingStore } from "./setup/lasting-store.ts";
import { createLedger, send, startLoad } from "./setup/load.ts";
import { conclude, repeatUnknown } from "./setup/losses.ts";

/** The latest moment of a change or of a kill, in milliseconds after what precedes it. */
const LOAD_MS = 400;
const KILL_MS = 20;

const newSecret = () => `whsec_${randomBytes(32).toString("base64")}`;

test.each(engines)(
  "a receiver that changes its secret during the overlap, while servers are killed, loses and refuses nothing (%s)",
  async (engine) => {
    const random = createRandom(`rotation ${engine}`);
    const rounds = roundsOf(0.2);
    await using store = await createLastingStore(engine);
    const servers: ServerProcess[] = [];
    const server = () => servers.at(-1) as ServerProcess;
    for (let count = engine === "postgres" ? 2 : 1; count > 0; count -= 1) servers.push(await store.start());
    let secretKey = newSecret();
    const refused: string[] = [];
    let withTwo = 0;
    await using receiver = await startReceiver((response, { body, headers, webhookId }: Received) => {
      const plain = headers as Record<string, string>;
      if (plain["webhook-signature"]?.includes(" ")) withTwo += 1;
      try {
        verifyWebhook(body, plain, secretKey);
        response.writeHead(204).end();
      } catch {
        refused.push(webhookId);
        response.writeHead(400).end();
      }
    });
    const { body } = await sandboxOf(server())("createPayment", { body: { amount: dollars(9_999_999) } });
    const subscriptionDetails = { type: "EVENT", details: ["refund.authorized"] };
    const subscription = subscriptionTo(receiver.url, { secretKey, subscriptionDetails });
    const subscribed = await send<Subscription>(server().url, "/v1/webhook/subscribe", subscription);
    const path = `/sandbox/subscriptions/${subscribed?.body.subscriptionKey}/rotate-secret`;
    const rotate = async (next: string, overlapHours = 24) =>
      (await send(server().url, path, { secretKey: next, overlapHours }))?.status;
    const ledger = createLedger((body as { paymentId: string }).paymentId);
    let killed = 0;

    for (let round = 1; round <= rounds; round += 1) {
      const next = newSecret();
      const before = startLoad(servers, ledger);
      await setTimeout(random() * LOAD_MS);
      const rotating = rotate(next);
      if (round % 2 === 0) {
        await setTimeout(random() * KILL_MS);
        const stopped = servers.pop();
        stopped?.kill("SIGKILL");
        await stopped?.exit;
        killed += 1;
      }
      await rotating;
      await before.stop();
      if (round % 2 === 0) servers.push(await store.start());
      expect(await rotate(next)).toBe(200); // again, because a killed server may have changed it or not

      const during = startLoad(servers, ledger);
      await setTimeout(random() * LOAD_MS);
      secretKey = next;
      await setTimeout(random() * LOAD_MS);
      await during.stop();
      await repeatUnknown(server(), ledger);
      expect(await rotate(next, 0)).toBe(200);
      reportProgress(`secret changed, ${engine}`, round, rounds, { killed, refused: refused.length });
    }

    const figures = { rounds, killed, "with two signatures": withTwo, refused: refused.length };
    await conclude(`secret changed, ${engine}`, server(), { ledger, receiver, figures });
    expect(refused).toEqual([]);
    expect(withTwo).toBeGreaterThan(rounds);
  },
);
