import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startPostgres } from "../../helpers/postgres.ts";
import { spawnServer } from "../../helpers/server.ts";
import { until } from "../../helpers/subscriber.ts";
import { record } from "./setup/figures.ts";
import { createBusiness, postgresEnv } from "./setup/lasting-store.ts";
import { startLoad } from "./setup/load.ts";
import { conclude, repeatUnknown } from "./setup/losses.ts";
import { canMakeDisk, createSmallDisk } from "./setup/small-disk.ts";

const MEGABYTES = 200;
/** What the write-ahead log needs, whose own full disk would stop PostgreSQL altogether. */
const SETTINGS = ["min_wal_size=32MB", "max_wal_size=32MB"];
const PROBES = 50;

const possible = canMakeDisk() && process.getuid?.() === 0;
if (!possible)
  record("PostgreSQL on a full disk (this machine lets nobody make a disk of their own)", { rounds: 0 });

test.skipIf(!possible)(
  "PostgreSQL on a full disk: the server is not ready until it takes writes again, and nothing acknowledged is lost",
  async () => {
    await using disk = await createSmallDisk(MEGABYTES);
    const postgres = await startPostgres({ durable: true, disk, settings: SETTINGS });
    onTestFinished(() => postgres.stop());
    await using server = await spawnServer({
      dataDir: "unused",
      env: { LOG_LEVEL: "silent", ...postgresEnv(postgres.urlOf("postgres")) },
    });
    const { ledger, receiver } = await createBusiness(server);
    await using _ = receiver;
    const readiness = async () => (await fetch(`${server.url}/readyz`)).status;
    const filler = join(disk.seenFromHere, "filler");
    const load = startLoad([server], ledger, { persistent: true });

    await until(() => ledger.acknowledged.size > 20 || undefined);
    await expect(writeFile(filler, Buffer.alloc(MEGABYTES * 2 ** 20))).rejects.toThrow("ENOSPC");
    await until(async () => (await readiness()) === 503 || undefined);
    const whileFull = [];
    for (let probes = 0; probes < PROBES; probes += 1) whileFull.push(await readiness());
    await rm(filler);
    const freedAt = performance.now();
    await until(async () => (await readiness()) === 200 || undefined);
    const msUntilReady = Math.round(performance.now() - freedAt);
    const { size } = ledger.acknowledged;
    await until(() => ledger.acknowledged.size > size + 20 || undefined);
    await load.stop();

    const cameThrough = await repeatUnknown(server, ledger);
    expect(whileFull).toEqual(Array(PROBES).fill(503));
    expect(msUntilReady).toBeLessThan(5_000);
    const figures = { "ms until ready": msUntilReady, "came through without a response": cameThrough };
    await conclude("PostgreSQL on a full disk", server, { ledger, receiver, figures });
  },
);
