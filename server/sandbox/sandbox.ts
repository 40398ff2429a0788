import { createHash, randomBytes } from "node:crypto";
import type { Router } from "express";
import { type ContractDocument, readDocument } from "../contract/document.ts";
import type { HandlersOf, SandboxHandlers } from "../contract/operations.ts";
import type { AdaptText } from "../http/pages.ts";
import type { Middleware } from "../http/request-locals.ts";
import type { AttemptsOf } from "../webhooks/attempt.ts";
import { createConsolePage } from "./console-page.ts";
import { type CallFaults, createCallFaults } from "./handlers/call-faults.ts";
import type { createChanges } from "./handlers/changes.ts";
import { clockHandlers } from "./handlers/clock.ts";
import { type Coverage, createCoverage } from "./handlers/coverage.ts";
import { createFaults, type FaultParts, type Faults } from "./handlers/delivery-faults.ts";
import {
  fixturesOf,
  isSandboxMerchant,
  SANDBOX_MERCHANTS,
  SANDBOX_SCOPES,
  type SandboxMerchant,
  TOMORROW_MERCHANT,
} from "./handlers/fixtures.ts";
import { createInbox, type InboxParts } from "./handlers/inbox.ts";
import { paymentHandlers } from "./handlers/payments.ts";
import { createRequestMemory } from "./handlers/recorded-requests.ts";
import type { SandboxParts } from "./handlers/responses.ts";
import { createRestrictions } from "./handlers/restrictions.ts";
import { createTomorrow, type Tomorrow, type TomorrowParts } from "./handlers/tomorrow.ts";
import { webhookHandlers } from "./handlers/webhooks.ts";
import { adaptDocs } from "./own-docs.ts";

const TOKEN_BYTES = 24;

/** The parts of a sandbox that the server needs before the rest, to send its deliveries. */
export type EarlyParts = {
  readonly faults: Faults;
  readonly coverage: Coverage;
  readonly tomorrow: Tomorrow;
  readonly attempts: AttemptsOf;
};

export async function prepareSandbox(
  parts: Omit<FaultParts, "onAccepted"> & TomorrowParts,
): Promise<EarlyParts> {
  const coverage = createCoverage(readDocument("openapi"), parts.changes);
  const faults = createFaults({ ...parts, onAccepted: coverage.meetEvent });
  const tomorrow = createTomorrow(parts);
  return { coverage, faults, tomorrow, attempts: tomorrow.before(faults.ofDeliveries) };
}

export type SandboxOptions = Omit<SandboxParts, "changes"> &
  Pick<InboxParts, "ownUrl"> &
  EarlyParts & {
    /** Created by the server, which also reports changes that no request causes. */
    changes: ReturnType<typeof createChanges>;
    /** Whether only this machine reaches the server, once it listens. */
    isLocal: () => boolean;
    /** The seed of the merchant that plays a later version from the start; undefined: there is none. */
    tomorrowSeed: number | undefined;
  };

/** What the app of a sandbox serves in addition to the published contract. */
export type Sandbox = {
  document: ContractDocument;
  handlers: SandboxHandlers;
  /** Record the requests to the published contract, and break their connections when a fault says so. */
  outerSteps: readonly Middleware[];
  /** The faults that happen before a call of the published contract is done. */
  beforeHandler: CallFaults["beforeHandler"];
  /** What happens to a body of the published contract before it is validated. */
  bodySteps: readonly Middleware[];
  /** The inbox, which receives deliveries, and the console. */
  routers: readonly Router[];
  /** What it makes of the docs and the contract before it serves them. */
  adaptText: AdaptText;
  /** Whether only this machine reaches it. */
  isLocal: () => boolean;
};

/** Fills the store, and creates the parts of a sandbox that are kept in memory. */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { store, clock, changes, coverage, tomorrow, tomorrowSeed } = options;
  await seed({ store, clock }, tomorrowSeed === undefined ? [] : [TOMORROW_MERCHANT]);
  if (tomorrowSeed !== undefined) await tomorrow.switchOn(TOMORROW_MERCHANT, tomorrowSeed);
  const document = readDocument("sandbox");
  const { list: faults, ofDeliveries } = options.faults;
  const callFaults = createCallFaults(faults, document);
  const requests = createRequestMemory(changes, callFaults.kindOf, coverage.meetCall);
  const inbox = createInbox({ ...options, realNow: clock.realNow });
  const restrictions = createRestrictions(options);
  const consolePage = await createConsolePage();
  return {
    document,
    handlers: {
      ...changes.handlers,
      ...requests.handlers,
      ...inbox.handlers,
      ...faults.handlers,
      ...coverage.handlers,
      ...accessHandlers(options, { restrictions, inMemory: [requests, inbox, faults, tomorrow] }),
      ...restrictions.handlers,
      ...tomorrow.handlers,
      ...clockHandlers(options),
      ...paymentHandlers(options),
      ...webhookHandlers(options, ofDeliveries.find),
    },
    outerSteps: [requests.record, callFaults.onWire, tomorrow.reviseResponses],
    bodySteps: [tomorrow.acceptLaterFields],
    beforeHandler: callFaults.beforeHandler,
    routers: [inbox.router, consolePage.router],
    adaptText: adaptDocs(consolePage.tryItScript),
    isLocal: options.isLocal,
  };
}

/** Inserts the merchants' access tokens and payments; existing records stay as they are. */
async function seed(
  { store, clock }: Pick<SandboxParts, "store" | "clock">,
  further: readonly SandboxMerchant[],
): Promise<void> {
  const now = await clock.now();
  for (const merchant of [...SANDBOX_MERCHANTS, ...further]) {
    const tokenSha256 = sha256(`sandbox_${merchant}`);
    await store.insertToken({ tokenSha256, merchant, scopes: SANDBOX_SCOPES });
    await store.insertFixtures(fixturesOf(merchant, now), now);
  }
}

function accessHandlers(
  { store, clock, changes }: SandboxParts,
  {
    restrictions,
    inMemory,
  }: {
    restrictions: ReturnType<typeof createRestrictions>;
    inMemory: readonly { forget(merchant: string): void }[];
  },
): HandlersOf<"createToken" | "resetSandbox"> {
  return {
    async createToken({ merchant, body: { scopes } }) {
      const accessToken = `sandbox_${randomBytes(TOKEN_BYTES).toString("base64url")}`;
      await store.insertToken({ tokenSha256: sha256(accessToken), merchant, scopes });
      return { status: 201, body: { accessToken, scopes } };
    },

    async resetSandbox({ merchant }) {
      const now = await clock.now();
      const fixtures = isSandboxMerchant(merchant) ? fixturesOf(merchant, now) : [];
      await store.resetMerchant({ merchant, fixtures, now });
      await restrictions.lift(merchant);
      for (const part of inMemory) part.forget(merchant);
      changes.notify(["payments", "webhooks", "requests", "inbox"], merchant);
      return { status: 204 };
    },
  };
}

/** Access tokens are stored as their SHA-256 only (D18). */
function sha256(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
