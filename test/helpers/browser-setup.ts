import { rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import type { TestProject } from "vitest/node";
import { makeTempDir } from "./temp-dir.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Where the run's browser is unpacked by the first who wants it. */
    browserDir: string;
  }
}

/** Once for the whole run: a folder for the browser, which is gone afterwards. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await makeTempDir();
  const removeAtExit = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", removeAtExit);
  project.provide("browserDir", folder);
  return async () => {
    await rm(folder, { recursive: true });
    process.off("exit", removeAtExit);
  };
}
