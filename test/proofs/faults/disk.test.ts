import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { SANDBOX } from "../../helpers/process.ts";
import { until } from "../../helpers/receiver.ts";
import { spawnServer } from "../../helpers/server.ts";
import { folderOfTest } from "../../helpers/suite.ts";
import { record } from "./setup/figures.ts";
import { startTrial, type Trial, untilReady } from "./setup/trial.ts";

const MEGABYTES = 200;

type SmallDisk = Awaited<ReturnType<typeof createSmallDisk>>;

/** Root can create a namespace; other users can where the system allows user namespaces. */
const isRoot = process.getuid?.() === 0;
const UNSHARE = isRoot ? ["--mount"] : ["--user", "--map-root-user", "--mount"];
const ENTER = isRoot ? ["--mount"] : ["--user", "--preserve-credentials", "--mount"];

/** Whether this machine has such namespaces and lets this user create one. */
function canMakeDisk(): boolean {
  try {
    execFileSync("unshare", [...UNSHARE, "mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", tmpdir()], {
      stdio: "ignore",
    });
    return true;
  } catch {
    return false;
  }
}

/**
 * A folder on a disk of its own, in a mount namespace that only processes started through `command` see: no other
 * process sees the mount, and it disappears with the last of them, after the test.
 */
async function createSmallDisk(megabytes: number) {
  const folder = await folderOfTest();
  const script = `mount -t tmpfs -o size=${megabytes}m,mode=777 tmpfs '${folder}' && echo mounted && exec sleep infinity`;
  const holder: ChildProcess = spawn("unshare", [...UNSHARE, "sh", "-c", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const closed = once(holder, "close");
  onTestFinished(async () => {
    holder.kill("SIGKILL");
    await closed;
  });
  const [line] = await once(holder.stdout ?? holder, "data");
  if (!String(line).includes("mounted")) throw new Error(`no disk was made: ${line}`);
  return {
    /** Its path inside the namespace. */
    folder,
    /** The path of the same files for this process. */
    seenFromHere: `/proc/${holder.pid}/root${folder}`,
    /** Wraps a command line so that it runs inside the namespace, which a process enters at its root. */
    command: (command: readonly string[]) => [
      ...[
        "nsenter",
        "--target",
        `${holder.pid}`,
        ...ENTER,
        "--",
        "env",
        `--chdir=${process.cwd()}`,
        ...command,
      ],
    ],
  };
}

const possible = canMakeDisk();
const onDisk = test.skipIf(!possible);
// Reported with the figures, so that nobody thinks it was tested.
if (!possible) record("disk full (this machine lets nobody make a disk of their own)", { rounds: 0 });

async function fill(disk: SmallDisk): Promise<void> {
  // More than the free space: it fills the disk, then fails.
  const filler = writeFile(fillerOf(disk), Buffer.alloc((MEGABYTES + 1) * 2 ** 20));
  await expect(filler).rejects.toThrow("ENOSPC");
}

const fillerOf = (disk: SmallDisk) => join(disk.seenFromHere, "filler");

/** Fills the disk while callers refund, and frees it after many were refused; the server has then made refunds again. */
async function fillUnderLoad({ underLoad, server, ledger }: Trial, disk: SmallDisk): Promise<void> {
  const untilMoreThan = (refunds: number) => until(() => ledger.acknowledged.size > refunds || undefined);
  const outage = async () => {
    await untilMoreThan(20);
    await fill(disk);
    await untilReady(server, 503);
    await until(() => ledger.unknown.size > 100 || undefined);
    await rm(fillerOf(disk));
    await untilReady(server);
    await untilMoreThan(ledger.acknowledged.size + 20);
  };
  await underLoad(outage, { persistent: true });
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
    await fillUnderLoad(trial, disk);
    counted.refused = unknown.size;
    await fill(disk);
    await trial.server.stop("SIGKILL");
    await rm(fillerOf(disk));

    await trial.replaceServer();
    await trial.recover();
    await trial.conclude();
  },
);
