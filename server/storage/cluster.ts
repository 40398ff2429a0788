import { execFile as runFile } from "node:child_process";
import { rename, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const execFile = promisify(runFile);
const PROGRAM = fileURLToPath(new URL("./create-cluster.ts", import.meta.url));

/**
 * Makes the files of an empty PostgreSQL where there are none: beside their place and then moved there, so that a process
 * killed meanwhile leaves nothing that looks complete; in a process of its own, which gives its memory back.
 */
export async function createCluster(folder: string): Promise<void> {
  const unfinished = `${folder}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await execFile(process.execPath, [PROGRAM, unfinished]);
  await rename(unfinished, folder);
}
