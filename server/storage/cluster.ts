import { mkdir, rename, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { dataDir as readPreparedCluster } from "@electric-sql/pglite-prepopulatedfs";
import { unpackTar } from "modern-tar/fs";

/**
 * Puts the files of an empty PostgreSQL where there are none. They come prepared: making them by `initdb` in WebAssembly
 * takes two seconds and twice the memory. Unpacked beside their place and then moved there, so that a process killed
 * meanwhile leaves nothing that looks complete.
 */
export async function createCluster(folder: string): Promise<void> {
  const unfinished = `${folder}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  const prepared = new Uint8Array(await (await readPreparedCluster()).arrayBuffer());
  const files = unpackTar(unfinished, {
    // In the archive everybody may write them.
    map: (header) => ({ ...header, mode: header.type === "directory" ? 0o700 : 0o600 }),
  });
  await pipeline([prepared], createGunzip(), files);
  await rename(unfinished, folder);
}
