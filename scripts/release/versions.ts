import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "../command/files.ts";

/** The files that contain a version, and in which form. A lockfile repeats the versions of the workspaces. */
const CONTRACTS = [
  "openapi/openapi.yaml",
  "openapi/sandbox/openapi.yaml",
  "openapi/admin/payment-lines.yaml",
];
/** The project and its workspaces, by their names in the lockfile. */
const PACKAGES = ["", "client", "server/sandbox", "server", "test/conformance", "test/certify"];
const LOCK = "package-lock.json";

/** Writes one version into every document and package of the project at `root`. */
export async function writeVersion(root: string, version: string): Promise<void> {
  for (const path of CONTRACTS) {
    await edit(join(root, path), (text) => text.replace(/^( {2}version: )\S+$/m, `$1${version}`));
  }
  for (const folder of PACKAGES) {
    await edit(join(root, folder, "package.json"), (text) =>
      text.replace(/^( {2}"version": )"[^"]+"/m, `$1"${version}"`),
    );
  }
  await edit(join(root, LOCK), (text) => {
    const lock = JSON.parse(text);
    for (const part of [lock, ...PACKAGES.map((name) => lock.packages[name])]) part.version = version;
    return `${JSON.stringify(lock, null, 2)}\n`;
  });
}

async function edit(path: string, change: (text: string) => string): Promise<void> {
  const text = await readFile(path, "utf8");
  const changed = change(text);
  if (changed !== text) await replaceFile(path, changed);
}
