import { cp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { SANDBOX } from "../../helpers/process.ts";
import { until } from "../../helpers/receiver.ts";
import { runServer, spawnServer } from "../../helpers/server.ts";
import { record } from "./setup/figures.ts";
import { createCrashableStore } from "./setup/lasting-store.ts";
import { canMakeDisk, createSmallDisk, type SmallDisk } from "./setup/small-disk.ts";
import { startTrial, statusOf, type Trial, untilReady } from "./setup/trial.ts";

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

const fillerOf = (disk: SmallDisk) => join(disk.seenFromHere, "filler");

/**
 * Fills the disk while callers refund, frees it after `whileFull`, and resolves with the milliseconds until the server is ready;
 * it has then made refunds again.
 */
async function fillUnderLoad(
  { underLoad, server, ledger }: Trial,
  disk: SmallDisk,
  whileFull: () => Promise<unknown>,
): Promise<number> {
  const untilMoreThan = (refunds: number) => until(() => ledger.acknowledged.size > refunds || undefined);
  let msUntilReady = Number.NaN;
  const outage = async () => {
    await untilMoreThan(20);
    await fill(disk);
    await untilReady(server, 503);
    await whileFull();
    await rm(fillerOf(disk));
    const freedAt = performance.now();
    await untilReady(server);
    msUntilReady = Math.round(performance.now() - freedAt);
    await untilMoreThan(ledger.acknowledged.size + 20);
  };
  await underLoad(outage, { persistent: true });
  return msUntilReady;
}

onDisk(
  "a disk that fills up under load: what can't be stored is refused, nothing is lost, and it goes on",
  async () => {
    const disk = await createSmallDisk(MEGABYTES);
    await cp(inject("embeddedTemplateDir"), disk.seenFromHere, { recursive: true });
    const options = { dataDir: disk.folder, command: disk.command(SANDBOX), env: { LOG_LEVEL: "silent" } };
    const counted = { refused: 0 };
    const trial = await startTrial("disk full", () => spawnServer(options), { counted });
    const { unknown } = trial.ledger;
    await fillUnderLoad(trial, disk, () => until(() => unknown.size > 100 || undefined));
    counted.refused = unknown.size;
    await fill(disk);
    await trial.server.stop("SIGKILL");
    await rm(fillerOf(disk));

    await trial.replaceServer();
    await trial.recover();
    await trial.conclude();
  },
);

const root = possible && process.getuid?.() === 0;
if (!root)
  record("PostgreSQL on a full disk (this machine lets nobody make a disk of their own)", { rounds: 0 });

test.skipIf(!root)(
  "PostgreSQL on a full disk: the server is not ready until it takes writes again, and nothing acknowledged is lost",
  async () => {
    const disk = await createSmallDisk(MEGABYTES);
    const store = await createCrashableStore({ disk, settings: SETTINGS });
    const counted = { "ms until ready": Number.NaN };
    const trial = await startTrial("PostgreSQL on a full disk", store.start, { counted });
    const found: number[] = [];
    counted["ms until ready"] = await fillUnderLoad(trial, disk, async () => {
      for (let probes = 0; probes < PROBES; probes += 1) found.push(await statusOf(trial.server));
    });

    await trial.recover();
    expect(found).toEqual(Array(PROBES).fill(503));
    expect(counted["ms until ready"]).toBeLessThan(5_000);
    await trial.conclude();
  },
);

const takings: [name: string, take: (disk: SmallDisk) => Promise<void>][] = [
  ["on a full disk", fill],
  ["read-only", async (disk) => disk.setReadOnly(true)],
];

onDisk.each(takings)(
  "a folder that is %s when the server starts is named, and it ends with 1",
  async (name, take) => {
    const disk = await createSmallDisk(MEGABYTES);
    await take(disk);

    const exit = await runServer({ PORT: "0", DATA_DIR: disk.folder }, { command: disk.command(SANDBOX) });

    expect(exit).toEqual({ code: 1, signal: null, stdout: "", stderr: expect.stringMatching(/^.+\n$/) });
    expect(exit.stderr).toContain("DATA_DIR");
    record(`folder ${name} at the start`, { "logged, and ended with 1": 1 });
  },
);
