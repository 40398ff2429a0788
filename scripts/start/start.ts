/** `npm start`: runs the sandbox from a bundle that is built anew when a source has changed. */
import { createHash } from "node:crypto";
import { existsSync, globSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "../shared/root.ts";

const SOURCES = [
  "server/**/*.{ts,tsx,css}",
  "{client/src,openapi}/**/*.{ts,yaml}",
  "docs/shared.css",
  "scripts/{shared,console,start}/*.ts",
  "{package-lock,node_modules/.package-lock}.json",
];

/*
 * Runs the sandbox from one bundle, which loads in half the time of its modules and of the packages that they use. Its sources are
 * compared by name, time and size, because reading them would take longer than starting.
 */
process.chdir(ROOT);
const folder = join(ROOT, ".cache/start", fingerprint());
if (!existsSync(folder)) {
  const { buildSandbox } = await import("./build-sandbox.ts");
  await buildSandbox(folder);
}
const program = join(folder, "cli.js");
process.env.NODE_COMPILE_CACHE ||= join(ROOT, ".cache/compile");
process.env.DATA_DIR ||= ".data";
const { env, execPath, execArgv, argv } = process;
/*
 * The sandbox replaces this process, so that the memory used for building is released. glibc would also keep some 80 MB that the threads
 * compiling PostgreSQL have freed; it reads this limit only when a process starts. Windows has no execve, and imports the sandbox.
 */
process.execve?.(execPath, [execPath, ...execArgv, program, ...argv.slice(2)], {
  MALLOC_TRIM_THRESHOLD_: "131072",
  ...env,
});
await import(pathToFileURL(program).href);

function fingerprint(): string {
  const hash = createHash("sha256").update(process.version);
  for (const path of globSync(SOURCES, { cwd: ROOT, exclude: ["**/{node_modules,dist}/**"] }).sort()) {
    const { mtimeMs, size } = statSync(path);
    hash.update(`${path} ${mtimeMs} ${size}\n`);
  }
  return hash.digest("hex").slice(0, 16);
}
