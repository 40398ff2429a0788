import { cp, mkdir, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../command/redocly.ts";
import { run } from "./run.ts";

/** The sources of the client. */
const SOURCES = [
  "client/LICENSE",
  "client/README.md",
  "client/package.json",
  "client/src",
  "client/tsconfig.json",
  "openapi/generated",
  "tsconfig.json",
];

/**
 * Packs the client as it is published, and returns the path of the tarball. It is built in a copy, because two processes may
 * pack at the same time.
 */
export async function pack(folder: string): Promise<string> {
  const copy = join(folder, "sources");
  await mkdir(copy);
  for (const name of SOURCES) await cp(join(ROOT, name), join(copy, name), { recursive: true });
  await symlink(join(ROOT, "node_modules"), join(copy, "node_modules"));
  await run("npm", ["pack", "--pack-destination", folder], join(copy, "client"));
  const name = (await readdir(folder)).find((file) => file.endsWith(".tgz"));
  if (name === undefined) throw new Error("npm pack left no tarball");
  return join(folder, name);
}
