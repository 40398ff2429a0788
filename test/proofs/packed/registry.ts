import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ROOT } from "../../../scripts/command/redocly.ts";
import { run } from "../../../scripts/packages/run.ts";

const VERDACCIO = "verdaccio@6.10.4";
/** It requests a package by a tag, which mirrors of the registry may lack. */
const MANIFEST = '{ "private": true, "overrides": { "node-fetch": "2.7.0" } }';
const START_LIMIT_MS = 60_000;

/** A registry on this machine for our packages only; npm gets all others from its usual registry. */
export interface Registry extends AsyncDisposable {
  /** The `.npmrc` of a folder that uses it. */
  readonly npmrc: string;
}

/** Starts an empty registry that keeps its packages in a folder. */
export async function startRegistry(folder: string): Promise<Registry> {
  const tools = await installVerdaccio();
  const port = await findPort();
  const config = join(folder, "verdaccio.yaml");
  const rights = "{ access: $all, publish: $all }";
  await writeFile(
    config,
    `storage: ${join(folder, "storage")}\nauth: { htpasswd: { file: ${join(folder, "users")} } }\nuplinks: {}\n` +
      `packages: { '@refund-contract/*': ${rights}, '**': ${rights} }\nmax_body_size: 50mb\n` +
      "log: { type: stdout, format: json, level: error }\n",
  );
  const program = join(tools, "verdaccio/bin/verdaccio");
  const args = [program, "--config", config, "--listen", `127.0.0.1:${port}`];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  const closed = once(child, "close");
  const address = `127.0.0.1:${port}/`;
  const dispose = async () => {
    child.kill();
    await closed;
  };
  await untilUp(`http://${address}-/ping`).catch(async (error: unknown) => {
    await dispose();
    throw error;
  });
  return {
    npmrc: `@refund-contract:registry=http://${address}\n//${address}:_authToken=anybody\n`,
    [Symbol.asyncDispose]: dispose,
  };
}

async function installVerdaccio(): Promise<string> {
  const folder = join(ROOT, ".cache/verdaccio");
  const marker = join(folder, "installed");
  if ((await readFile(marker, "utf8").catch(() => "")) !== VERDACCIO) {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "package.json"), MANIFEST);
    await run("npm", ["install", "--no-audit", "--no-fund", "--save-exact", VERDACCIO], folder);
    await writeFile(marker, VERDACCIO);
  }
  return join(folder, "node_modules");
}

async function findPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function untilUp(url: string): Promise<void> {
  const deadline = Date.now() + START_LIMIT_MS;
  for (;;) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok) return;
    if (Date.now() > deadline) throw new Error("the registry does not respond");
    await delay(100);
  }
}
