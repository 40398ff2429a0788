import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { portOf } from "../../helpers/postgres.ts";
import { runServer } from "../../helpers/server.ts";
import { createCrashableStore, storeAt } from "./setup/lasting-store.ts";
import { findOrSkip, startPgBouncer } from "./setup/programs.ts";
import { startTrial } from "./setup/trial.ts";

const FAULT = "behind PgBouncer";
const LOAD_MS = 2_000;

test("behind PgBouncer, session pooling keeps every guarantee, and transaction pooling is refused at the start", async (context) => {
  const program = findOrSkip(context, FAULT, "pgbouncer");
  const postgresPort = portOf((await createCrashableStore()).postgres);
  const sessions = await startPgBouncer(program, { postgresPort, poolMode: "session" });
  const transactions = await startPgBouncer(program, { postgresPort, poolMode: "transaction" });
  const behind = ({ port }: { port: number }) => storeAt(`postgres://postgres@127.0.0.1:${port}/postgres`);

  const refused = await runServer({ PORT: "0", ...behind(transactions).env });
  const trial = await startTrial(FAULT, behind(sessions).start, {
    counted: { "refused in transaction mode": 1 },
  });
  await trial.underLoad(() => setTimeout(LOAD_MS));

  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^DATABASE_URL leads to a pooler .*pool_mode = session.*\n$/),
  });
  await trial.recover();
  await trial.conclude();
});
