/** Runs the conformance kit: is the service there, which checks can run, and their results. */
import { type Contract, readContract } from "../../openapi/document/read-contract.ts";
import { CheckFailure } from "../reporting/exchange.ts";
import type { Report } from "../reporting/json-junit-html.ts";
import { CannotRun, toFlag } from "../reporting/option-readers.ts";
import { chooseChecks, type Listener, runChecks } from "../reporting/run-checks.ts";
import { bodyOf } from "./assertions.ts";
import { allChecks } from "./checks/all.ts";
import { createKit, type Kit } from "./kit.ts";
import type { ConformOptions } from "./options.ts";
import type { Check } from "./preconditions.ts";
import { receiverOf } from "./webhook-receiver.ts";

export type ConformReport = Report & {
  readonly calls: number;
  readonly subscriptionsMade: number;
  readonly subscriptionsEnded: number;
};

/**
 * Runs every check that the options allow, one after the other, and resolves with the results.
 * @throws CannotRun when the service can't be reached, refuses the token, or no check is selected
 */
export async function runConformance(options: ConformOptions, listener: Listener = {}) {
  const { contract, all } = prepare();
  const checks = chooseChecks(all, options);
  const kit = createKit(options, contract);
  // The end of the kit makes calls as well, which are counted below.
  const run = await runIn(kit, checks, listener).finally(() => kit[Symbol.asyncDispose]());
  const receiver = await receiverOf(kit);
  return {
    url: options.url,
    ...run,
    calls: kit.exchanges.length,
    subscriptionsMade: new Set(kit.exchanges.flatMap((exchange) => bodyOf(exchange).subscriptionKey ?? []))
      .size,
    subscriptionsEnded: receiver?.ended() ?? 0,
  };
}

async function runIn(kit: Kit, checks: readonly Check[], listener: Listener) {
  await requireService(kit);
  await receiverOf(kit); // a port that is taken is no failure of the service
  return runChecks(checks, { options: kit.options, tools: kit, listener });
}

let prepared: { readonly contract: Contract; readonly all: readonly Check[] } | undefined;

/** Reading the document and generating calls for its constraints takes half a second, once. */
function prepare() {
  if (prepared) return prepared;
  const contract = readContract("openapi");
  prepared = { contract, all: allChecks(contract) };
  return prepared;
}

/** A wrong address or token would fail every check, and no report would say why. */
async function requireService(kit: Kit): Promise<void> {
  const { url } = kit.options;
  if ((await send(kit, null)) === 404 && /\/v\d+$/.test(url)) {
    throw new CannotRun(
      `${url} serves no refunds (404). --url must be the address without /v1: ${url.replace(/\/v\d+$/, "")}`,
    );
  }
  for (const name of ["token", "otherToken", "secondToken", "unscopedToken"] as const) {
    const token = kit.options[name];
    if (token === undefined || (await send(kit, token)) !== 401) continue;
    throw new CannotRun(`${url} refuses the token of ${toFlag(name)} (401). Take one that is valid there.`);
  }
}

async function send(kit: Kit, token: string | null): Promise<number> {
  try {
    return (await kit.send({ operation: "issueRefund", body: {}, token })).received.status;
  } catch (error) {
    if (!(error instanceof CheckFailure)) throw error;
    const { url } = kit.options;
    const advice = /unable to (get|verify)|self.signed/.test(String(error.received))
      ? "Give Node the certificate of its issuer: NODE_EXTRA_CA_CERTS=ca.pem"
      : "Start the service, or give another --url";
    throw new CannotRun(`${url} can't be reached: ${error.received}. ${advice}.`);
  }
}
