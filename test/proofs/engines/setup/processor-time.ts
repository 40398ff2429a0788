import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type PostgresServer, query } from "../../../helpers/postgres.ts";

/** The kernel counts processor time in hundredths of a second. */
const TICK_MS = 10;

/**
 * Processor time that a PostgreSQL server and its processes have used so far, those that have ended included, in milliseconds. On one
 * machine all servers of a cluster share its cores, so calls per second would not tell what each of them has to do.
 */
export async function processorTimeOf(server: PostgresServer): Promise<number> {
  const [row] = await query<{ folder: string }>(
    server.urlOf("postgres"),
    "select current_setting('data_directory') as folder",
  );
  const [pid] = (await readFile(join(row?.folder ?? "", "postmaster.pid"), "utf8")).split("\n");
  const processes = await Promise.all(
    (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(readProcess),
  );
  return processes
    .filter((one) => one?.pid === pid || one?.parent === pid)
    .reduce((total, one) => total + (one?.ticks ?? 0) * TICK_MS, 0);
}

/** Undefined for a process that has ended meanwhile. */
async function readProcess(pid: string) {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  if (stat === undefined) return undefined;
  // The name in parentheses may contain spaces. After it: state, parent, and from the twelfth on the times, the last two of them
  // of children that have ended.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = fields.slice(11, 15).reduce((total, field) => total + Number(field), 0);
  return { pid, parent: fields[1], ticks };
}
