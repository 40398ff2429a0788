import { compare } from "./compare.ts";
import { bench, type Running, startKind } from "./frame.ts";
import { load, refundsOf } from "./load.ts";

/* The server's own processor time for access, limits and validation of both sides, which callers and other programs don't change. */
const body = refundsOf(["pay_settled"]);

const measure =
  ({ url, cpuSeconds }: Running) =>
  async () => {
    const before = cpuSeconds();
    const { made } = await load({ url, body });
    return made / (cpuSeconds() - before);
  };

await bench(async () => {
  const ours = measure(await startKind("ours"));
  const [name, unit] = ["HTTP layer without a store, 32 callers", "responses a second of processor time"];
  const validated = measure(await startKind("validated"));
  const against = "express-openapi-validator, both sides";
  await compare(name, unit, { ours, theirs: validated, against, atLeast: 1 });
  const bare = measure(await startKind("bare"));
  await compare(name, unit, { ours, theirs: bare, against: "bare express", atLeast: 0.5 });
});
