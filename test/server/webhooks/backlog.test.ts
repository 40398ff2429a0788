import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { createDataDir } from "../../helpers/databases.ts";
import { spawnServer } from "../../helpers/server.ts";

/** Connections beyond the backlog stay refused for as long as the server is stopped. */
const LIMIT_MS = 60_000;

/** More than Node's default backlog, if the system allows that many. */
async function chooseCount(): Promise<number> {
  const most = await readFile("/proc/sys/net/core/somaxconn", "utf8").catch(() => "128");
  return Math.min(1_000, Number(most) - 1);
}

test("a thousand callers who come at once, while the server is busy, are connected and wait", async () => {
  const count = await chooseCount();
  await using folder = await createDataDir();
  await using server = await spawnServer(folder);
  const { hostname, port } = new URL(server.url);
  server.kill("SIGSTOP");
  const callers = Array.from({ length: count }, () => connect(Number(port), hostname));
  try {
    const signal = AbortSignal.timeout(LIMIT_MS);
    const connected = await Promise.allSettled(callers.map((caller) => once(caller, "connect", { signal })));

    expect(connected.filter(({ status }) => status === "fulfilled")).toHaveLength(count);
  } finally {
    for (const caller of callers) caller.destroy();
    server.kill("SIGCONT");
  }
});
