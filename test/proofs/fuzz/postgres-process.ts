import { spawn } from "node:child_process";
import { once } from "node:events";

/** The tests' PostgreSQL, in a process of its own: nothing outside `test/` imports from there. */
const PROGRAM = "test/helpers/run-postgres.ts";

/** Calls `use` with the address of a new PostgreSQL database, which is removed afterwards. */
export async function withPostgres<T>(use: (databaseUrl: string) => Promise<T>): Promise<T> {
  const child = spawn(process.execPath, [PROGRAM], { stdio: ["pipe", "pipe", "inherit"] });
  const closed = once(child, "close");
  try {
    const started = once(child.stdout.setEncoding("utf8"), "data");
    const [address] = await Promise.race([started, closed]);
    if (typeof address !== "string") throw new Error("PostgreSQL did not start");
    return await use(address.trim());
  } finally {
    child.stdin.end();
    await closed;
  }
}
