import { mkdir } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { dataDir as readPreparedCluster } from "@electric-sql/pglite-prepopulatedfs";
import { unpackTar } from "modern-tar/fs";

/*
 * A process of `cluster.ts`: puts the files of an empty PostgreSQL into the folder that is its argument, and ends. They
 * come prepared, because making them by `initdb` in WebAssembly takes two seconds.
 */
const folder = process.argv[2] ?? "";
await mkdir(folder, { mode: 0o700 });
const prepared = new Uint8Array(await (await readPreparedCluster()).arrayBuffer());
const files = unpackTar(folder, {
  // In the archive everybody may write them.
  map: (header) => ({ ...header, mode: header.type === "directory" ? 0o700 : 0o600 }),
});
await pipeline([prepared], createGunzip(), files);
