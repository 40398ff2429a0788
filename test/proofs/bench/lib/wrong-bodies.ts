const MAX_BYTES = 64 * 1024;

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

/** A wrong body: where it is sent to, its members or items, and one long text or number. */
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
export type Genes = { readonly [Name in keyof typeof GENES]: ReturnType<(typeof GENES)[Name]> };

/** A wrong body at random. */
export function draw(): Genes {
  return Object.fromEntries(Object.entries(GENES).map(([name, gene]) => [name, gene()])) as Genes;
}

/** The same with one gene changed. */
export function mutate(genes: Genes): Genes {
  const name = pick(Object.keys(GENES) as (keyof Genes)[]);
  return { ...genes, [name]: draw()[name] };
}

const fill = (unit: string, length: number) => unit.repeat(Math.floor(length / unit.length));

/** Its text, of at most 64 KB. */
export function toBody(genes: Genes): string {
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
