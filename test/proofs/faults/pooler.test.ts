import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { startPostgres } from "../../helpers/postgres.ts";
import { runServer, spawnServer } from "../../helpers/server.ts";
import { recordMissing } from "./setup/figures.ts";
import { createBusiness, postgresEnv } from "./setup/lasting-store.ts";
import { startLoad } from "./setup/load.ts";
import { conclude, repeatUnknown } from "./setup/losses.ts";
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
    const load = startLoad([server], ledger);
    await setTimeout(LOAD_MS);
    await load.stop();

    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^DATABASE_URL leads to a pooler .*pool_mode = session.*\n$/),
    });
    await repeatUnknown(server, ledger);
    const figures = { "refused in transaction mode": 1 };
    await conclude("behind PgBouncer", server, { ledger, receiver, figures });
  } finally {
    await postgres.stop();
  }
});
