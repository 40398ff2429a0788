import { Client } from "undici";
import { compare, progress } from "./lib/compare.ts";
import { atEnd, bench, createStore, makePayments, type Running, serve } from "./lib/frame.ts";
import { refundsOf } from "./lib/load.ts";
import { options } from "./lib/options.ts";

/*
 * What a wrong call costs, in processor time of the server, which other programs on the machine don't change: a search climbs from
 * many wrong bodies of 64 KB to the dearest, which is compared with a valid refund.
 */
const CALLS = 40;
const STEPS = options.steps;
const MAX_BYTES = 64 * 1024;
const HEADERS = { "content-type": "application/json", accept: "application/json" };

/** What the texts of a body are made of; the last ones are for URLs. */
const UNITS = [
  "a",
  "~/",
  "\\ud800",
  "\\u0000",
  '\\"',
  "é",
  " ",
  "\\u0061",
  "%41",
  "../",
  "x.",
  "a@",
  "xn--a.",
];
const VALUES = ["1", "1.5", "null", "[]", "{}", '"', `[${"[".repeat(20)}${"]".repeat(20)}]`] as const;
const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(Math.random() * items.length)] as Item;
const upTo = (limit: number) => Math.floor(Math.random() * (limit + 1));

/** A wrong body: members or items, and one long text or number. */
const GENES = {
  path: () => pick(["/v1/refunds", "/v1/webhook/subscribe"]),
  /** A little more than the limit above which a body is not validated. */
  members: () => pick([0, 1, 60, 100, 115, 1_000, 20_000]),
  nameUnit: () => pick(UNITS),
  nameLength: () => upTo(70),
  value: () => pick(VALUES),
  valueUnit: () => pick(UNITS),
  valueLength: () => pick([0, 10, 250, 480]),
  field: () => pick(["requestKey", "softDescriptor", "url", "number", "name", "digits"]),
  fieldUnit: () => pick(UNITS),
  fieldLength: () => upTo(MAX_BYTES),
};
type Genes = { readonly [Name in keyof typeof GENES]: ReturnType<(typeof GENES)[Name]> };

const draw = () => Object.fromEntries(Object.entries(GENES).map(([name, gene]) => [name, gene()])) as Genes;

function mutate(genes: Genes): Genes {
  const name = pick(Object.keys(GENES) as (keyof Genes)[]);
  return { ...genes, [name]: GENES[name]() };
}

const fill = (unit: string, length: number) => unit.repeat(Math.floor(length / unit.length));

function toBody(genes: Genes): string {
  const { members, nameUnit, nameLength, value, valueUnit, valueLength } = genes;
  const item = value === '"' ? `"${fill(valueUnit, valueLength)}"` : value;
  const isRefund = genes.path === "/v1/refunds";
  const parts: string[] = [];
  let room = MAX_BYTES - 300;
  for (let index = 0; index < members; index += 1) {
    const part = isRefund ? `"${fill(nameUnit, nameLength)}${index}":${item}` : item;
    room -= Buffer.byteLength(part) + 1;
    if (room < 0) break;
    parts.push(part);
  }
  const long = toField(genes, Math.min(genes.fieldLength, Math.max(0, room) / 2));
  if (isRefund) return `{${[long, ...parts].join()}}`;
  return `{${long},"secretKey":"s","subscriptionDetails":{"type":"EVENT","details":[${parts.join()}]}}`;
}

function toField({ field, fieldUnit }: Genes, length: number): string {
  const text = fill(fieldUnit, length);
  if (field === "number") return `"amount":{"currency":"USD","value":1.${fill("1", length)}}`;
  if (field === "digits")
    return `"amount":{"currency":"USD","value":${fill("9", length)}9e${fill("9", length)}9}`;
  if (field === "name") return `"${text}":1`;
  return `"${field}":"${field === "url" ? "https://a" : ""}${text}"`;
}

type Send = (path: string, body: string) => Promise<number>;

function connect({ url }: Running): Send {
  const client = new Client(url);
  atEnd(() => client.close());
  return async (path, body) => {
    // A merchant of its own, whose calls mean no work for the other's deliveries.
    const headers = { ...HEADERS, authorization: `Bearer sandbox_${path === "" ? "acme" : "globex"}` };
    const response = await client.request({ path: path || "/v1/refunds", method: "POST", headers, body });
    await response.body.dump();
    return response.statusCode;
  };
}

/** Milliseconds of the server's processor that a call takes. */
async function costOf({ cpuSeconds }: Running, call: () => Promise<number>, calls = CALLS): Promise<number> {
  const before = cpuSeconds();
  for (let count = 0; count < calls; count += 1) await call();
  return ((cpuSeconds() - before) * 1_000) / calls;
}

/** Climbs from the dearest of many bodies by changing one gene at a time. */
async function findDearest(server: Running, send: Send): Promise<Genes> {
  const measure = (genes: Genes) => {
    const body = toBody(genes);
    return costOf(server, () => send(genes.path, body));
  };
  let dearest = { genes: draw(), cost: 0 };
  for (let step = 0; step < STEPS; step += 1) {
    const genes = step < STEPS / 2 ? draw() : mutate(dearest.genes);
    const cost = await measure(genes);
    // Measured again, so that a disturbance does not lead the search astray.
    if (cost > dearest.cost) dearest = { genes, cost: Math.min(cost, await measure(genes)) };
    progress.show(`bad-calls: step ${step + 1} of ${STEPS}, dearest ${dearest.cost.toFixed(2)} ms`);
  }
  return dearest.genes;
}

await bench(async (engine) => {
  const server = await serve(await createStore(engine));
  const send = connect(server);
  const refund = refundsOf(await makePayments(server));
  await costOf(server, () => send("", refund()), 1_000); // warm-up
  const dearest = await findDearest(server, send);
  const body = toBody(dearest);

  const cost = await compare({
    name: "processor time of the dearest wrong call",
    unit: "ms",
    ours: () => costOf(server, () => send(dearest.path, body), 400),
    against: "of a refund",
    theirs: () => costOf(server, () => send("", refund()), 400),
    atMost: 2,
  });
  const note = `The dearest of ${STEPS} bodies has ${body.length.toLocaleString("en")} characters: ${JSON.stringify(dearest)}.`;
  return { figures: [cost], notes: [note] };
});
