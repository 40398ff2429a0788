import pLimit from "p-limit";
import { createBatcher } from "../../async/batcher.ts";
import { createBoundedQueue } from "../../async/bounded-queue.ts";
import { noTimeLimit, type TimeLimit } from "../../domain/time-limit.ts";
import { isLockTimeout } from "../database/database-errors.ts";
import type { NewRefund, PaymentKey, PaymentRecord, RequestKey } from "./payment-record.ts";
import type { LoadedOriginal } from "./save-refunds.ts";

/**
 * Collects the refunds that arrive while a statement is in progress into the next statement of that kind, so that they share
 * its round trip and its commit. A refund whose payment another transaction has locked waits on its own.
 */
export function createRefundQueue(statements: RefundStatements): RefundQueue {
  const ofAll = pLimit(SHARE.ofAll.running);
  const locked = createBoundedQueue(SHARE.ofAll.room);

  async function saveAlone({ refund, timeLimit }: Saving, lockTimeoutMs: () => number): Promise<boolean> {
    timeLimit.signal.throwIfAborted();
    const [saved] = await statements.saveRefunds([refund], lockTimeoutMs);
    return saved === true;
  }

  /** Waits for locks until the time limit, while refunds of other payments continue. */
  function saveLocked(saving: Saving): Promise<boolean> {
    const { refund, timeLimit } = saving;
    const save = () =>
      saveAlone(saving, () => LOCK_TIMEOUT_MS).catch((error: unknown) => {
        // Most that shared a statement with the refund of a locked payment wait for nothing, and must not queue behind it.
        if (!isLockTimeout(error)) throw error;
        return ofAll(() => saveAlone(saving, () => toLockTimeoutMs(timeLimit)));
      });
    const shares = { [toKey(refund)]: SHARE.ofPayment, [`of ${refund.merchant}`]: SHARE.ofMerchant };
    return locked.run(shares, save);
  }

  const load = createBatcher(statements.loadOriginals, BATCH);
  const find = createBatcher(statements.findByRequestKeys, BATCH);
  const saveTogether = (all: readonly Saving[]) => {
    const refunds = all.map(({ refund }) => refund);
    return statements.saveRefunds(refunds, () => LOCK_TIMEOUT_MS);
  };
  const alone = { runAlone: saveLocked, isAbandoned: isLockTimeout };
  const save = createBatcher(saveTogether, { ...BATCH, ...alone });
  const saveWide = createBatcher(saveTogether, { ...WIDE_BATCH, ...alone });

  return {
    refundsWaiting: () => locked.count(),
    loadOriginal: (key, timeLimit = noTimeLimit) => load(key, timeLimit.signal),
    findByRequestKey: (key, timeLimit = noTimeLimit) => find(key, timeLimit.signal),
    saveRefund(refund, { timeLimit = noTimeLimit, isWide = false } = {}) {
      const saving = { refund, timeLimit };
      // A refund of a payment that is locked for a long time would delay all that share its statement.
      if (locked.has(toKey(refund))) return saveLocked(saving);
      return (isWide ? saveWide : save)(saving, timeLimit.signal);
    },
  };
}

/** The statements for many refunds, of `save-refunds.ts`. */
type RefundStatements = {
  loadOriginals(keys: readonly PaymentKey[]): Promise<readonly LoadedOriginal[]>;
  saveRefunds(refunds: readonly NewRefund[], lockTimeoutMs: () => number): Promise<readonly boolean[]>;
  findByRequestKeys(keys: readonly RequestKey[]): Promise<readonly (PaymentRecord | undefined)[]>;
};

/** What issuing a refund needs. Once the time limit has passed, no further step begins for the refund. */
export type RefundQueue = {
  loadOriginal(key: PaymentKey, timeLimit?: TimeLimit): Promise<LoadedOriginal>;
  findByRequestKey(key: RequestKey, timeLimit?: TimeLimit): Promise<PaymentRecord | undefined>;
  /** Returns false when nothing was saved: the requestKey is taken, or the decision must be made again. */
  saveRefund(refund: NewRefund, options?: SaveOptions): Promise<boolean>;
  /** How many refunds of locked payments wait. */
  refundsWaiting(): number;
};

/** `isWide`: whether many deliveries are written with it. */
type SaveOptions = { readonly timeLimit?: TimeLimit; readonly isWide?: boolean };

/** A refund with many deliveries shares no statement, and all of them have at most half of the time, because other refunds wait for them. */
const WIDE_BATCH = { maxBatchSize: 1, rests: true } as const;

const BATCH = { maxBatchSize: 128 } as const;

/** How long refunds that share a statement wait for each lock. Another statement for refunds holds its locks for less. */
const LOCK_TIMEOUT_MS = 100;

/**
 * How many refunds of one payment, of one merchant, and in all may wait for locks at a time (`running`), each on one of the 20
 * connections that all merchants share. Further ones wait in this process, as long as there is `room`. More are refused: otherwise the
 * calls of a few merchants with locked payments would take all slots. A payment has room for a whole statement.
 */
const SHARE = {
  ofPayment: { running: 1, room: BATCH.maxBatchSize },
  ofMerchant: { running: 4, room: 192 },
  ofAll: { running: 10, room: 256 },
} as const;

/** How long before its deadline a refund stops waiting for a lock, so that it is not saved after its caller has left. */
const MARGIN_MS = 200;

type Saving = { readonly refund: NewRefund; readonly timeLimit: TimeLimit };

function toKey({ merchant, original }: NewRefund): string {
  return JSON.stringify([merchant, original.paymentId]);
}

/** How long a refund may wait for a lock before its caller stops waiting; called when it has a connection. */
function toLockTimeoutMs({ signal, remainingMs }: TimeLimit): number {
  signal.throwIfAborted();
  const leftMs = remainingMs() - MARGIN_MS;
  return Number.isFinite(leftMs) ? Math.max(1, Math.round(leftMs)) : 0;
}
