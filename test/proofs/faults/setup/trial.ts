/** One round of a proof of faults: servers under load, a fault at a random moment, then the comparison. */
import { expect, onTestFinished } from "vitest";
import { dollars, type Subscription, subscriptionTo } from "../../../helpers/factories.ts";
import { type Responder, startReceiver, until } from "../../../helpers/receiver.ts";
import { sandboxOf } from "../../../helpers/sandbox.ts";
import { type Figures, record } from "./figures.ts";
import { ACME, createLedger, send, startLoad } from "./load.ts";
import { countLosses, endSubscriptions, repeatUnknown } from "./losses.ts";

type TrialOptions = {
  readonly replicas?: number;
  /** Figures of the test, which may change until the end. */
  readonly counted?: Figures;
};

/** Servers under load while something fails, and what their callers know. All of it ends with the test. */
export async function startTrial<Server extends { readonly url: string }>(
  fault: string,
  start: () => Promise<Server>,
  { replicas = 1, counted = {} }: TrialOptions = {},
) {
  const servers: Server[] = [];
  while (servers.length < replicas) servers.push(await start());
  const lastServer = () => servers.at(-1) as Server;
  const { ledger, receiver } = await createBusiness(lastServer());
  onTestFinished(receiver.close);
  const lost: string[] = [];
  const totals: Record<string, number> = {};
  return {
    servers,
    /** The last of them. */
    get server() {
      return lastServer();
    },
    ledger,
    /** Starts a server in place of the last one. */
    async replaceServer() {
      servers[servers.length - 1] = await start();
    },
    /**
     * Does something while callers use all servers. A caller whose connection is lost ends, unless it is `persistent`: then it
     * goes on with another call.
     */
    async underLoad(work: () => Promise<unknown>, callers?: { readonly persistent: boolean }) {
      const load = startLoad(servers, ledger, callers);
      try {
        await work();
      } finally {
        await load.stop();
      }
    },
    /** Repeats the calls without a response, and ends the subscriptions that callers know of. */
    async recover() {
      const name = "came through without a response";
      totals[name] = (totals[name] ?? 0) + (await repeatUnknown(lastServer(), ledger));
      lost.push(...(await endSubscriptions(lastServer(), ledger)));
    },
    /** Does something so many times. */
    async repeat(rounds: number, work: (round: number) => Promise<unknown>) {
      for (let round = 1; round <= rounds; round += 1) await work(round);
      totals.rounds = rounds;
    },
    /** Compares what is stored and delivered with what the callers know, records it, and asserts that nothing is lost or doubled. */
    async conclude() {
      const last = await countLosses(lastServer(), ledger, receiver);
      const [allLost, { doubled }] = [[...lost, ...last.lost], last];
      const figures = { acknowledged: ledger.acknowledged.size, ...totals, ...counted };
      record(fault, { ...figures, lost: allLost.length, doubled: doubled.length });
      expect({ lost: allLost, doubled, wrong: ledger.wrong }).toEqual({ lost: [], doubled: [], wrong: [] });
    },
  };
}

type BusinessOptions = {
  /** The merchant's, by default acme's. */
  readonly token?: string;
  /** Of the receiver. */
  readonly respond?: Responder | undefined;
};

/** A payment of a sandbox with a large amount to refund, and a receiver of all authorized refunds. */
export async function createBusiness(
  server: { readonly url: string },
  { token = ACME, respond }: BusinessOptions = {},
) {
  const { body } = await sandboxOf(server, token)("createPayment", { body: { amount: dollars(9_999_999) } });
  const ledger = createLedger((body as { paymentId: string }).paymentId, token);
  const receiver = await startReceiver(respond);
  const subscriptionDetails = { type: "EVENT", details: ["refund.authorized"] };
  const subscription = subscriptionTo(receiver.url, { subscriptionDetails });
  const subscribed = await send<Subscription>(server.url, "/v1/webhook/subscribe", subscription, token);
  if (subscribed?.status !== 200) throw new Error(`not subscribed: ${JSON.stringify(subscribed)}`);
  return { ledger, receiver };
}

/** The status of a server's probe. */
export async function statusOf({ url }: { readonly url: string }, path = "/readyz"): Promise<number> {
  const response = await fetch(url + path, { signal: AbortSignal.timeout(20_000) });
  await response.body?.cancel();
  return response.status;
}

export async function untilReady(server: { readonly url: string }): Promise<void> {
  await until(async () => (await statusOf(server)) === 200 || undefined);
}
