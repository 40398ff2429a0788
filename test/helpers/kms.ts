import { randomBytes } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeTempDir } from "./temp-dir.ts";

const PROGRAM = fileURLToPath(new URL("kms-program.ts", import.meta.url));

/** A KMS that keeps its key to itself, and the program of ENCRYPTION_KEY_COMMAND that asks it. */
export type Kms = AsyncDisposable & {
  readonly command: string;
  /** The operations that the program was run for since the last call, in order. */
  operations(): Promise<string[]>;
  /** From now on it refuses everything, until it comes back. */
  leave(): Promise<void>;
  comeBack(): Promise<void>;
};

export async function startKms(): Promise<Kms> {
  const folder = await makeTempDir();
  const [key, operations] = [join(folder, "key"), join(folder, "operations")];
  const bytes = randomBytes(32);
  const comeBack = () => writeFile(key, bytes);
  await Promise.all([comeBack(), writeFile(operations, "")]);
  return {
    command: `${process.execPath} ${PROGRAM} ${folder}`,
    async operations() {
      const lines = (await readFile(operations, "utf8")).split("\n");
      await writeFile(operations, "");
      return lines.filter((line) => line !== "");
    },
    leave: () => rm(key),
    comeBack,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}
