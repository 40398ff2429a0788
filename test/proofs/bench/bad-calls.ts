import { request } from "undici";
import { compare, progress } from "./lib/compare.ts";
import { bench, createStore, makePayments, serve } from "./lib/frame.ts";
import { headersOf, refundsOf } from "./lib/load.ts";
import { options } from "./lib/options.ts";
import { draw, type Genes, mutate, toBody } from "./lib/wrong-bodies.ts";

/*
 * What a wrong call costs, in processor time of the server, which other programs on the machine don't change: a search climbs from
 * many wrong bodies of 64 KB to the dearest, which is compared with a valid refund.
 */
const STEPS = options.steps;

await bench(async (engine) => {
  const server = await serve(await createStore(engine));
  const nextRefund = refundsOf(await makePayments(server));

  /** Milliseconds of the server's processor that a call takes. */
  async function costOf(calls: number, token: string, path: string, body: () => string): Promise<number> {
    const before = server.cpuSeconds();
    for (let count = 0; count < calls; count += 1) {
      const call = { method: "POST", headers: headersOf(token), body: body() } as const;
      const response = await request(server.url + path, call);
      await response.body.dump();
    }
    return ((server.cpuSeconds() - before) * 1_000) / calls;
  }
  const costOfRefund = (calls: number) => costOf(calls, "sandbox_acme", "/v1/refunds", nextRefund);
  /** Of a merchant of its own, whose calls mean no work for the other's deliveries. */
  function costOfWrong(calls: number, genes: Genes): Promise<number> {
    const body = toBody(genes);
    return costOf(calls, "sandbox_globex", genes.path, () => body);
  }

  await costOfRefund(1_000); // warm-up
  let dearest = { genes: draw(), cost: 0 };
  for (let step = 0; step < STEPS; step += 1) {
    const genes = step < STEPS / 2 ? draw() : mutate(dearest.genes);
    const cost = await costOfWrong(40, genes);
    // Measured again, so that a disturbance does not lead the search astray.
    if (cost > dearest.cost) dearest = { genes, cost: Math.min(cost, await costOfWrong(40, genes)) };
    progress.show(`bad-calls: step ${step + 1} of ${STEPS}, dearest ${dearest.cost.toFixed(2)} ms`);
  }
  const { genes } = dearest;

  const figure = await compare({
    name: "processor time of the dearest wrong call",
    unit: "ms",
    ours: () => costOfWrong(400, genes),
    theirs: () => costOfRefund(400),
    against: "of a refund",
    atMost: 2,
  });
  const size = toBody(genes).length.toLocaleString("en");
  const note = `The dearest of ${STEPS} bodies has ${size} characters: ${JSON.stringify(genes)}.`;
  return { figures: [figure], notes: [note] };
});
