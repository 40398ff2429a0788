import { randomInt } from "node:crypto";
import type { Logger } from "pino";
import type { SandboxSchemas } from "../../contract/contract-document.ts";
import type { HandlersOf } from "../../contract/operation-types.ts";
import { compileResponseValidators } from "../../contract/validate-response.ts";
import type { DomainClock } from "../../domain/domain-time.ts";
import type { HttpResponse, Middleware } from "../../http/request-locals.ts";
import { sendProblem } from "../../http/send-response.ts";
import type { Store } from "../../storage/open-store.ts";
import type { Attempt } from "../../storage/webhooks/claim-deliveries.ts";
import type { AttemptsOf } from "../../webhooks/delivery-attempt.ts";
import type { Changes } from "./change-stream.ts";
import { TOMORROW_MERCHANT } from "./fixtures.ts";
import type { LaterApi } from "./later-version-messages.ts";

/** Plays a later version of the contract for the merchants that have switched it on. */
export type Tomorrow = {
  /** Revises the responses that the response guard has let pass, and holds them to the later version's document. */
  reviseResponses: Middleware;
  /** Removes what only the later version knows from a body, before it is validated. */
  acceptLaterFields: Middleware;
  /** Revises what `attempts` sends. After the first attempt of an event, it also sends the events that only the later version has. */
  before(attempts: AttemptsOf): AttemptsOf;
  /** The text of an event as it is sent to a merchant, or was: its first attempt decides. */
  revisePayload(merchant: string, payload: string): string;
  handlers: HandlersOf<"getTomorrow" | "setTomorrow">;
  /** @param seed without one, one is drawn */
  switchOn(merchant: string, seed?: number): Promise<void>;
  /** Switches it off when a merchant is reset, except for the merchant that always plays it. */
  forget(merchant: string): void;
};

export type TomorrowParts = {
  store: Pick<Store, "emitFurtherEvent">;
  clock: Pick<DomainClock, "now">;
  changes: Pick<Changes, "notify">;
  logger: Logger;
};

/** The largest seed that fits into 32 bits. */
const MAX_SEED = 2 ** 31 - 1;

/** How many events of all merchants are remembered with the version by which they were sent. */
const MAX_SENT = 10_000;

export function createTomorrow({ store, clock, changes, logger }: TomorrowParts): Tomorrow {
  const apis = new Map<string, LaterApi>();
  /** The version by which each event was first sent; undefined: the published one. Each attempt has to send the same bytes (D21). */
  const sentBy = new Map<string, LaterApi | undefined>();
  const apiOf = ({ locals: { caller } }: HttpResponse) => caller && apis.get(caller.merchant);

  const show = (merchant: string): SandboxSchemas["Tomorrow"] => {
    const api = apis.get(merchant);
    const additions = (api?.additions ?? []).map(({ kind, name, pointer }) => ({ kind, name, pointer }));
    return { on: api !== undefined, seed: api?.seed ?? null, additions };
  };

  const revisePayload = (merchant: string, payload: string) => {
    const key = keyOf(merchant, payload);
    const api = sentBy.has(key) ? sentBy.get(key) : apis.get(merchant);
    return api?.reviseEvent(payload) ?? payload;
  };

  async function switchOn(merchant: string, seed = randomInt(MAX_SEED + 1)): Promise<void> {
    // Loaded when it is asked for: most sandboxes never play a later version.
    const { createLaterApi } = await import("./later-version-messages.ts");
    apis.set(merchant, await createLaterApi(seed));
    logger.info({ merchant, seed }, "plays tomorrow's API");
  }

  /** Decides once by which version an event is sent, and sends the further events of that version. */
  async function decide({ merchant, payload, earlierAttempts }: Attempt): Promise<void> {
    const key = keyOf(merchant, payload);
    if (sentBy.has(key)) return;
    const api = apis.get(merchant);
    sentBy.set(key, api);
    const [oldest = ""] = sentBy.keys();
    if (sentBy.size > MAX_SENT) sentBy.delete(oldest);
    if (!api || earlierAttempts > 0) return;
    const now = await clock.now();
    for (const { type, toPayload, ...resource } of api.furtherEventsOf(payload)) {
      const toMessage = (sequence: number) => ({ type, payload: toPayload(sequence) });
      await store.emitFurtherEvent({ merchant, now, toMessage, ...resource });
    }
    changes.notify(["webhooks"], merchant);
  }

  return {
    reviseResponses(request, response, next) {
      if (apis.size === 0) return next();
      const { end } = response;
      const method = request.method.toLowerCase();
      const revise = (...args: unknown[]) => {
        Object.assign(response, { end });
        const api = apiOf(response);
        const { path } = request;
        if (!api?.document.paths[path]?.[method as "post"]) return Reflect.apply(end, response, args);
        const location = { path, method, status: response.statusCode };
        const type = String(response.getHeader("content-type"));
        const text = api.reviseBody(location, type, toText(args[0]));
        response.set({ ...api.headersOf(location), "Content-Length": `${Buffer.byteLength(text)}` });
        const validate = compileResponseValidators(api.document, { whenUsed: true })(request.method, path);
        const header = (name: string) => response.getHeader(name)?.toString();
        const errors = validate?.({ status: response.statusCode, header, text }) ?? [];
        if (errors.length === 0) return Reflect.apply(end, response, [text]);
        logger.error({ seed: api.seed, errors }, "a revised response breaks the later version's contract");
        sendProblem(request, response, { code: "INTERNAL_ERROR" });
        return response;
      };
      Object.assign(response, { end: revise });
      next();
    },

    acceptLaterFields(request, response, next) {
      const api = apiOf(response);
      if (api) request.body = api.withoutLaterFields(request.body);
      next();
    },

    revisePayload,

    before: ({ makeAttempt }) => ({
      async makeAttempt(attempt, options) {
        await decide(attempt).catch((error: unknown) =>
          logger.warn({ err: error, webhookId: attempt.webhookId }, "no further events follow"),
        );
        const payload = revisePayload(attempt.merchant, attempt.payload);
        return makeAttempt({ ...attempt, payload }, options);
      },
    }),

    handlers: {
      async getTomorrow({ merchant }) {
        return { status: 200, body: show(merchant) };
      },
      async setTomorrow({ merchant, body: { on, seed } }) {
        if (on) await switchOn(merchant, seed);
        else apis.delete(merchant);
        changes.notify(["requests", "webhooks"], merchant);
        return { status: 200, body: show(merchant) };
      },
    },
    switchOn,
    forget(merchant) {
      for (const key of sentBy.keys()) if (key.startsWith(keyOf(merchant, ""))) sentBy.delete(key);
      if (merchant !== TOMORROW_MERCHANT) apis.delete(merchant);
    },
  };
}

/** Names an event: its text has the resource, the number and the time. */
const keyOf = (merchant: string, payload: string) => `${merchant} ${payload}`;

function toText(chunk: unknown): string {
  return chunk instanceof Uint8Array ? Buffer.from(chunk).toString() : String(chunk);
}
