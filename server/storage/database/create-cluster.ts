import { mkdir } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { unpackTar } from "modern-tar/fs";
import { readPreparedCluster } from "./prepared-cluster.ts";

/*
 * A program that `embedded.ts` starts: unpacks the files of an empty PostgreSQL into the folder that is its argument, and
 * ends.
 */
const folder = process.argv[2] ?? "";
await mkdir(folder, { mode: 0o700 });
const prepared = new Uint8Array(await (await readPreparedCluster()).arrayBuffer());
const files = unpackTar(folder, {
  // In the archive, everyone may write to it.
  map: (header) => ({ ...header, mode: header.type === "directory" ? 0o700 : 0o600 }),
});
await pipeline([prepared], createGunzip(), files);
