import { createBatcher } from "../../async/batcher.ts";
import { noTimeLimit, type TimeLimit } from "../../async/time-limit.ts";
import { isLockTimeout } from "../database/unavailable.ts";
import type { RequestKey } from "./payment-queries.ts";
import type { PaymentKey, PaymentRecord } from "./payment-record.ts";
import type { LoadedOriginal, NewRefund } from "./refunds.ts";

/** The statements for many refunds, bound to a store. */
type RefundStatements = {
  loadOriginals(keys: readonly PaymentKey[]): Promise<readonly LoadedOriginal[]>;
  findByRequestKeys(keys: readonly RequestKey[]): Promise<readonly (PaymentRecord | undefined)[]>;
  saveRefunds(refunds: readonly NewRefund[], options: { lockTimeoutMs: number }): Promise<readonly boolean[]>;
  saveRefundInTime(refund: NewRefund, timeLimit: TimeLimit): Promise<boolean>;
};

/**
 * The storage functions that issuing a refund uses. Once the time limit has passed, they begin no further step for the
 * refund.
 */
export type RefundStore = {
  loadOriginal(key: PaymentKey, timeLimit?: TimeLimit): Promise<LoadedOriginal>;
  findByRequestKey(key: RequestKey, timeLimit?: TimeLimit): Promise<PaymentRecord | undefined>;
  /** Returns false when nothing was saved: the requestKey is taken, or the decision must be made again. */
  saveRefund(refund: NewRefund, timeLimit?: TimeLimit): Promise<boolean>;
};

const BATCH = { maxBatchSize: 128, concurrency: 1 } as const;

type OfMerchant = { readonly merchant: string };

/**
 * How long refunds that share a statement wait for each lock. A statement for other refunds normally holds its locks for a
 * shorter time.
 */
const LOCK_TIMEOUT_MS = 100;

/**
 * Collects the refunds that arrive while a statement is in progress into the next statement of that kind, so that they share
 * its round trip and its commit.
 *
 * @param byMerchant whether only refunds of one merchant may share a statement, as distributed tables need
 */
export function createRefundStore(
  statements: RefundStatements,
  { byMerchant = false }: { byMerchant?: boolean } = {},
): RefundStore {
  const keyOf = byMerchant ? ({ merchant }: OfMerchant) => merchant : undefined;
  /** How many refunds of an original payment wait for locks on their own. */
  const waiting = new Map<string, number>();

  function countWaiting(key: string, change: 1 | -1): void {
    const count = (waiting.get(key) ?? 0) + change;
    if (count === 0) waiting.delete(key);
    else waiting.set(key, count);
  }

  /** Waits for locks until the time limit, while refunds of other originals continue. */
  async function saveAlone({ refund, timeLimit }: Saving): Promise<boolean> {
    const key = toKey(refund);
    countWaiting(key, 1);
    try {
      return await statements.saveRefundInTime(refund, timeLimit);
    } finally {
      countWaiting(key, -1);
    }
  }

  const load = createBatcher(statements.loadOriginals, { ...BATCH, keyOf });
  const find = createBatcher(statements.findByRequestKeys, { ...BATCH, keyOf });
  const save = createBatcher(
    (all: readonly Saving[]) =>
      statements.saveRefunds(
        all.map(({ refund }) => refund),
        { lockTimeoutMs: LOCK_TIMEOUT_MS },
      ),
    {
      ...BATCH,
      keyOf: keyOf && (({ refund }: Saving) => keyOf(refund)),
      runAlone: saveAlone,
      isGivenUp: isLockTimeout,
    },
  );

  return {
    loadOriginal: (key, timeLimit = noTimeLimit) => load(key, timeLimit.signal),
    findByRequestKey: (key, timeLimit = noTimeLimit) => find(key, timeLimit.signal),
    saveRefund(refund, timeLimit = noTimeLimit) {
      const saving = { refund, timeLimit };
      // A refund of an original that is locked for a long time would delay all that share its statement.
      return waiting.has(toKey(refund)) ? saveAlone(saving) : save(saving, timeLimit.signal);
    },
  };
}

type Saving = { readonly refund: NewRefund; readonly timeLimit: TimeLimit };

function toKey({ merchant, original }: NewRefund): string {
  return JSON.stringify([merchant, original.paymentId]);
}
