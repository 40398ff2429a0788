import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { startPostgres } from "../../helpers/postgres.ts";
import { runServer, spawnServer } from "../../helpers/server.ts";
import { record, recordMissing } from "./setup/figures.ts";
import { createBusiness, postgresEnv } from "./setup/lasting-store.ts";
import { callUntil } from "./setup/load.ts";
import { countLosses, repeatUnknown } from "./setup/losses.ts";
import { findProgram, startPgBouncer } from "./setup/programs.ts";

const LOAD_MS = 2_000;

test("behind PgBouncer, session pooling keeps every guarantee, and transaction pooling is refused at the start", async () => {
  const program = findProgram("pgbouncer");
  if (!program) return recordMissing("behind PgBouncer", "pgbouncer");
  const postgres = await startPostgres({ durable: true });
  try {
    const postgresPort = Number(new URL(postgres.urlOf("postgres")).port);
    await using sessions = await startPgBouncer(program, { postgresPort, poolMode: "session" });
    await using transactions = await startPgBouncer(program, { postgresPort, poolMode: "transaction" });
    const urlOf = (port: number) => `postgres://postgres@127.0.0.1:${port}/postgres`;

    const refused = await runServer({ PORT: "0", ...postgresEnv(urlOf(transactions.port)) });
    await using server = await spawnServer({ dataDir: "unused", env: postgresEnv(urlOf(sessions.port)) });
    const { ledger, receiver } = await createBusiness(server);
    await using _ = receiver;
    let stopped = false;
    const load = callUntil(server.url, ledger, { stopped: () => stopped });
    await setTimeout(LOAD_MS);
    stopped = true;
    await load;

    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^DATABASE_URL leads to a pooler .*pool_mode = session.*\n$/),
    });
    await repeatUnknown(server, ledger);
    const { lost, doubled } = await countLosses(server, ledger, receiver);
    record("behind PgBouncer", {
      acknowledged: ledger.acknowledged.size,
      "refused in transaction mode": 1,
      lost: lost.length,
      doubled: doubled.length,
    });
    expect({ lost, doubled, wrong: ledger.wrong }).toEqual({ lost: [], doubled: [], wrong: [] });
  } finally {
    await postgres.stop();
  }
});
