import { createReadStream } from "node:fs";
import { addAbortSignal, type Readable } from "node:stream";
import { parseArgs } from "node:util";
import { readEncryptionKeys } from "../config/encryption-keys.ts";
import { ConfigError, type Environment } from "../config/read.ts";
import { toDomainTime } from "../domain/clock.ts";
import { bindStore } from "../storage/bind.ts";
import type { Database } from "../storage/database.ts";
import {
  DELIVERY_FILTERS,
  type DeliveryFilter,
  findDeliveries,
  findDeliveryMerchant,
} from "../storage/operator-deliveries.ts";
import { findSubscriptionMerchant, findSubscriptions } from "../storage/operator-subscriptions.ts";
import { rotateSecrets } from "../storage/rotate-secrets.ts";
import { storage } from "../storage/storage.ts";
import { listDeliveries, redeliver, redeliverExhausted } from "./deliveries.ts";
import type { Output } from "./output.ts";
import { feedPayments } from "./payments.ts";
import { rotateKey } from "./rotate-key.ts";
import { disableSubscription, listSubscriptions } from "./subscriptions.ts";
import { UsageError } from "./usage.ts";

/** What a command works with. */
export interface Surroundings {
  env: Environment;
  database: Database;
  output: Output;
  stdin: Readable;
  /** Aborted when the operator interrupts. */
  signal: AbortSignal;
}

/** Runs with the arguments after its name; resolves with whether all went well. */
export type Command = (surroundings: Surroundings, args: string[]) => Promise<boolean>;

const text = { type: "string" } as const;
const flag = { type: "boolean", default: false } as const;
const choice = { merchant: text, subscription: text } as const;

const COMMANDS: Readonly<Record<string, Command>> = {
  async payments(surroundings, args) {
    const { positionals } = read(() => parseArgs({ args, allowPositionals: true }));
    if (positionals.length > 1) throw new UsageError("payments takes one file at most.");
    const { output, signal, stdin } = surroundings;
    const stream = positionals[0] === undefined ? stdin : createReadStream(positionals[0]);
    const input: AsyncIterable<Buffer> = addAbortSignal(signal, stream);
    return feedPayments({ ...(await operate(surroundings)), input, output, signal });
  },

  async deliveries(surroundings, args) {
    const options = { ...choice, state: text, limit: text, before: text, json: flag };
    const { values } = read(() => parseArgs({ args, options }));
    const { merchant, subscription: subscriptionKey, before, json } = values;
    await listDeliveries(await operate(surroundings), {
      merchant,
      subscriptionKey,
      before,
      json,
      filter: toFilter(values.state),
      limit: toLimit(values.limit),
    });
    return true;
  },

  async redeliver(surroundings, args) {
    const options = { ...choice, exhausted: flag };
    const { values, positionals } = read(() => parseArgs({ args, options, allowPositionals: true }));
    if (values.exhausted === positionals.length > 0) {
      throw new UsageError("redeliver takes webhookIds, or --exhausted, and not both.");
    }
    const parts = await operate(surroundings);
    if (!values.exhausted) return redeliver(parts, positionals);
    await redeliverExhausted(parts, { merchant: values.merchant, subscriptionKey: values.subscription });
    return true;
  },

  async subscriptions(surroundings, args) {
    const options = { merchant: text, ended: flag, limit: text, after: text };
    const { values } = read(() => parseArgs({ args, options }));
    await listSubscriptions(await operate(surroundings), { ...values, limit: toLimit(values.limit) });
    return true;
  },

  async subscription(surroundings, args) {
    const [verb, subscriptionKey, ...more] = args;
    if (verb !== "disable" || subscriptionKey === undefined || more.length > 0) {
      throw new UsageError("subscription disable takes one subscriptionKey.");
    }
    return disableSubscription(await operate(surroundings), subscriptionKey);
  },

  async "rotate-key"({ database, env, output }, args) {
    read(() => parseArgs({ args }));
    const keys = readEncryptionKeys(env);
    if (keys.length === 0) throw new ConfigError("ENCRYPTION_KEY is required: the key to encrypt with.");
    return rotateKey((onBatch) => rotateSecrets(database.db, keys, onBatch), output);
  },
};

/** The command of this name. Throws {@link UsageError}. */
export function findCommand(name: string): Command {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) throw new UsageError(`There is no command "${name}".`);
  return command;
}

async function operate({ database: { db }, output }: Surroundings) {
  const functions = {
    ...storage,
    findDeliveries,
    findDeliveryMerchant,
    findSubscriptions,
    findSubscriptionMerchant,
  };
  const store = bindStore(db, functions);
  const offsetMs = await store.readOffset();
  return { store, output, now: () => toDomainTime(new Date(), offsetMs) };
}

/** A wrong option is the operator's doing, so it is told without a stack. */
function read<Parsed>(parse: () => Parsed): Parsed {
  try {
    return parse();
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 10_000;

function toLimit(limit: string | undefined): number {
  if (limit === undefined) return DEFAULT_LIMIT;
  const value = Number(limit);
  if (/^\d+$/.test(limit) && value >= 1 && value <= MAX_LIMIT) return value;
  throw new UsageError(`--limit must be a number from 1 to ${MAX_LIMIT}.`);
}

function toFilter(state = "exhausted"): DeliveryFilter {
  const filter = DELIVERY_FILTERS.find((known) => known === state);
  if (filter) return filter;
  throw new UsageError(`--state must be one of ${DELIVERY_FILTERS.join(", ")}.`);
}
