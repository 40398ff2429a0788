import { cp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { startPostgres } from "../../helpers/postgres.ts";
import { SERVER } from "../../helpers/process.ts";
import { runServer, spawnServer } from "../../helpers/server.ts";
import { until } from "../../helpers/subscriber.ts";
import { record } from "./setup/figures.ts";
import { createBusiness, postgresEnv } from "./setup/lasting-store.ts";
import { type Ledger, startLoad } from "./setup/load.ts";
import { conclude, repeatUnknown } from "./setup/losses.ts";
import { canMakeDisk, createSmallDisk, type SmallDisk } from "./setup/small-disk.ts";

const MEGABYTES = 200;
/** What the write-ahead log needs, whose own full disk would stop PostgreSQL altogether. */
const SETTINGS = ["min_wal_size=32MB", "max_wal_size=32MB"];
const PROBES = 50;

const possible = canMakeDisk();
const onDisk = test.skipIf(!possible);
// Reported with the figures, so that nobody thinks it was tested.
if (!possible)
  record("disk full, folder read-only (this machine lets nobody make a disk of their own)", { rounds: 0 });

async function fill(disk: SmallDisk): Promise<void> {
  // More than the free space: it fills the disk, then fails.
  const filler = writeFile(fillerOf(disk), Buffer.alloc((MEGABYTES + 1) * 2 ** 20));
  await expect(filler).rejects.toThrow("ENOSPC");
}

const readiness = async ({ url }: { readonly url: string }) => (await fetch(`${url}/readyz`)).status;

const fillerOf = (disk: SmallDisk) => join(disk.seenFromHere, "filler");

/**
 * Fills the disk while callers refund, frees it after `whileFull`, and resolves with the milliseconds until the server is ready;
 * it has then made refunds again.
 */
async function fillUnderLoad(
  server: { readonly url: string },
  ledger: Ledger,
  { disk, whileFull }: { disk: SmallDisk; whileFull: () => Promise<unknown> },
): Promise<number> {
  const load = startLoad([server], ledger, { persistent: true });
  await until(() => ledger.acknowledged.size > 20 || undefined);
  await fill(disk);
  await until(async () => (await readiness(server)) === 503 || undefined);
  await whileFull();
  await rm(fillerOf(disk));
  const freedAt = performance.now();
  await until(async () => (await readiness(server)) === 200 || undefined);
  const msUntilReady = Math.round(performance.now() - freedAt);
  const { size } = ledger.acknowledged;
  await until(() => ledger.acknowledged.size > size + 20 || undefined);
  await load.stop();
  return msUntilReady;
}

onDisk(
  "a disk that fills up under load: what can't be stored is refused, nothing is lost, and it goes on",
  async () => {
    await using disk = await createSmallDisk(MEGABYTES);
    await cp(inject("embeddedTemplateDir"), disk.seenFromHere, { recursive: true });
    const options = { dataDir: disk.folder, command: disk.command(SERVER), env: { LOG_LEVEL: "silent" } };
    const first = await spawnServer(options);
    const { ledger, receiver } = await createBusiness(first);
    await using _ = receiver;
    const whileFull = () => until(() => ledger.unknown.size > 100 || undefined);
    await fillUnderLoad(first, ledger, { disk, whileFull });
    const refused = ledger.unknown.size;
    await fill(disk);
    first.kill("SIGKILL");
    await first.exit;
    await rm(fillerOf(disk));

    await using second = await spawnServer(options);
    const cameThrough = await repeatUnknown(second, ledger);
    const figures = { refused, "came through without a response": cameThrough };
    await conclude("disk full", second, { ledger, receiver, figures });
  },
);

const root = possible && process.getuid?.() === 0;
if (!root)
  record("PostgreSQL on a full disk (this machine lets nobody make a disk of their own)", { rounds: 0 });

test.skipIf(!root)(
  "PostgreSQL on a full disk: the server is not ready until it takes writes again, and nothing acknowledged is lost",
  async () => {
    await using disk = await createSmallDisk(MEGABYTES);
    const postgres = await startPostgres({ durable: true, disk, settings: SETTINGS });
    onTestFinished(() => postgres.stop());
    const env = { LOG_LEVEL: "silent", ...postgresEnv(postgres.urlOf("postgres")) };
    await using server = await spawnServer({ dataDir: "unused", env });
    const { ledger, receiver } = await createBusiness(server);
    await using _ = receiver;
    const found: number[] = [];
    const whileFull = async () => {
      for (let probes = 0; probes < PROBES; probes += 1) found.push(await readiness(server));
    };
    const msUntilReady = await fillUnderLoad(server, ledger, { disk, whileFull });

    const cameThrough = await repeatUnknown(server, ledger);
    expect(found).toEqual(Array(PROBES).fill(503));
    expect(msUntilReady).toBeLessThan(5_000);
    const figures = { "ms until ready": msUntilReady, "came through without a response": cameThrough };
    await conclude("PostgreSQL on a full disk", server, { ledger, receiver, figures });
  },
);

const takings: [name: string, take: (disk: SmallDisk) => Promise<void>][] = [
  ["on a full disk", fill],
  ["read-only", async (disk) => disk.setReadOnly(true)],
];

onDisk.each(takings)(
  "a folder that is %s when the server starts is named, and it ends with 1",
  async (name, take) => {
    await using disk = await createSmallDisk(MEGABYTES);
    await take(disk);

    const exit = await runServer({ PORT: "0", DATA_DIR: disk.folder }, { command: disk.command(SERVER) });

    expect(exit).toEqual({ code: 1, signal: null, stdout: "", stderr: expect.stringMatching(/^.+\n$/) });
    expect(exit.stderr).toContain("DATA_DIR");
    record(`folder ${name} at the start`, { "logged, and ended with 1": 1 });
  },
);
