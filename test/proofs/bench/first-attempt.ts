import { percentile, single } from "./lib/compare.ts";
import { type Attempt, bench, createStore, serveHere, startAttempts } from "./lib/frame.ts";

/*
 * How soon the first attempt of a delivery begins on an idle server: one refund at a time, each delivered before the next. A
 * caller can't see the commit itself. It happens between the call and its response, so the time from the call to the attempt
 * is an upper bound, and that time is reported.
 */
const WARM_UP = 30;
const ROUNDS = 300;

await bench(
  async (engine) => {
    const attempt = await startAttempts(await serveHere(await createStore(engine)), "pay_settled");
    const samples: Attempt[] = [];
    for (let round = 0; round < WARM_UP + ROUNDS; round += 1) samples.push(await attempt());
    const part = (of: keyof Attempt, share: number) => [
      percentile(
        samples.slice(WARM_UP).map((sample) => sample[of]),
        share,
      ),
    ];
    const figures = [
      single(`call to first attempt, idle server, ${engine}, p50`, "ms", part("sinceCallMs", 0.5), 50),
      single(`call to first attempt, idle server, ${engine}, p99`, "ms", part("sinceCallMs", 0.99), 300),
      single(`response to first attempt, idle server, ${engine}, p50`, "ms", part("sinceResponseMs", 0.5)),
    ];
    return { figures };
  },
  ["embedded", "PostgreSQL"],
);
