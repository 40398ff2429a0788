/** Pins the dependencies of a package to the versions in this project's lockfile. */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../shared/root.ts";
import { run } from "../shared/run-program.ts";

type Lock = { readonly packages: Readonly<Record<string, { readonly link?: boolean }>> };

/**
 * Writes the lockfile that is published with a package: the part of this project's lockfile that the package needs. So `npm ci` in the
 * unpacked package installs, at any time, the versions and checksums that this project is tested with. Where the package is a
 * dependency, npm may ignore it.
 */
export async function writeShrinkwrap(folder: string): Promise<void> {
  const lock: Lock = JSON.parse(await readFile(join(ROOT, "package-lock.json"), "utf8"));
  const others = Object.entries(lock.packages).filter(
    ([path, { link }]) => path.startsWith("node_modules/") && !link,
  );
  const file = join(folder, "npm-shrinkwrap.json");
  await writeFile(file, JSON.stringify({ ...lock, packages: Object.fromEntries(others) }));
  // npm removes what the package.json doesn't need. Offline and without a cache it can add nothing.
  const offline = ["--offline", "--cache", join(folder, "cache")];
  await run("npm", ["install", "--package-lock-only", "--ignore-scripts", "--no-audit", ...offline], folder);
  await rm(join(folder, "cache"), { recursive: true });
}
