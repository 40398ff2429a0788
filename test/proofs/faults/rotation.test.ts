import { randomBytes } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { verifyWebhook } from "../../../client/src/webhooks/verify.ts";
import { engines } from "../../helpers/engine.ts";
import type { Responder } from "../../helpers/receiver.ts";
import { sandboxOf } from "../../helpers/sandbox.ts";
import { createRandom, roundsOf } from "./setup/figures.ts";
import { createLastingStore } from "./setup/lasting-store.ts";
import { startTrial } from "./setup/trial.ts";

/** The latest moment of a change or of a kill, in milliseconds after what precedes it. */
const LOAD_MS = 400;
const KILL_MS = 20;

const newSecret = () => `whsec_${randomBytes(32).toString("base64")}`;

test.each(engines)(
  "a receiver that changes its secret during the overlap, while servers are killed, loses and refuses nothing (%s)",
  async (engine) => {
    const random = createRandom(`rotation ${engine}`);
    const rounds = roundsOf(0.2);
    const store = await createLastingStore(engine);
    let secretKey = newSecret();
    const refused: string[] = [];
    const counted = { killed: 0, "with two signatures": 0, refused: 0 };
    const respond: Responder = (response, { body, headers, webhookId }) => {
      const plain = headers as Record<string, string>;
      if (plain["webhook-signature"]?.includes(" ")) counted["with two signatures"] += 1;
      try {
        verifyWebhook(body, plain, secretKey);
        response.writeHead(204).end();
      } catch {
        refused.push(webhookId);
        response.writeHead(400).end();
      }
    };
    const replicas = engine === "postgres" ? 2 : 1;
    const options = { counted, replicas, respond, secretKey };
    const trial = await startTrial(`secret changed, ${engine}`, store.start, options);
    const { body } = await sandboxOf(trial.server)("listSubscriptions");
    const path = { subscriptionKey: body.items[0]?.subscriptionKey ?? "" };
    /** Resolves with undefined when the server is killed before its response. */
    const rotate = (next: string, overlapHours = 24) =>
      sandboxOf(trial.server)("rotateSecret", { path, body: { secretKey: next, overlapHours } }).then(
        ({ status }) => status,
        () => undefined,
      );

    await trial.repeat(rounds, async (round) => {
      const next = newSecret();
      const kills = round % 2 === 0;
      await trial.underLoad(async () => {
        await setTimeout(random() * LOAD_MS);
        const rotating = rotate(next);
        if (kills) {
          await setTimeout(random() * KILL_MS);
          await trial.server.stop("SIGKILL");
          counted.killed += 1;
        }
        await rotating;
      });
      if (kills) await trial.replaceServer();
      expect(await rotate(next)).toBe(200); // once more, because a killed server may have changed it or not

      await trial.underLoad(async () => {
        await setTimeout(random() * LOAD_MS);
        secretKey = next;
        await setTimeout(random() * LOAD_MS);
      });
      await trial.recover();
      expect(await rotate(next, 0)).toBe(200);
      counted.refused = refused.length;
    });

    await trial.conclude();
    expect(refused).toEqual([]);
    expect(counted["with two signatures"]).toBeGreaterThan(rounds);
  },
);
