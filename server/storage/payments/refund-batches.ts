import pLimit from "p-limit";
import { createBulkhead } from "../../admission/bulkhead.ts";
import { createKeyedLimit } from "../../admission/keyed-limit.ts";
import { createBatcher, type OnRun } from "../../async/batcher.ts";
import { noTimeLimit, type TimeLimit } from "../../domain/time-limit.ts";
import type { Store } from "../database/tables.ts";
import { isLockTimeout } from "../database/unavailable.ts";
import type { PaymentKey, PaymentRecord, RequestKey } from "../statements/payment-record.ts";
import type { LoadedOriginal, NewRefund } from "../statements/refunds.ts";
import { type OfMerchant, saveRefunds } from "../statements/statements.ts";

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
  /** How many refunds wait for locks on their own, or for their turn to. */
  refundsWaiting(): number;
};

const BATCH = { maxBatchSize: 128, concurrency: 1 } as const;

/**
 * How long refunds that share a statement wait for each lock. A statement for other refunds normally holds its locks for a
 * shorter time.
 */
const LOCK_TIMEOUT_MS = 100;

/**
 * How many refunds of one payment, of one merchant, and in all may wait for locks at a time. Each holds one of the 20 connections
 * that all merchants share; further ones wait in this process, where they hold none.
 */
const MAX_WAITING = { ofPayment: 1, ofMerchant: 4, ofAll: 10 } as const;

/**
 * How many may wait in this process, those above included. Further ones are refused, because each takes the slot of a call: the
 * calls of a few merchants with locked payments would otherwise take all of them. A payment has room for a whole statement.
 */
const ROOM = { ofPayment: BATCH.maxBatchSize, ofMerchant: 192, ofAll: 256 } as const;

/**
 * Collects the refunds that arrive while a statement is in progress into the next statement of that kind, so that they share
 * its round trip and its commit.
 *
 * @param keyOf refunds with the same key may share a statement; all refunds when undefined
 * @param onRun called with the number of refunds of each statement
 */
export function createRefundStore(
  statements: RefundStatements,
  keyOf?: (item: OfMerchant) => string,
  onRun?: OnRun,
): RefundStore {
  /** Refunds that wait for locks on their own, by original payment and by merchant. */
  const ofPayment = createKeyedLimit(MAX_WAITING.ofPayment);
  const ofMerchant = createKeyedLimit(MAX_WAITING.ofMerchant);
  /** Those that have waited in vain for as long as a shared statement does. */
  const ofAll = pLimit(MAX_WAITING.ofAll);
  const bulkhead = createBulkhead(ROOM.ofAll);

  /** Waits for locks until the time limit, while refunds of other originals continue. */
  function saveAlone({ refund, timeLimit }: Saving): Promise<boolean> {
    const saveLate = async () => {
      timeLimit.signal.throwIfAborted();
      return statements.saveRefundInTime(refund, timeLimit);
    };
    const save = async () => {
      timeLimit.signal.throwIfAborted();
      try {
        const [saved] = await saveSoon([refund]);
        return saved === true;
      } catch (error) {
        // Most that shared a statement with the refund of a locked payment wait for nothing, and must not queue behind it.
        if (!isLockTimeout(error)) throw error;
        return ofAll(saveLate);
      }
    };
    const { merchant } = refund;
    const payment = toKey(refund);
    const limits = { [`of ${merchant}`]: ROOM.ofMerchant, [payment]: ROOM.ofPayment };
    return bulkhead.run(limits, () => ofPayment.run(payment, () => ofMerchant.run(merchant, save)));
  }

  const load = createBatcher(statements.loadOriginals, { ...BATCH, name: "load payments", onRun, keyOf });
  const find = createBatcher(statements.findByRequestKeys, {
    ...BATCH,
    name: "find requestKeys",
    onRun,
    keyOf,
  });
  const saveSoon = (refunds: readonly NewRefund[]) =>
    statements.saveRefunds(refunds, { lockTimeoutMs: LOCK_TIMEOUT_MS });
  const save = createBatcher((all: readonly Saving[]) => saveSoon(all.map(({ refund }) => refund)), {
    ...BATCH,
    name: "save refunds",
    onRun,
    keyOf: keyOf && (({ refund }: Saving) => keyOf(refund)),
    runAlone: saveAlone,
    isAbandoned: isLockTimeout,
  });

  return {
    refundsWaiting: () => bulkhead.count(),
    loadOriginal: (key, timeLimit = noTimeLimit) => load(key, timeLimit.signal),
    findByRequestKey: (key, timeLimit = noTimeLimit) => find(key, timeLimit.signal),
    saveRefund(refund, timeLimit = noTimeLimit) {
      const saving = { refund, timeLimit };
      // A refund of an original that is locked for a long time would delay all that share its statement.
      return ofPayment.has(toKey(refund)) ? saveAlone(saving) : save(saving, timeLimit.signal);
    },
  };
}

type Saving = { readonly refund: NewRefund; readonly timeLimit: TimeLimit };

function toKey({ merchant, original }: NewRefund): string {
  return JSON.stringify([merchant, original.paymentId]);
}

/**
 * How long before its deadline a refund stops waiting for a lock, so that it is not saved after its caller has stopped waiting.
 */
const MARGIN_MS = 200;

/** Saves one refund, unless it has to wait for locks for longer than its caller waits. Otherwise as `saveRefunds`. */
export async function saveRefundInTime(
  store: Store,
  refund: NewRefund,
  { signal, remainingMs }: TimeLimit,
): Promise<boolean> {
  // The wait for a connection counts as well.
  return store.connection().execute(async (connection) => {
    signal.throwIfAborted();
    const leftMs = remainingMs() - MARGIN_MS;
    const lockTimeoutMs = Number.isFinite(leftMs) ? Math.max(1, Math.round(leftMs)) : 0;
    const [saved] = await saveRefunds(connection, [refund], { lockTimeoutMs });
    return saved === true;
  });
}
