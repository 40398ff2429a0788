import { repeat, single } from "./lib/compare.ts";
import { bench, createStore, serve } from "./lib/frame.ts";

/*
 * The time from the start of the process to the line that says it is ready, with a new data folder and with an existing one.
 * What Node has compiled is kept, as by `npm start`.
 */
await bench(async () => {
  const env = { NODE_COMPILE_CACHE: ".cache/compile" };
  const times = await repeat("start", async () => {
    const store = await createStore("embedded");
    const first = await serve(store, env);
    await first.stop();
    const second = await serve(store, env);
    await second.stop();
    return [first.startedInMs / 1000, second.startedInMs / 1000] as const;
  });
  return {
    figures: [
      single(
        "start to ready, the first time",
        "s",
        times.map(([first]) => first),
        2,
      ),
      single(
        "start to ready, again",
        "s",
        times.map(([, second]) => second),
        1.2,
      ),
    ],
  };
});
