import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { createTestDatabase } from "../../helpers/databases.ts";
import type { ServerProcess } from "../../helpers/process.ts";
import { startProduction } from "../../helpers/production.ts";
import { spawnServer } from "../../helpers/server.ts";
import { until } from "../../helpers/subscriber.ts";
import { folderOfTest } from "../../helpers/suite.ts";

/** A stop that waits for such a lookup never ends; a busy machine may take seconds for one that does not. */
const STOP_LIMIT_MS = 120_000;

const PRELOAD = fileURLToPath(new URL("../../helpers/network/stuck-lookups.ts", import.meta.url));

/** A nameserver that falls silent, for a server of its own process. See `stuck-lookups.ts`. */
async function createNameserver() {
  const folder = await folderOfTest();
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  const log = join(folder, "stuck");
  return {
    env: { NODE_OPTIONS: `--import ${PRELOAD}`, STUCK_LOOKUPS: folder },
    fallSilent: () => writeFileSync(join(folder, "silent"), ""),
    /** The names whose lookups hold a thread. */
    stuck: () => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []),
  };
}

async function expectStop(server: ServerProcess, last: RegExp): Promise<void> {
  const stoppedAt = performance.now();
  const exit = await server.stop();

  expect(exit).toMatchObject({ code: 0, signal: null, stdout: expect.stringMatching(last) });
  expect(performance.now() - stoppedAt).toBeLessThan(STOP_LIMIT_MS);
}

describe("a stop while a nameserver never responds", () => {
  test("for the database's name ends in order, and one lookup holds a thread, however many connections are tried", async () => {
    await using database = await createTestDatabase("postgres");
    const nameserver = await createNameserver();
    const url = Object.assign(new URL(database.url), { hostname: "database.test" });
    const ENCRYPTION_KEY = Buffer.alloc(32, "k").toString("base64");
    await using server = await spawnServer({
      env: { ...nameserver.env, DATABASE_URL: url.href, ENCRYPTION_KEY },
    });
    nameserver.fallSilent();
    const beside = await database.open();
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`.execute(beside.db);
    await until(() => nameserver.stuck().length > 0);
    const ready = await Promise.all(Array.from({ length: 5 }, () => fetch(`${server.url}/readyz`)));

    await expectStop(server, /Stopped\.\n$/);

    expect(ready.map(({ status }) => status)).toEqual(Array(5).fill(503));
    expect(nameserver.stuck()).toEqual(["database.test"]);
  });

  test("for the issuer's name ends in order", async () => {
    await using production = await startProduction();
    const nameserver = await createNameserver();
    nameserver.fallSilent();
    const env = { ...production.env, ...nameserver.env, AUTH_JWKS_URL: "https://issuer.test/keys" };
    await using server = await spawnServer({ env });
    const ready = Promise.allSettled([fetch(`${server.url}/readyz`)]);
    await until(() => nameserver.stuck().includes("issuer.test"));

    await expectStop(server, /"msg":"stopped"\}\n$/);

    await ready;
  });
});
