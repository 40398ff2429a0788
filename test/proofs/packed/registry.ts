import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { findFreePort } from "../../helpers/network/free-port.ts";
import { startProgram } from "../../helpers/process.ts";
import { installTools, READER_ENV } from "../../helpers/projects.ts";

const VERDACCIO = "verdaccio@6.10.4";
/** It requests a package by a tag, which mirrors of the registry may lack. */
const OVERRIDES = { "node-fetch": "2.7.0" };
const START_LIMIT_MS = 60_000;

/** A registry on this machine for our packages only; npm gets all others from its usual registry. */
export interface Registry extends AsyncDisposable {
  /** The `.npmrc` of a folder that uses it. */
  readonly npmrc: string;
}

/** Starts an empty registry that keeps its packages in a folder. */
export async function startRegistry(folder: string): Promise<Registry> {
  const tools = await installTools("verdaccio", [VERDACCIO], OVERRIDES);
  const address = `127.0.0.1:${await findFreePort()}/`;
  const config = join(folder, "verdaccio.yaml");
  const rights = "{ access: $all, publish: $all }";
  await writeFile(
    config,
    `storage: ${join(folder, "storage")}\nauth: { htpasswd: { file: ${join(folder, "users")} } }\nuplinks: {}\n` +
      `packages: { '@refund-contract/*': ${rights}, '**': ${rights} }\nmax_body_size: 50mb\n` +
      "log: { type: stdout, format: json, level: error }\n",
  );
  const command = [
    join(tools, "verdaccio/bin/verdaccio"),
    "--config",
    config,
    "--listen",
    address.slice(0, -1),
  ];
  const program = startProgram([process.execPath, ...command], { cwd: folder, env: READER_ENV });
  try {
    await untilUp(`http://${address}-/ping`);
  } catch (error) {
    await program[Symbol.asyncDispose]();
    throw error;
  }
  return {
    npmrc: `@refund-contract:registry=http://${address}\n//${address}:_authToken=anybody\n`,
    [Symbol.asyncDispose]: program[Symbol.asyncDispose],
  };
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
