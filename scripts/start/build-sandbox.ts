/** Bundles the sandbox for `npm start`. */
import { cp, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { ensureConsole } from "../console/build-console.ts";
import { secondsSince } from "../shared/define-command.ts";
import { ROOT } from "../shared/root.ts";
import { ensureCluster } from "./prepare-cluster.ts";

/** How many builds are kept, because a running sandbox may still load parts of an earlier one. */
const KEPT = 4;

/** Builds the console, and the sandbox with the packages and the prepared store that it uses into a folder that does not exist yet. */
export async function buildSandbox(folder: string): Promise<void> {
  await ensureConsole();
  const cluster = ensureCluster();
  const start = performance.now();
  const build = await rolldown({
    cwd: ROOT,
    input: join(ROOT, "server/sandbox/cli.ts"),
    platform: "node",
    tsconfig: false,
    // PGlite reads its WebAssembly next to its own modules; `pg-native` is not installed.
    external: [/^@electric-sql\/pglite/, "pg-native"],
    plugins: [{ name: "keep-location", transform: keepLocation }],
  });
  const draft = `${folder}.${process.pid}`;
  // One letter beyond Latin-1 would double the memory of a file's text.
  await build.write({
    dir: draft,
    format: "esm",
    charset: "ascii",
    comments: false,
    entryFileNames: "[name].js",
  });
  await build.close();
  await cp(await cluster, join(draft, "cluster.tgz"));
  // Another start may have been faster.
  await rename(draft, folder).catch(() => rm(draft, { recursive: true }));
  await removeOld(dirname(folder));
  console.log(`sandbox: built in ${secondsSince(start)}`);
}

/** Lets a module find the files next to it, as if it had not been bundled. */
function keepLocation(code: string, id: string) {
  // The embedded store finds its prepared files in the folder of the build.
  if (!code.includes("import.meta") || code.includes('"cluster.tgz"')) return null;
  return code
    .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href))
    .replaceAll("import.meta.dirname", JSON.stringify(dirname(id)));
}

async function removeOld(builds: string): Promise<void> {
  const names = await readdir(builds);
  const made = await Promise.all(
    names.map(async (name) => ({ name, at: (await stat(join(builds, name))).mtimeMs })),
  );
  made.sort((a, b) => b.at - a.at);
  await Promise.all(
    made.slice(KEPT).map(({ name }) => rm(join(builds, name), { recursive: true, force: true })),
  );
}
