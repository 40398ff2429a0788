import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { ROOT } from "../../../scripts/command/root.ts";

/** A text of a source file, which occurs there once, and what to put in its place. */
export type Fault = { readonly file: string; readonly find: string; readonly replace: string };

export type Area = {
  readonly area: string;
  readonly tests: readonly string[];
  /** Tests that take long, and run only for a fault that none of the others catches. */
  readonly otherwise?: readonly string[];
  readonly faults: readonly Fault[];
};

export async function readAreas(): Promise<readonly Area[]> {
  return parse(await readFile(join(ROOT, "test/proofs/planted/faults.yaml"), "utf8"));
}

export function nameOf({ file, find, replace }: Fault): string {
  return `${file}: ${find} → ${replace}`;
}

/** The text of the file with the fault in it. */
export function plant({ file, find, replace }: Fault, text: string): string {
  const [before = "", after, ...more] = text.split(find);
  if (after === undefined || more.length > 0)
    throw new Error(`${file} does not have this exactly once: ${find}`);
  return before + replace + after;
}
