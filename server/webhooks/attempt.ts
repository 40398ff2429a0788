import type { Attempt, AttemptResult, Verdict } from "../storage/delivery-attempts.ts";
import { decryptSecret } from "../storage/secrets.ts";
import { retryDelay, toRetryWish } from "./schedule.ts";
import { type SendOptions, type SendResult, send } from "./send.ts";
import { signDelivery } from "./signature.ts";

export type AttemptParts = SendOptions & {
  readonly encryptionKeys: readonly Buffer[];
  /** Real time. */
  readonly realNow: () => Date;
  /** From 0 up to 1. */
  readonly random: () => number;
};

const GONE = 410;
/** Statuses above this are none that HTTP knows. */
const MAX_STATUS = 599;

/** Signs and sends a delivery once, and says what came of it and what follows (D22, D23). */
export async function makeAttempt(attempt: Attempt, parts: AttemptParts): Promise<AttemptResult> {
  const at = parts.realNow();
  const startedMs = performance.now();
  const result = await signAndSend(attempt, at, parts);
  return {
    at,
    status: result.status !== null && result.status <= MAX_STATUS ? result.status : null,
    error: result.error,
    milliseconds: Math.round(performance.now() - startedMs),
    answer: result.answer,
    verdict: judge(result, attempt.earlier + 1, parts),
  };
}

async function signAndSend(attempt: Attempt, at: Date, parts: AttemptParts): Promise<SendResult> {
  const { webhookId, merchant, url, payload: body } = attempt;
  const secretKey = readSecret(attempt, merchant, parts.encryptionKeys);
  if (secretKey === undefined) {
    return { status: null, error: "the secretKey can't be read", retryAfter: undefined, answer: null };
  }
  return send({ url, body, headers: signDelivery(secretKey, { webhookId, at, body }) }, parts);
}

/** Undefined when the operator has not configured the key that it was encrypted with. */
function readSecret(
  { secretCiphertext }: Attempt,
  merchant: string,
  keys: readonly Buffer[],
): string | undefined {
  try {
    return decryptSecret(keys, merchant, secretCiphertext);
  } catch {
    return undefined;
  }
}

function judge(result: SendResult, failed: number, { random, realNow }: AttemptParts): Verdict {
  if (result.error === null) return { kind: "delivered" };
  if (result.status === GONE) return { kind: "ended" };
  const afterMs = retryDelay(failed, random(), toRetryWish(result.retryAfter, realNow()));
  return afterMs === undefined ? { kind: "exhausted" } : { kind: "retry", afterMs };
}
