import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findFreePort } from "../../helpers/network/free-port.ts";
import { startServerProcess } from "../../helpers/process.ts";
import { installTools, READER_ENV } from "../../helpers/projects.ts";

const VERDACCIO = "verdaccio@6.10.4";
/** It requests a package by a tag, which mirrors of the registry may lack. */
const OVERRIDES = { "node-fetch": "2.7.0" };

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
      "log: { type: stdout, format: json, level: warn }\n",
  );
  const verdaccio = join(tools, "verdaccio/bin/verdaccio");
  const command = [process.execPath, verdaccio, "--config", config, "--listen", address.slice(0, -1)];
  const ready = /http address.*\n/;
  const program = await startServerProcess({ command, ready, cwd: folder, env: READER_ENV });
  return {
    npmrc: `@refund-contract:registry=http://${address}\n//${address}:_authToken=anybody\n`,
    [Symbol.asyncDispose]: program[Symbol.asyncDispose],
  };
}
