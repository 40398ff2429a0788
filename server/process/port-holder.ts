import { readdir, readFile, readlink } from "node:fs/promises";

/** Milliseconds that the process on the port has to respond. */
const PROBE_MS = 1_000;

/** A process that listens on a TCP port. */
export type PortHolder = {
  /** Undefined where the system does not tell this user. */
  readonly pid: number | undefined;
  /** Such as `node server/main.ts`. */
  readonly command: string | undefined;
  /** Whether it is a sandbox of this contract. */
  readonly isSandbox: boolean;
};

/** Finds the process that listens on an address. */
export async function findPortHolder(url: string): Promise<PortHolder> {
  const [pid, isSandbox] = await Promise.all([findPid(Number(new URL(url).port || 80)), probe(url)]);
  const command = pid === undefined ? undefined : await readCommand(pid);
  return { pid, command, isSandbox };
}

/** Only a sandbox serves a clock, and requires a token for it. */
async function probe(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/sandbox/clock`, { signal: AbortSignal.timeout(PROBE_MS) });
    const { errorDetails } = (await response.json()) as { errorDetails?: { errorCode?: string } };
    return response.status === 401 && errorDetails?.errorCode !== undefined;
  } catch {
    return false;
  }
}

const LISTENING = "0A";

/** Linux lists sockets in `/proc/net`, and the sockets of a process among its open files. Undefined elsewhere. */
async function findPid(port: number): Promise<number | undefined> {
  const tables = await Promise.all(["tcp", "tcp6"].map((name) => readText(`/proc/net/${name}`)));
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  const rows = tables.flatMap((table) => table.split("\n").map((row) => row.trim().split(/\s+/)));
  const inodes = rows.flatMap(([, local = "", , state, , , , , , inode]) =>
    state === LISTENING && local.endsWith(`:${hex}`) ? `socket:[${inode}]` : [],
  );
  if (inodes.length === 0) return undefined;
  for (const name of await readdir("/proc").catch(() => [])) {
    if (!/^\d+$/.test(name)) continue;
    const files = await readdir(`/proc/${name}/fd`).catch(() => []);
    for (const file of files) {
      const target = await readlink(`/proc/${name}/fd/${file}`).catch(() => "");
      if (inodes.includes(target)) return Number(name);
    }
  }
  return undefined;
}

async function readCommand(pid: number): Promise<string | undefined> {
  const words = (await readText(`/proc/${pid}/cmdline`)).split("\0").filter((word) => word !== "");
  // The path of the program and the options of Node are of little use to the reader.
  const [program = "", ...rest] = words;
  const said = [program.replace(/^.*\//, ""), ...rest.filter((word) => !word.startsWith("--"))];
  return words.length === 0 ? undefined : said.join(" ").slice(0, 80);
}

async function readText(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}
