import { cp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, inject, test } from "vitest";
import { runServer, spawnServer } from "../helpers/server.ts";
import { record } from "./figures.ts";
import { givenBusiness } from "./given.ts";
import { callUntil } from "./load.ts";
import { reckon, repeatUnknown } from "./reckon.ts";
import { canMakeDisk, givenSmallDisk, type SmallDisk } from "./small-disk.ts";

const SERVER = [process.execPath, "server/main.ts"];
const MEGABYTES = 160;

/** Elsewhere these say that they could not be tried; the same faults of a folder are then those of `test/server`. */
const onDisk = test.skipIf(!canMakeDisk());

/** Takes something from the disk, and gives it back. */
const faults: readonly {
  name: string;
  take(disk: SmallDisk): Promise<void>;
  giveBack(disk: SmallDisk): Promise<void>;
}[] = [
  {
    name: "full",
    take: async (disk) => {
      // More than there is: it takes what is left, and fails.
      const filler = writeFile(join(disk.seenFromHere, "filler"), Buffer.alloc(MEGABYTES * 2 ** 20));
      await expect(filler).rejects.toThrow("ENOSPC");
    },
    giveBack: (disk) => rm(join(disk.seenFromHere, "filler")),
  },
  {
    name: "read-only",
    take: async (disk) => disk.setReadOnly(true),
    giveBack: async (disk) => disk.setReadOnly(false),
  },
];

onDisk.for(faults)(
  "a folder that turns $name under load loses nothing acknowledged",
  async ({ name, take, giveBack }) => {
    await using disk = await givenSmallDisk(MEGABYTES);
    await cp(inject("embeddedTemplateDir"), disk.seenFromHere, { recursive: true });
    const options = { dataDir: disk.folder, command: disk.command(SERVER) };
    const first = await spawnServer(options);
    const { ledger, receiver } = await givenBusiness(first);
    await using _ = receiver;

    let stopped = false;
    const load = callUntil(first.url, ledger, { stopped: () => stopped, persistent: true });
    await setTimeout(500);
    const before = ledger.acknowledged.size;
    await take(disk);
    await setTimeout(3_000);
    const during = ledger.acknowledged.size;
    const alive = await fetch(`${first.url}/healthz`).then(
      ({ status }) => status,
      () => "gone",
    );
    const ready = await fetch(`${first.url}/readyz`).then(
      ({ status }) => status,
      () => "gone",
    );
    stopped = true;
    await load;
    console.log({ before, during, unknown: ledger.unknown.size, alive, ready });
    await giveBack(disk);
    const after = await fetch(`${first.url}/readyz`).then(
      ({ status }) => status,
      () => "gone",
    );
    console.log({ after });
    first.kill("SIGTERM");
    console.log(await first.exit);

    await using second = await spawnServer(options);
    const cameThrough = await repeatUnknown(second, ledger);
    const { lost, doubled } = await reckon(second, ledger, receiver);
    record(`folder turns ${name}`, {
      acknowledged: ledger.acknowledged.size,
      "came through unanswered": cameThrough,
      lost: lost.length,
      doubled: doubled.length,
    });
    expect({ lost, doubled, wrong: ledger.wrong }).toEqual({ lost: [], doubled: [], wrong: [] });
  },
);

onDisk.for(faults)(
  "a folder that is $name from the start is named, and the server ends with 1",
  async ({ take }) => {
    await using disk = await givenSmallDisk(MEGABYTES);
    await take(disk);

    const exit = await runServer({ PORT: "0", DATA_DIR: disk.folder }, { command: disk.command(SERVER) });

    expect(exit).toEqual({ code: 1, signal: null, stdout: "", stderr: expect.stringMatching(/^.+\n$/) });
    expect(exit.stderr).toContain("DATA_DIR");
  },
);
