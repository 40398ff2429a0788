import { repeat, report } from "./compare.ts";
import { bench, createStore, serve } from "./frame.ts";

/*
 * The time from the start of the process to the line that says it is ready, with a new data folder and with an existing one.
 * What Node has compiled is kept, as by `npm start`.
 */
await bench(
  async (engine) => {
    const env = { NODE_COMPILE_CACHE: ".cache/compile" };
    const times = await repeat(async () => {
      const store = await createStore(engine);
      const first = await serve(store, env);
      await first.stop();
      const second = await serve(store, env);
      await second.stop();
      return { first: first.startedInMs / 1000, again: second.startedInMs / 1000 };
    });
    const [first, again] = [times.map((one) => one.first), times.map((one) => one.again)];
    report("from the start until ready, the first time", "s", first, { atMost: 2 });
    report("from the start until ready, again", "s", again, { atMost: 1.2 });
  },
  ["embedded"],
);
