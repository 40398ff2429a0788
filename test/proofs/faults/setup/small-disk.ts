import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { onTestFinished } from "vitest";
import { folderOfTest } from "../../../helpers/suite.ts";

export type SmallDisk = Awaited<ReturnType<typeof createSmallDisk>>;

/** Root can create a namespace; other users can where the system allows user namespaces. */
const isRoot = process.getuid?.() === 0;
const UNSHARE = isRoot ? ["--mount"] : ["--user", "--map-root-user", "--mount"];
const ENTER = isRoot ? ["--mount"] : ["--user", "--preserve-credentials", "--mount"];

/** Whether this machine has such namespaces and lets this user create one. */
export function canMakeDisk(): boolean {
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
export async function createSmallDisk(megabytes: number) {
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
  const inside = (command: readonly string[]) => [
    "nsenter",
    "--target",
    `${holder.pid}`,
    ...ENTER,
    "--",
    ...command,
  ];
  return {
    /** Its path inside the namespace. */
    folder,
    /** The path of the same files for this process. */
    seenFromHere: `/proc/${holder.pid}/root${folder}`,
    /** Wraps a command line so that it runs inside the namespace, which a process enters at its root. */
    command: (command: readonly string[]) => inside(["env", `--chdir=${process.cwd()}`, ...command]),
    setReadOnly(readOnly: boolean) {
      const [program = "", ...args] = inside(["mount", "-o", `remount,${readOnly ? "ro" : "rw"}`, folder]);
      execFileSync(program, args);
    },
  };
}
