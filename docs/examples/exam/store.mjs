// The database of the example: a file with the refunds by their references.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";

const FILE = "refunds.json";

export const readAll = () => (existsSync(FILE) ? JSON.parse(readFileSync(FILE, "utf8")) : {});
export const read = (reference) => readAll()[reference];

export function write(reference, refund) {
  writeFileSync(`${FILE}.new`, JSON.stringify({ ...readAll(), [reference]: refund }));
  renameSync(`${FILE}.new`, FILE); // whole or not at all
}
