import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findFreePort } from "../../helpers/network/local-server.ts";
import { installTools, READER_ENV, startServerProcess } from "../../helpers/process.ts";

const VERDACCIO = "verdaccio@6.10.4";
/** It requests a package by a tag, which mirrors of the registry may lack. */
const OVERRIDES = { "node-fetch": "2.7.0" };

export type Registry = Awaited<ReturnType<typeof startRegistry>>;

/** An empty registry for our packages only, which it keeps in a folder; npm gets all others from its usual registry. */
export async function startRegistry(folder: string) {
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
    /** The `.npmrc` of a folder that uses it, in which npm takes what it has downloaded before. */
    npmrc:
      `@refund-contract:registry=http://${address}\n//${address}:_authToken=anybody\n` +
      "prefer-offline=true\naudit=false\nfund=false\n",
    [Symbol.asyncDispose]: program[Symbol.asyncDispose],
  };
}
