import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { post, spawnServer } from "../../helpers/server.ts";
import { createTempDir } from "../../helpers/temp-dir.ts";

/** The bundle of the sandbox may have to be built first. */
const BUILD_MS = 60_000;

test(
  "`npm start` serves from its bundle, on a new store that is unpacked from the prepared one",
  async () => {
    await using folder = await createTempDir();
    const command = [process.execPath, "scripts/start/start.ts"];
    await using sandbox = await spawnServer({ command, dataDir: folder.path });
    const { status } = await post(sandbox.url, "/v1/refunds", {});

    expect(status).toBe(400);
    // The prepared store is without two databases of a usual one.
    expect(readdirSync(join(folder.path, "postgres/base"))).toHaveLength(1);
  },
  BUILD_MS,
);
