import { median, progress, single } from "./lib/compare.ts";
import { bench, createStore, makePayments, serve } from "./lib/frame.ts";
import { load, refundsOf } from "./lib/load.ts";
import { options } from "./lib/options.ts";

/* Resident memory of the server after 100,000 refunds, and whether it still grows over the last half of them. */
const REFUNDS = options.refunds;
const STEP_SECONDS = 2;
/** The growth is that between two halves of the last half. */
const LEAST_STEPS = 4;
/** Garbage that may not have been collected yet, in MB. */
const NOISE_MB = 25;
const AT_MOST_MB = { embedded: 350, PostgreSQL: 250 };

await bench(
  async (engine) => {
    const server = await serve(await createStore(engine));
    const body = refundsOf(await makePayments(server));
    const samples: { rate: number; mb: number }[] = [];
    for (let refunds = 0; refunds < REFUNDS || samples.length < LEAST_STEPS; ) {
      const { latencies, rate } = await load({ url: server.url, body }, { seconds: STEP_SECONDS });
      refunds += latencies.length;
      samples.push({ rate, mb: server.memoryMb() });
      progress.show(`memory, ${engine}: ${refunds.toLocaleString("en")} refunds`);
    }
    const half = samples.slice(Math.floor(samples.length / 2)).map(({ mb }) => mb);
    const middle = Math.floor(half.length / 2);
    const growth = median(half.slice(middle)) - median(half.slice(0, middle));
    const after = `after ${REFUNDS.toLocaleString("en")} refunds, ${engine}`;
    const tenth = Math.ceil(samples.length / 10);
    const rateOf = (some: typeof samples) => median(some.map(({ rate }) => rate)).toFixed(0);
    const inTurn = samples.filter((_, index) => index % tenth === 0).map(({ mb }) => mb.toFixed(0));
    return {
      figures: [
        single(`resident memory ${after}`, "MB", half, AT_MOST_MB[engine]),
        single(`growth of memory over the last half, ${engine}`, "MB", [growth], NOISE_MB),
      ],
      notes: [
        `On the ${engine} store memory was ${inTurn.join(", ")} MB in turn. It made ${rateOf(samples.slice(0, tenth))} refunds/s in the first tenth and ${rateOf(samples.slice(-tenth))} in the last.`,
      ],
    };
  },
  ["embedded", "PostgreSQL"],
);
