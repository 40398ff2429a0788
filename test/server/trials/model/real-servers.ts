import { sql } from "kysely";
import { expect } from "vitest";
import { createDeployment } from "../../../helpers/deployment.ts";
import type { Engine } from "../../../helpers/engine.ts";
import type { PaymentRecord } from "../../../helpers/sandbox.ts";
import { createSandboxMerchant, type Merchant, merchantAt } from "../../../helpers/sandbox.ts";
import type { TestServer } from "../../../helpers/server.ts";
import { leftOf, type Model, type ModelRecord } from "./model.ts";

/** The real system for the comparison with the model: servers, and their database. */
export type Real = {
  /** The merchant of the present run, as seen by one server after the other. */
  merchant(): Merchant;
  server(): TestServer;
  /** Begins a run: nothing is stored, the clock was never advanced, and real time stands still. */
  begin(now: number): Promise<void>;
  /** Replaces a server by a new one. */
  restart(): Promise<void>;
  remove(): Promise<void>;
  /** How many commands ran so far. */
  commands: number;
};

/** Longer than this test may take. */
const NEVER_MS = 3_600_000;

export async function createReal(engine: Engine): Promise<Real> {
  const deployment = await createDeployment(engine);
  let realNow = new Date();
  // Lives begin in the future, but ids contain the machine's time, so retention would remove new records.
  const start = () => deployment.start({ realNow: () => realNow, retentionMs: NEVER_MS });
  const servers = [await start(), ...(engine === "embedded" ? [] : [await start()])];
  let turn = 0;
  let merchant: Merchant;

  const server = () => servers[turn % servers.length] as TestServer;
  return {
    commands: 0,
    server,
    merchant() {
      turn += 1;
      return merchantAt(server(), merchant);
    },
    async begin(now) {
      realNow = new Date(now);
      turn = 0;
      await sql`truncate payments, events, clock`.execute(server().database.db);
      merchant = await createSandboxMerchant(server());
    },
    async restart() {
      const position = turn % servers.length;
      await server().close();
      servers[position] = await start();
    },
    remove: () => deployment.remove(),
  };
}

/** Compares every record, and every event with its position, of the model and of the servers. */
export async function expectAgreement(model: Model, real: Real): Promise<void> {
  const { merchant, token } = real.merchant();
  const records = await listRecords(`${real.server().url}/sandbox/payments?limit=100`, token);
  const { db } = real.server().database;
  const events = await db
    .selectFrom("events")
    .select(["resource_id", "sequence", "type", "occurred_at"])
    .where("merchant", "=", merchant)
    .$castTo<{ resource_id: string; sequence: number; type: string; occurred_at: Date }>()
    .execute();

  const seen = records.map((record) => {
    const common = { id: record.paymentId, status: record.status, cents: toCents(record.amount.value) };
    return record.kind === "DEBIT"
      ? {
          ...common,
          key: record.requestKey,
          settledAt: record.settledAt,
          left: toCents(record.refundableAmount.value),
          history: record.history.map(({ status, at }) => `${status} ${at}`),
        }
      : {
          ...common,
          key: record.requestKey,
          paymentStatus: record.paymentStatus,
          originalId: record.originalPaymentId,
          reference: record.clientReferenceId,
          errorCode: record.errorDetails?.errorCode ?? null,
          history: record.history.map(({ paymentStatus, at }) => `${paymentStatus} ${at}`),
        };
  });
  expect(byId(seen)).toEqual(byId(model.records.map((record) => toSeen(model, record))));
  const written = events.map(
    (event) => `${event.resource_id} ${event.sequence} ${event.type} ${event.occurred_at.toISOString()}`,
  );
  expect(written.toSorted()).toEqual(model.records.flatMap(toEvents).toSorted());
}

/** Directly from the server, because validating a page against the contract takes longer than the rest of a command. */
async function listRecords(pages: string, token: string): Promise<PaymentRecord[]> {
  const records: PaymentRecord[] = [];
  let url = pages;
  for (;;) {
    const response = await fetch(url, { headers: { Authorization: `Bearer ${token}` } });
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    const page = (await response.json()) as { items: PaymentRecord[]; nextCursor: string | null };
    records.push(...page.items);
    if (page.nextCursor === null) return records;
    url = `${pages}&cursor=${page.nextCursor}`;
  }
}

function toCents(dollars: number): number {
  return Number(dollars.toFixed(2).replace(".", ""));
}

function byId<Item extends { id: string }>(items: readonly Item[]): Item[] {
  return items.toSorted((a, b) => a.id.localeCompare(b.id));
}

/** A record as the sandbox must show it. */
function toSeen(model: Model, record: ModelRecord) {
  const { id, status, cents, key } = record;
  const history = record.history.map((entry) => `${entry.status} ${toText(entry.at)}`);
  const common = { id, status, cents, key, history };
  if (record.kind === "DEBIT") {
    const settledAt = record.settledAt === null ? null : toText(record.settledAt);
    return { ...common, settledAt, left: leftOf(model, record) };
  }
  const { originalId, reference, errorCode } = record;
  return { ...common, paymentStatus: status, originalId, reference, errorCode };
}

/** One event for every status but PROCESSING, counted from 1. */
function toEvents({ id, kind, history }: ModelRecord): string[] {
  const resource = kind === "DEBIT" ? "payment" : "refund";
  return history
    .filter(({ status }) => status !== "PROCESSING")
    .map(({ status, at }, index) => `${id} ${index + 1} ${resource}.${status.toLowerCase()} ${toText(at)}`);
}

function toText(instant: number): string {
  return new Date(instant).toISOString();
}
