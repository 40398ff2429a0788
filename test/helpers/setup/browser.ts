import { rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import type { TestProject } from "vitest/node";
import { makeTempDir } from "../temp-dir.ts";

declare module "vitest" {
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface can add to the one of vitest
  interface ProvidedContext {
    /** The folder into which the first test that needs a browser unpacks it. */
    browserDir: string;
  }
}

/** Makes a folder for the run's browser, and removes it afterwards. */
export async function setup({ vitest }: TestProject): Promise<() => Promise<void>> {
  const folder = await makeTempDir();
  const removeAtExit = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", removeAtExit);
  vitest.provide("browserDir", folder);
  return async () => {
    await rm(folder, { recursive: true });
    process.off("exit", removeAtExit);
  };
}
