import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createCaller } from "./faulty-caller.ts";

/** A process that issues the refund of its environment once: `node faulty-program.ts FOLDER [MISTAKE]`. */
const [, , folder = "", mistake] = process.argv;
const env = (name: string) => process.env[`CERTIFY_${name}`] ?? "";
const reference = env("REFERENCE");
const file = join(folder, reference);
const isLate = mistake === "caller: stores the requestKey after the call";

const requestKey = existsSync(file) ? readFileSync(file, "utf8") : randomUUID();
if (!isLate) writeFileSync(file, requestKey);
try {
  const call = createCaller((one) => one === mistake);
  const [url, token, paymentId, amount] = [env("URL"), env("TOKEN"), env("PAYMENT_ID"), env("AMOUNT")];
  await call({ url, token, paymentId, amount, reference }, requestKey);
} finally {
  writeFileSync(file, requestKey);
}
