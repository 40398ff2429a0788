/** Puts other packages, such as ajv, into one of ours, so that npm installs less. */
import { mkdir, writeFile } from "node:fs/promises";
import { createRequire, isBuiltin } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { types } from "node:util";
import { rolldown } from "rolldown";
import { LICENCES_FILE, licencesOf } from "../shared/licences.ts";
import { ROOT } from "../shared/root.ts";

/** `imports` of package.json: maps `#bundled/NAME` to the bundled copy of a third-party package. */
export const BUNDLED_IMPORTS: Readonly<Record<string, string>> = { "#bundled/*": "./dist/bundled/*.js" };

/** The specifier of a package that is built in, such as `#bundled/ajv-dist-2020` for `ajv/dist/2020.js`. */
export function toBundled(specifier: string): string {
  return `#bundled/${nameOf(specifier)}`;
}

const nameOf = (specifier: string) =>
  specifier
    .replace(/\.js$/, "")
    .replaceAll(/[^\w-]+/g, "-")
    .replace(/^-/, "");

const require = createRequire(import.meta.url);

const ENTRY = "bundled:";

/**
 * Builds packages into `dist/bundled`, one module for each specifier and what they share, with their licences.
 * @param isExternal whether a package is a regular dependency, so it is not bundled
 */
export async function buildBundled(
  specifiers: readonly string[],
  dist: string,
  target: string,
  isExternal: (specifier: string) => boolean,
): Promise<void> {
  const folder = join(dist, "bundled");
  const build = await rolldown({
    cwd: ROOT,
    input: Object.fromEntries(specifiers.map((specifier) => [nameOf(specifier), `${ENTRY}${specifier}.mjs`])),
    platform: "node",
    external: (id) => isBuiltin(id) || (/^[^./\0]/.test(id) && !id.startsWith(ENTRY) && isExternal(id)),
    plugins: [
      {
        name: "entries",
        resolveId: (id) => (id.startsWith(ENTRY) ? id : null),
        load: (id) => (id.startsWith(ENTRY) ? reexport(id.slice(ENTRY.length, -".mjs".length)) : null),
      },
    ],
    transform: { target },
    tsconfig: false,
  });
  const { output } = await build.write({ dir: folder, format: "esm", chunkFileNames: "shared-[hash].js" });
  await build.close();
  const ids = output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, LICENCES_FILE), await licencesOf(ids));
}

/** Names the exports of a module, because CommonJS doesn't declare them. Loads it by `require`, which test runners don't replace. */
function reexport(specifier: string): string {
  const loaded: object = require(fileURLToPath(import.meta.resolve(specifier)));
  const names = Object.keys(loaded).filter((name) => !["__esModule", "default"].includes(name));
  if (!types.isModuleNamespaceObject(loaded) || "default" in loaded) names.push("default");
  return `export { ${names.join(", ")} } from ${JSON.stringify(specifier)};\n`;
}
